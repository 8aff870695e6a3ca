/** Frames in whatever pieces they come, and whatever comes instead of frames. */
import * as fc from "fast-check"
import { connect, type FeedItem } from "@stoa/sdk"
import { describe, expect, it } from "vitest"
import { itemOf } from "../src/stream/feed.ts"
import { type Frame, frameParser } from "../src/stream/frames.ts"
import { eventFrame, fakeFetch, json, sse } from "./kit/fakeHouse.ts"

const url = "http://house.test"
const read = (...pieces: ReadonlyArray<string>): ReadonlyArray<Frame> => {
  const frames = frameParser()
  return pieces.flatMap((piece) => frames(piece))
}

describe("frames", () => {
  it.each([
    ["id: 4\nevent: a\ndata: {}\n\n", [{ id: "4", event: "a", data: "{}" }]],
    ["data:x\r\ndata: y\r\n\r\n", [{ id: undefined, event: "message", data: "x\ny" }]],
    [
      "data: x\r\rdata: y\r\r\n",
      [
        { id: undefined, event: "message", data: "x" },
        { id: undefined, event: "message", data: "y" },
      ],
    ],
    [": only words\n\n", []],
    ["event: named\n\n", []],
    ["id: 7\n\n", [{ id: "7", event: "message", data: "" }]],
    [
      "id: 7\n\ndata: x\n\n",
      [
        { id: "7", event: "message", data: "" },
        { id: undefined, event: "message", data: "x" },
      ],
    ],
    ["id: a\0b\ndata: x\n\n", [{ id: undefined, event: "message", data: "x" }]],
    ["retry: 5\nnonsense\ndata\n\n", [{ id: undefined, event: "message", data: "" }]],
    ["data: unfinished\n", []],
  ])("%j", (text, frames) => {
    expect(read(text)).toEqual(frames)
  })

  it("how the text was cut makes no difference", () => {
    const line = fc.constantFrom("id: 3", "event: e", "data: d", "data:", ": c", "x", "")
    const end = fc.constantFrom("\n", "\r\n", "\r")
    const text = fc.array(fc.tuple(line, end).map((both) => both.join(""))).map((lines) => lines.join("") + "\n\n")
    fc.assert(
      fc.property(text, fc.array(fc.nat(200)), (text, cuts) => {
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((end, n) => text.slice(at[n], end))
        expect(read(...pieces)).toEqual(read(text))
      }),
      { seed: 2 },
    )
  })

  it("a frame without end is refused before it fills the memory", () => {
    const frames = frameParser()
    const piece = `data: ${"x".repeat(1024 * 1024)}\n`
    expect(() => {
      for (let n = 0; n < 20; n++) frames(piece)
    }).toThrow("a frame that has no end")
    const line = frameParser()
    expect(() => {
      for (let n = 0; n < 20; n++) line("x".repeat(1024 * 1024))
    }).toThrow("a frame that has no end")
  })
})

const hostile = fc.record({
  id: fc.oneof(fc.constant(undefined), fc.string(), fc.integer().map(String)),
  event: fc.oneof(fc.constantFrom("close", "reload", "typing", "__proto__", "message"), fc.string()),
  data: fc.oneof(
    fc.json(),
    fc.string(),
    fc.record({ cursor: fc.anything(), kind: fc.anything(), reason: fc.anything() }).map((it) => {
      try {
        return JSON.stringify(it) ?? ""
      } catch {
        return ""
      }
    }),
  ),
})

describe("items", () => {
  it("of any frame there is an item or none, never a throw, and a cursor is a whole number", () => {
    fc.assert(
      fc.property(hostile, (frame) => {
        const item = itemOf(frame)
        if (item === undefined || item.type === "delta") return
        expect(Number.isSafeInteger(item.cursor) && item.cursor >= 0).toBe(true)
      }),
      { seed: 3, numRuns: 500 },
    )
  })
})

/** Reads until the feed has been connected so often. */
const watch = async (fetch: typeof globalThis.fetch, all: ReadonlyArray<unknown>, connections: number) => {
  const stop = new AbortController()
  const items: Array<FeedItem> = []
  const onReconnect = () => {
    if (all.length >= connections) stop.abort()
  }
  for await (const item of connect({ url, fetch }).feed({ signal: stop.signal, onReconnect })) items.push(item)
  return items
}

