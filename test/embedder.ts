/**
 * A deterministic embedding model on loopback, for tests and the bench: it speaks OpenAI's `/v1/embeddings`. Words that mean
 * the same by a small table give the same numbers, so a test can ask for a meaning that no word names. No recall is claimed
 * for it: it shows that the road works, not how good a model is.
 */
// edge: a server of node's own.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const meanings: ReadonlyArray<ReadonlyArray<string>> = [
  ["car", "automobile", "vehicle"],
  ["doctor", "physician", "surgeon"],
  ["money", "cash", "funds"],
  ["happy", "glad", "joyful"],
  ["spyglass", "periscope"],
]
const meantBy = new Map(meanings.flatMap(([first, ...others]) => others.map((word) => [word, first!])))

const hashOf = (text: string, salt: number): number => {
  let hash = 2_166_136_261 ^ salt
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619)
  return hash >>> 0
}

/** The sum of what its words and their runs of three letters give. */
const embeddingOf = (text: string, dimensions: number, model: string): ReadonlyArray<number> => {
  const salt = hashOf(model, 0)
  const vector = Array.from({ length: dimensions }, () => 0)
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature, salt)
    vector[hash % dimensions]! += (hash & 0x10000) === 0 ? weight : -weight
  }
  for (const written of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const word = meantBy.get(written) ?? written
    add(word, 1)
    for (let at = 0; at + 3 <= word.length; at++) add(`#${word.slice(at, at + 3)}`, 0.3)
  }
  return vector.every((one) => one === 0) ? vector.map((_, at) => (at === 0 ? 1 : 0)) : vector
}

export interface LoopbackEmbedder {
  /** What `baseUrl` of the configuration file is. */
  readonly url: string
  /** Texts it has given vectors for. */
  readonly embedded: () => number
  /** How it behaves from now on: a status instead of an answer, or nothing at all; `ok` again. */
  readonly behave: (how: "ok" | "silent" | number) => void
  /** Requests of several texts wait from now on until they are let go; a question alone does not. */
  readonly hold: () => void
  readonly release: () => void
  /** Resolves when a request waits. */
  readonly held: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Asked {
  readonly model: string
  readonly input: ReadonlyArray<string>
  readonly dimensions?: number
}

const bodyOf = async (request: IncomingMessage): Promise<Asked> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Asked
}

/** A text that contains `refuseText` is refused with 400, as a model refuses one that is too long. */
export const startEmbedder = async (refuseText = "\u0001"): Promise<LoopbackEmbedder> => {
  let how: "ok" | "silent" | number = "ok"
  let embedded = 0
  let gate: { readonly open: Promise<void>; readonly let: () => void } | undefined
  const waiting = new Set<() => void>()
  let heldNow = false

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { dimensions = 64, input, model } = await bodyOf(request)
    const say = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
    if (how === "silent") return
    if (how !== "ok") return say(how, { error: { message: "it does not feel well" } })
    if (input.length > 1 && gate !== undefined) {
      heldNow = true
      for (const one of waiting) one()
      await gate.open
    }
    if (input.some((text) => text.includes(refuseText))) return say(400, { error: { message: "no such text" } })
    embedded += input.length
    say(200, {
      object: "list",
      model,
      data: input.map((text, index) => ({
        object: "embedding",
        index,
        embedding: embeddingOf(text, dimensions, model),
      })),
      usage: { prompt_tokens: 1, total_tokens: 1 },
    })
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    embedded: () => embedded,
    behave: (next) => {
      how = next
    },
    hold: () => {
      let open!: () => void
      const opened = new Promise<void>((done) => (open = done))
      gate = { open: opened, let: open }
      heldNow = false
    },
    release: () => {
      gate?.let()
      gate = undefined
    },
    held: () =>
      heldNow
        ? Promise.resolve()
        : new Promise<void>((done) => {
            const one = () => {
              waiting.delete(one)
              done()
            }
            waiting.add(one)
          }),
    close: () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}

/** An entry of `models` that uses it. */
export const embeddingConfig = (url: string, dimensions = 256, model = "loopback-embed") => ({
  provider: "openai-compatible" as const,
  purpose: "embedding" as const,
  model,
  baseUrl: url,
  dimensions,
})
