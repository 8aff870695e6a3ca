/** Answers of a house that never was: for what a real one would never say. */
export interface SentRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal | undefined
}

/** A fetch that keeps what it was asked and answers as told, one answer after another; the last one again and again. */
export const fakeFetch = (...answers: ReadonlyArray<(asked: SentRequest) => Response | Promise<Response>>) => {
  const all: Array<SentRequest> = []
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const asked = {
      url: new URL(input instanceof Request ? input.url : input),
      method: init.method ?? "GET",
      headers: new Headers(init.headers),
      body: typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined,
      signal: init.signal ?? undefined,
    }
    all.push(asked)
    return answers[Math.min(all.length, answers.length) - 1]!(asked)
  }
  return { fetch, all }
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } })

/** A stream of the feed: its pieces, then its end, or silence until it is hung up on. */
export const sse = (pieces: ReadonlyArray<string | Uint8Array>, after: "end" | "silence" = "end") =>
  function answer(asked: SentRequest): Response {
    const bytes = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces)
          controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece)
        if (after === "end") controller.close()
        asked.signal?.addEventListener("abort", () => {
          if (after === "silence") controller.error(asked.signal?.reason)
        })
      },
    })
    return new Response(bytes, { headers: { "content-type": "text/event-stream; charset=utf-8" } })
  }

export const eventFrame = (cursor: number): string =>
  `id: ${cursor}\nevent: house.started\ndata: ${JSON.stringify({ cursor, kind: "house.started", body: {} })}\n\n`
