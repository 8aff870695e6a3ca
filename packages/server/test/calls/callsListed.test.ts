/** Calls as a list, on both databases: in either order, of one tool, page by page, each once. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { callsHouse, callTool, configure, request, stores, told, type Told } from "./callsKit.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const says = { execution: { output: "it" } }

const made = Effect.fnUntraced(function* (who: Someone, tool: string) {
  return told(yield* callTool(who, tool, {})).id
})

/** All pages, two at a time. */
const walk = Effect.fnUntraced(function* (who: Someone, query: string) {
  const seen: Array<string> = []
  for (let next: string | null = ""; next !== null;) {
    const cursor: string = next === "" ? "" : `&cursor=${next}`
    const { body } = yield* request(who, "GET", `/calls?limit=2${query}${cursor}`)
    seen.push(...(body["items"] as ReadonlyArray<Told>).map(({ id }) => id))
    next = body["next"] as string | null
  }
  return seen
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`calls as a list on ${store}`, (on) => {
    on.effect("oldest first unless told, newest first when asked, all of them or those of one tool", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const [one, other] = [yield* configure(says), yield* configure(says)]
        const ids: Array<string> = []
        for (const tool of [one, other, one, one, other]) ids.push(yield* made(bot, tool.name))
        assert.deepStrictEqual(yield* walk(bot, ""), ids)
        assert.deepStrictEqual(yield* walk(bot, "&order=oldest"), ids)
        assert.deepStrictEqual(yield* walk(bot, "&order=newest"), ids.toReversed())
        assert.deepStrictEqual(
          yield* walk(bot, `&order=newest&tool=${one.name}`),
          [ids[0], ids[2], ids[3]].toReversed(),
        )
        assert.deepStrictEqual(yield* walk(bot, `&tool=${other.name}`), [ids[1], ids[4]])
        assert.deepStrictEqual(yield* walk(yield* someone("agent"), "&order=newest"), [])
        assert.strictEqual((yield* request(bot, "GET", "/calls?order=random")).status, 400)
      }),
    )
  })
