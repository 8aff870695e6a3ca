/**
 * Parses server-sent events from text that arrives in any pieces. Unlike most parsers it also reports a frame with an
 * id and no data: the house opens a stream with one, so that a reader knows its cursor before the first event.
 */

export interface Frame {
  /** Of this frame only; a delta must not inherit the id of the event before it. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

/** Far above any event of ours, and far below what would hurt: an endless line is not buffered forever. */
const longestFrame = 8 * 1024 * 1024

class FrameTooLong extends Error {
  override readonly name = "FrameTooLong"
  constructor() {
    super("the feed sent a frame that has no end")
  }
}

/** Returns a function that takes text and returns the completed frames. */
export const frameParser = (): ((text: string) => ReadonlyArray<Frame>) => {
  let rest = ""
  let size = 0
  let id: string | undefined
  let event = ""
  let data: Array<string> = []

  const finish = (): Frame | undefined => {
    const done =
      id === undefined && data.length === 0 ? undefined : { id, event: event || "message", data: data.join("\n") }
    id = undefined
    event = ""
    data = []
    size = 0
    return done
  }

  const take = (line: string): void => {
    const colon = line.indexOf(":")
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    size += line.length
    if (field === "data") data.push(value)
    else if (field === "event") event = value
    else if (field === "id" && !value.includes("\0")) id = value
  }

  return (text) => {
    const frames: Array<Frame> = []
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    for (const line of lines) {
      if (line !== "") {
        take(line)
        continue
      }
      const frame = finish()
      if (frame !== undefined) frames.push(frame)
    }
    if (size + rest.length > longestFrame) throw new FrameTooLong()
    return frames
  }
}
