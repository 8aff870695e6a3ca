/**
 * JSON-RPC over stdin and stdout: one message per line, of limited size, never written faster than the other side
 * reads.
 */
// edge: streams of node.
import type { Readable, Writable } from "node:stream"

/** The largest body that the house accepts. */
export const longestLine = 4 * 1024 * 1024

/** Lines without their ends; undefined stands for a line that was too long, whose text is discarded as it arrives. */
export async function* linesOf(input: Readable): AsyncGenerator<string | undefined, void, void> {
  let kept: Array<Buffer> = []
  let size = 0
  const take = (part: Buffer): void => {
    size += part.length
    if (size > longestLine) kept = []
    else kept.push(part)
  }
  const finish = (): string | undefined => {
    const line = size > longestLine ? undefined : Buffer.concat(kept).toString("utf8")
    kept = []
    size = 0
    return line
  }
  for await (const chunk of chunksOf(input)) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end))
      from = end + 1
      yield finish()
    }
    take(chunk.subarray(from))
  }
  // A last line without a newline was cut off, or written by hand.
  if (size > 0) yield finish()
}

/** An input that was destroyed, by a signal or with its client, has ended like any other. */
async function* chunksOf(input: Readable): AsyncGenerator<Buffer, void, void> {
  try {
    yield* input as AsyncIterable<Buffer>
  } catch (cause) {
    if (!input.destroyed) throw cause
  }
}

/** Writes lines; awaiting the promise keeps the reader no further ahead than the client. */
export const writerTo = (output: Writable): ((line: string) => Promise<void>) => {
  let full: Promise<void> | undefined
  return (line) => {
    if (!output.write(`${line}\n`))
      full ??= new Promise((resolve) =>
        output.once("drain", () => {
          full = undefined
          resolve()
        }),
      )
    return full ?? Promise.resolve()
  }
}
