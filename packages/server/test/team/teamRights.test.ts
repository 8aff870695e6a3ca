/** What the room of teams, and those below it, refuse whoever asks, from every door; and that each refusal is audited once. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { stores } from "../runs/runsKit.ts"
import { fresh, refused, someone, type Someone } from "../spaces/spacesGuests.ts"
import { failure, family, programmed, teamHouse, use } from "./teamKit.ts"

const deniedTo = Effect.fnUntraced(function* ({ id }: Someone) {
  yield* (yield* Readers).receipt("audit")
  const { admin } = yield* Guest
  const { items } = yield* ask(() => admin.audit.list({ principal: id, result: "denied", limit: 100 }))
  return items.map(({ action, resource, rule }) => [action, resource, rule]).toReversed()
})

const wanted = () => ({ name: fresh("child"), instructions: "Work." })

for (const store of stores)
  layer(teamHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `rights on agents of a team on ${store}`,
    (it) => {
      it.effect("from outside, an agent is read, changed, stopped and given children by rights, and so audited", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { kid, one } = yield* family
          const ada = yield* someone()
          const about = `principals/${kid.name}`
          const tried: ReadonlyArray<readonly [string, (who: Someone) => Promise<unknown>]> = [
            ["admin", ({ client }) => client.agents.inspect(kid.id)],
            ["admin", ({ client }) => client.agents.prompt(kid.name)],
            ["write", ({ client }) => client.agents.stop(kid.name, {})],
            ["write", ({ client }) => client.agents.spawn(kid.name, wanted())],
            ["write", ({ client }) => client.agents.change(kid.name, { persona: "x" })],
            ["admin", ({ client }) => client.agents.change(kid.name, { parent: null })],
          ]
          // Its parent has no more rights there than others: the tree counts with the tools of the team.
          for (const who of [ada, one]) {
            for (const [action, act] of tried) {
              const { message, status } = yield* refused(() => act(who))
              assert.strictEqual(status, 403)
              assert.include(message, `${action} ${about}`)
            }
            assert.deepStrictEqual(
              yield* deniedTo(who),
              tried.map(([action]) => [action, about, "silence"]),
            )
          }
          yield* ask(() => admin.grants.add({ principal: ada.id, resource: about, actions: ["write"] }))
          for (const [action, act] of tried)
            if (action === "write") yield* ask(() => act(ada))
            else assert.strictEqual((yield* refused(() => act(ada))).status, 403)
          // A program is the house's: who may write the agent may still not set one.
          const thinker = { kind: "program" as const, program: "command" as const, command: ["true"] }
          const program = yield* refused(() => ada.client.agents.change(kid.name, { thinker }))
          assert.include(program.message, "admin house/programs")
        }),
      )

      it.effect("an agent's mail is shown to itself and its owner, its prompt to itself", () =>
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const ada = yield* someone()
          const made = yield* ask(() => admin.principals.add({ kind: "agent", name: fresh("agent"), owner: ada.name }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: made.id }))
          for (const client of [ada.client, as(token)])
            assert.strictEqual((yield* ask(() => client.agents.inspect(made.id))).agent.id, made.id)
          yield* ask(() => as(token).agents.prompt(made.id))
          assert.strictEqual((yield* refused(() => ada.client.agents.prompt(made.id))).status, 403)
        }),
      )

      it.effect("with the tools of the team, the place in the tree decides, whatever rights one has", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { kid, one, root, two } = yield* family
          yield* ask(() =>
            admin.grants.add({ principal: two.id, resource: "principals/*", actions: ["admin", "write"] }),
          )
          for (const tool of ["inspect_agent", "stop_agent"]) {
            assert.match(yield* failure(two, tool, { name: one.name }), /is your sibling: only your own children/)
            assert.match(yield* failure(one, tool, { name: root.name }), /is your parent: only your own children/)
            assert.match(yield* failure(two, tool, { name: kid.name }), /more than one hop away/)
            assert.match(yield* failure(two, tool, { name: two.name }), /is yourself/)
          }
          assert.deepInclude(yield* use(one, "stop_agent", { name: kid.name }), { status: "stopped", name: kid.name })
          const ada = yield* someone()
          yield* ask(() => admin.principals.change(ada.id, { toolsets: ["team"] }))
          for (const tool of ["inspect_agent", "stop_agent"])
            assert.match(yield* failure(ada, tool, { name: kid.name }), /Only agents have a team/)
          assert.match(yield* failure(ada, "spawn_agent", wanted()), /Only agents have a team/)
        }),
      )

      it.effect("to wake an agent takes a right on it, by every door; it is refused and audited once", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [ada, bot] = [yield* someone("agent"), yield* programmed()]
          const about = `agents/${bot.name}`
          const rule = ["execute", about, "silence"]
          assert.strictEqual((yield* refused(() => ada.client.agents.trigger(bot.name, { text: "go" }))).status, 403)
          assert.deepStrictEqual(yield* deniedTo(ada), [rule])
          const input = { agent: bot.name, text: "go" }
          assert.match(yield* failure(ada, "run_agent", input), new RegExp(`You may not execute ${about}`))
          const denied = (yield* deniedTo(ada)).filter(([, resource]) => resource === about)
          const unknown = yield* failure(ada, "run_agent", { ...input, agent: "nobody-here" })
          assert.match(unknown, /You may not execute agents\/nobody-here/)
          yield* ask(() => admin.agents.change(bot.id, { gate: "held" }))
          assert.deepStrictEqual((yield* ask(() => admin.runs.list({ agent: bot.id }))).items, [])
          yield* ask(() => admin.grants.add({ principal: ada.id, resource: about, actions: ["execute"] }))
          yield* ask(() => ada.client.agents.trigger(bot.name, { text: "go" }))
          assert.strictEqual((yield* ask(() => admin.runs.list({ agent: bot.id }))).items.length, 1)
          assert.deepStrictEqual(denied, [rule])
        }),
      )
    },
  )
