/** An agent with a wallet, thinking: what its model is shown of seed 002's tools, and what its sessions keep. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Catalogue, everything } from "../../src/calls/catalogue/Catalogue.ts"
import { wireToolsOf } from "../../src/runs/working/wireTools.ts"
import { ask, Guest } from "../house.ts"
import { someone } from "../spaces/spacesGuests.ts"
import { holder, type Holder } from "../toolsets/engramKit.ts"
import { config, ended, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

const wallet = `0x${"7e".repeat(20)}`

/** What the agent's model would be shown now. */
const shownTo = Effect.fnUntraced(function* (id: string) {
  const principal = yield* Effect.orDie((yield* Principals).get(id))
  const caller = yield* Effect.orDie((yield* Tokens).callerNow(principal.id, "agent"))
  return wireToolsOf(yield* (yield* Catalogue).list(caller, everything), principal.wallet)
})

const models = {
  ...config.models,
  swift: { provider: "scripted", rules: "rules.json", keywords: ["fast"] },
  wise: { provider: "scripted", rules: "rules.json", keywords: ["best", "fast"] },
  wiser: { provider: "scripted", rules: "rules.json" },
}

for (const store of stores)
  layer(runsHouse({ store, config: { ...config, models } }), { excludeTestServices: true, timeout: 60_000 })(
    `companions on ${store}`,
    (it) => {
      it.effect(
        "S2-79 S2-80 X-27 the model is not shown the wallet; the stored call has the agent's own, whatever the model wrote",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const sql = yield* SqlClient.SqlClient
            const ada = yield* someone()
            const bot = yield* thinker()
            yield* ask(() => admin.principals.change(bot.id, { toolsets: ["stoa", "engrams"] }))
            const { tools: listed } = yield* ask(() => admin.allowLists.get("engrams", "agent"))
            // Without a wallet there are none of them.
            assert.isFalse((yield* shownTo(bot.id)).some(({ name }) => /engram_(create|get|search)/.test(name)))
            yield* ask(() => admin.principals.change(bot.id, { wallet }))
            const shown = new Map((yield* shownTo(bot.id)).map((tool) => [tool.name, JSON.stringify(tool.inputSchema)]))
            for (const name of ["engram_create", "engram_get", "engram_search", "engram_list_by_type"])
              assert.notInclude(shown.get(name) ?? "wallet_address", "wallet_address", name)
            assert.include(shown.get("engram_create"), '"required":["engram_type","key","content"]')
            // Nor in any other of the set, where an agent is let have them.
            yield* ask(() => admin.allowLists.set("engrams", "agent", { tools: ["*"] }))
            const all = (yield* shownTo(bot.id)).filter(({ name }) => /^(engram|user|hecate|moros)_/.test(name))
            yield* ask(() => admin.allowLists.set("engrams", "agent", { tools: listed }))
            assert.lengthOf(all, 22)
            for (const { inputSchema, name } of all)
              assert.notInclude(JSON.stringify(inputSchema), "wallet_address", name)
            const engram = { engram_type: "knowledge", content: '"tea"' }
            yield* setRules([
              {
                when: { agent: bot.name, step: 1 },
                call: [
                  { tool: "engram_create", input: { ...engram, key: "likes" } },
                  { tool: "engram_create", input: { ...engram, key: "forged", wallet_address: "0xsomebody" } },
                ],
              },
            ])
            yield* ask(async () => {
              const space = await ada.client.spaces.add({ name: `dm-${store}-w`, kind: "dm", members: [bot.id] })
              await ada.client.spaces.post(space.id, { text: "remember" })
            })
            yield* ended(bot)
            const rows = yield* sql<{ input: string; state: string }>`SELECT input, state FROM calls
            WHERE principal = ${bot.id} AND tool = 'engram_create' ORDER BY id`
            assert.deepStrictEqual(
              rows.map(({ input, state }) => [state, (JSON.parse(input) as { wallet_address: string }).wallet_address]),
              [
                ["done", wallet],
                ["done", wallet],
              ],
            )
          }),
      )

      it.effect(
        "S2-44 S2-81 a session's agent answers in it; the next thing said to it is read with all that was said",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const ada = yield* someone()
            const bot = yield* thinker()
            const post = { tool: "post_message", input: { space: "{{space}}", text: "Noted: kumquats." } }
            yield* setRules([{ when: { agent: bot.name, step: 1 }, call: [post] }])
            const session = yield* ask(() => ada.client.chatSessions.add({ agent: bot.name }))
            yield* ask(() => ada.client.chatSessions.post(session.id, { text: "I like kumquats" }))
            yield* ended(bot, 1)
            const after = yield* ask(() => ada.client.chatSessions.get(session.id))
            assert.deepStrictEqual([after.messageCount, after.title], [2, "I like kumquats"])
            // Another one in between does not lose it, nor does it see it.
            const other = yield* ask(() => ada.client.chatSessions.add({ agent: bot.name }))
            yield* ask(() => ada.client.chatSessions.post(other.id, { text: "what do I like?" }))
            const [, second] = yield* ended(bot, 2)
            yield* ask(() => ada.client.chatSessions.change(session.id, { current: true }))
            yield* ask(() => ada.client.chatSessions.post(session.id, { text: "and what do I like?" }))
            const [, , third] = yield* ended(bot, 3)
            const told = Effect.fnUntraced(function* (run: string) {
              const { items } = yield* ask(() => admin.runs.messages(run))
              return JSON.stringify(items.filter(({ kind }) => kind === "user_message"))
            })
            assert.notInclude(yield* told(second!.id), "kumquats")
            const read = yield* told(third!.id)
            for (const text of ["I like kumquats", "Noted: kumquats.", "and what do I like?"])
              assert.include(read, text)
            const { items } = yield* ask(() => ada.client.chatSessions.messages(session.id, {}))
            assert.isTrue(items.length >= 3)
          }),
      )

      it.effect(
        "S2-54 S2-55 S2-56 S2-61 a run thinks with the model its owner chose, by name or keyword; nobody else's does, nor another agent's",
        () =>
          Effect.gen(function* () {
            const { admin, as } = yield* Guest
            const [hecate, moros] = [yield* thinker({ name: "hecate" }), yield* thinker({ name: "moros" })]
            yield* setRules([])
            const [ann, bob] = [
              yield* holder(`ann-${store}`, { kind: "person" }),
              yield* holder(`bob-${store}`, { kind: "person" }),
            ]
            const asked = new Map([hecate, moros].map((bot) => [bot.id as string, 0]))
            /** Which model thought in a session of this owner's with this agent. */
            const thought = Effect.fnUntraced(function* (who: Holder, bot: typeof hecate) {
              const client = as(who.token)
              const session = yield* ask(() => client.chatSessions.add({ agent: bot.name }))
              yield* ask(() => client.chatSessions.post(session.id, { text: "hello" }))
              const count = asked.get(bot.id)! + 1
              asked.set(bot.id, count)
              const run = (yield* ended(bot, count)).at(-1)!
              return (yield* ask(() => admin.runs.steps(run.id))).items[0]!.model
            })
            assert.strictEqual(yield* thought(ann, hecate), "demo")
            // Its exact name before one that begins with it; a keyword; a tie goes by name, and says what else there is.
            assert.strictEqual((yield* ann.done("hecate_set_model", { query: "wise" })).model, "wise")
            assert.strictEqual(yield* thought(ann, hecate), "wise")
            const tied = yield* ann.done("hecate_set_model", { query: "fast" })
            assert.deepStrictEqual([tied.model, tied.alternatives], ["swift", ["wise"]])
            assert.strictEqual(yield* thought(ann, hecate), "swift")
            // No match: it says so, and the old one stays.
            assert.include(yield* ann.told("hecate_set_model", { query: "llama" }), "llama")
            assert.strictEqual(yield* thought(ann, hecate), "swift")
            assert.strictEqual(yield* thought(bob, hecate), "demo", "another owner's is another's")
            assert.strictEqual(yield* thought(ann, moros), "demo", "and so is another agent's")
            yield* ann.done("moros_set_model", { query: "best" })
            assert.deepStrictEqual([yield* thought(ann, moros), yield* thought(ann, hecate)], ["wise", "swift"])
            // Taken back: its own again.
            yield* ann.done("moros_set_model", { query: "default" })
            assert.deepStrictEqual([yield* thought(ann, moros), yield* thought(ann, hecate)], ["demo", "swift"])
          }),
      )
    },
  )