describe("the feed of a strange house", () => {
  it("any bytes are borne, and connections are not made faster and faster", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }),
        fc.array(hostile),
        async (noise, frames) => {
          const texts = frames.map(({ data, event, id }) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)
          const house = fakeFetch(sse([...noise, ...texts]))
          let waited = 0
          const stop = new AbortController()
          const feed = connect({ url, fetch: house.fetch }).feed({
            signal: stop.signal,
            onReconnect: (_, wait) => {
              waited = wait
              stop.abort()
            },
          })
          for await (const item of feed) expect(["event", "delta", "reload"]).toContain(item.type)
          expect(house.all).toHaveLength(1)
          expect(waited).toBeGreaterThanOrEqual(50)
        },
      ),
      { seed: 4, numRuns: 200 },
    )
  })

  it("an unreadable frame is passed over and not asked for again", async () => {
    const house = fakeFetch(sse([eventFrame(4), "id: 5\nevent: x\ndata: {broken\n\n", eventFrame(6)]), sse([]))
    const items = await watch(house.fetch, house.all, 2)
    expect(items.map((item) => item.type !== "delta" && item.cursor)).toEqual([4, 6])
    const last = fakeFetch(sse(["id: 5\nevent: x\ndata: {broken\n\n"]), sse([]))
    await watch(last.fetch, last.all, 2)
    expect(last.all.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "5"])
  })

  it("what comes twice is shown once; reload may lead back", async () => {
    const reload = 'id: 1\nevent: reload\ndata: {"cursor":1,"reason":"restored"}\n\n'
    const house = fakeFetch(
      sse([eventFrame(4), eventFrame(4), eventFrame(3), reload, eventFrame(2)]),
      sse([eventFrame(2)]),
    )
    const items = await watch(house.fetch, house.all, 2)
    expect(items.map((item) => (item.type === "delta" ? undefined : [item.type, item.cursor]))).toEqual([
      ["event", 4],
      ["reload", 1],
      ["event", 2],
    ])
    expect(items[1]).toEqual({ type: "reload", cursor: 1, reason: "restored" })
    expect(house.all[1]!.headers.get("last-event-id")).toBe("2")
  })

  it("a delta is shown, and is no place to go on from", async () => {
    const delta = { kind: "typing", at: "2026-01-01T00:00:00Z", space: null, actor: null, body: { on: true } }
    const frame = `event: typing\ndata: ${JSON.stringify(delta)}\n\n`
    const house = fakeFetch(sse([eventFrame(9), frame]), sse([]))
    const items = await watch(house.fetch, house.all, 2)
    expect(items[1]).toEqual({ type: "delta", name: "typing", delta })
    expect(house.all[1]!.headers.get("last-event-id")).toBe("9")
  })

  it("the place told at the beginning is where it goes on", async () => {
    const house = fakeFetch(sse([": stoa\nid: 41\n\n"]), sse([]))
    expect(await watch(house.fetch, house.all, 2)).toEqual([])
    expect(house.all[1]!.headers.get("last-event-id")).toBe("41")
  })

  it("silence for too long is a dead line", async () => {
    const house = fakeFetch(sse([": stoa\nid: 1\n\n"], "silence"), sse([eventFrame(2)], "silence"))
    const told: Array<string> = []
    const feed = connect({ url, fetch: house.fetch }).feed({ patienceMillis: 30, onReconnect: (why) => told.push(why) })
    for await (const item of feed) {
      expect(item).toMatchObject({ cursor: 2 })
      break
    }
    expect(told).toEqual(["nothing was heard for too long"])
    expect(house.all.map(({ signal }) => signal!.aborted)).toEqual([true, true])
  })

  it("a refusal ends it, a busy house does not, and is given the time it asked for", async () => {
    const busy = () => json({ tag: "TooManyRequests", retryAfter: 1 }, 429)
    const gone = () => json({ tag: "Unauthenticated", detail: "No." }, 401)
    const house = fakeFetch(busy, gone)
    const waits: Array<number> = []
    const feed = connect({ url, fetch: house.fetch }).feed({ onReconnect: (_, wait) => waits.push(wait) })
    await expect(feed.next()).rejects.toMatchObject({ tag: "Unauthenticated", status: 401 })
    expect(waits).toEqual([1000])
  })

  it("a page that is no feed ends it", async () => {
    const house = fakeFetch(() => new Response("<html>", { headers: { "content-type": "text/html" } }))
    await expect(connect({ url, fetch: house.fetch }).feed().next()).rejects.toThrow("is not a Stoa house")
  })

  it("waiting for a house that is away ends with the signal", async () => {
    const house = fakeFetch(() => Promise.reject(new TypeError("fetch failed")))
    const stop = new AbortController()
    const feed = connect({ url, fetch: house.fetch }).feed({ signal: stop.signal, onReconnect: () => stop.abort() })
    expect(await feed.next()).toEqual({ done: true, value: undefined })
    expect(await connect({ url, fetch: house.fetch }).feed({ signal: stop.signal }).next()).toMatchObject({
      done: true,
    })
    expect(house.all).toHaveLength(1)
  })
})
