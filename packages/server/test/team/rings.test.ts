/** Agents of a ring who ask each other in the same moment, from two houses on one Postgres: never do all of them wait. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { send, token } from "../killedHouse.ts"
import { cluster, open } from "../runs/housesKit.ts"

const rounds = process.env["STOA_TEST_LONG"] === undefined ? 12 : 200

interface Wait {
  readonly agent: string
  readonly ring: boolean
  readonly for: ReadonlyArray<{ readonly id: string; readonly state: string }>
}

it.live(
  `S3-11 in ${rounds} races of rings over two houses one is answered or refused, nobody is left waiting, and all come to an end`,
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      on.rules([])
      const houses = yield* Effect.all([open(on), open(on)], { concurrency: "unbounded" })
      const url = (n: number) => houses[n % 2]!.url
      const made = (path: string, body: unknown) =>
        Effect.map(send(url(0), token, "POST", path, body), ({ body: object, status }) => {
          assert.strictEqual(status, 201, JSON.stringify(object))
          return object as { readonly id: string; readonly token: string }
        })
      const agent = Effect.fnUntraced(function* (name: string, parent?: string) {
        const { id } = yield* made("/principals", { kind: "agent", name, toolsets: ["team"] })
        if (parent !== undefined) yield* send(url(0), token, "PATCH", `/agents/${name}`, { parent })
        return { id, name, token: (yield* made("/tokens", { principal: name })).token }
      })
      yield* agent("root")
      const all = [yield* agent("a", "root"), yield* agent("b", "root"), yield* agent("c", "root")]
      const say = Effect.fnUntraced(function* (house: number, from: number, to: number, more: object = {}) {
        const input = { recipient: all[to]!.name, text: "How is it?", ...more }
        const { body } = yield* send(url(house), all[from]!.token, "POST", "/tools/send_message/call", { input })
        const { error, output } = body as {
          readonly output?: { readonly waiting_for_reply: boolean }
          readonly error?: { readonly message: string }
        }
        if (error !== undefined) assert.match(error.message, /nobody would go on/)
        return output?.waiting_for_reply === true
      })
      const waits = Effect.map(send(url(0), token, "GET", "/waits"), ({ body }) => body["items"] as ReadonlyArray<Wait>)
      let refused = 0
      for (let round = 0; round < rounds; round++) {
        const size = 2 + (round % 2)
        const ring = Array.from({ length: size }, (_, n) => n)
        const waiting = yield* Effect.forEach(ring, (n) => say(round + n, n, (n + 1) % size), {
          concurrency: "unbounded",
        })
        const count = waiting.filter((one) => one).length
        assert.isTrue(count > 0 && count < size, `${count} of ${size} wait`)
        refused += size - count
        // Whoever is asked and waits for nobody answers, until nobody is left who waits.
        for (;;) {
          const left = yield* waits
          assert.isFalse(left.some(({ ring: isRing }) => isRing))
          if (left.length === 0) break
          const busy = new Set(left.map(({ agent: id }) => id))
          const free = left.find((wait) => wait.for.every(({ id }) => !busy.has(id)))!
          const index = (id: string) => all.findIndex((one) => one.id === id)
          yield* say(round, index(free.for[0]!.id), index(free.agent), { sync: false })
          // The answer is heard when the journal is read.
          while ((yield* waits).some(({ agent: id }) => id === free.agent)) yield* Effect.sleep(20)
        }
      }
      assert.isAtLeast(refused, rounds)
      for (const { child } of houses) yield* child.kill
    }),
  240_000,
)
