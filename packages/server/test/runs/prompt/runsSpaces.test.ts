/** A run is told of its agent's other work only what everybody in its own space may see. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Readers } from "../../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../../house.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"
import { dm, ended, inState, room, runsHouse, runsOf, setRules, stores, thinker, until } from "../runsKit.ts"

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 90_000 })(
    `runs and their spaces on ${store}`,
    (it) => {
      const told = Effect.fnUntraced(function* (run: { readonly id: string }) {
        const { admin } = yield* Guest
        const { items } = yield* ask(() => admin.runs.messages(run.id))
        return items
          .map(({ output, text }) => `${text ?? ""}${output === undefined ? "" : JSON.stringify(output)}`)
          .join("\n")
      })

      it.effect(
        "S1-61 S1-107 a run in a space that others read has nothing of what was said elsewhere, but how much there is",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [ada, eve] = [yield* someone(), yield* someone()]
            const bot = yield* thinker({ toolsets: ["gateway"] })
            const [mine, hers] = [yield* dm(ada, bot), yield* dm(eve, bot)]
            const open = yield* room("public", ada, eve, bot)
            const other = yield* room("public", ada, bot)
            const small = yield* ask(() =>
              ada.client.spaces.add({ name: fresh("small"), kind: "private", members: [bot.id] }),
            )
            const square = yield* ask(() =>
              ada.client.spaces.add({ name: fresh("square"), kind: "public", members: [bot.id] }),
            )
            yield* setRules([
              {
                when: { agent: bot.name, text: "divorce", step: 1 },
                call: [
                  {
                    tool: "set_plans",
                    input: { plans: [{ name: "lawyer", instruction: "Call about the divorce.", runAfter: "1 day" }] },
                  },
                ],
              },
              { when: { agent: bot.name, text: "divorce" }, say: "long", waitMs: 60_000 },
              { when: { agent: bot.name, text: "picnic" }, say: "long", waitMs: 60_000 },
              { when: { agent: bot.name, step: 1 }, call: [{ tool: "get_my_runs", input: {} }] },
              { when: { agent: bot.name }, say: "read" },
            ])
            yield* ask(() => ada.client.spaces.post(mine.id, { text: "about my divorce" }))
            const secret = yield* inState(bot, "running")
            yield* ask(() => ada.client.spaces.post(other.id, { text: `@${bot.name} the picnic` }))
            yield* until(
              Effect.map(runsOf(bot), (rows) =>
                rows.filter(({ state }) => state === "running").length === 2 ? true : undefined,
              ),
            )
            // The plan is recorded by its reader before anybody is told of plans.
            yield* until(
              Effect.map(
                ask(() => admin.runs.steps(secret.id)),
                ({ items }) => (items.length > 1 || items[0]?.calls[0]?.state === "done" ? true : undefined),
              ),
            )
            yield* (yield* Readers).receipt("plans")
            const woken = Effect.fnUntraced(function* (space: string, who: typeof ada, text: string, count: number) {
              yield* ask(() => who.client.spaces.post(space, { text }))
              return yield* told((yield* ended(bot, count)).at(-1)!)
            })
            // Of the picnic all who see #open may know: that space is public, too.
            const inOpen = yield* woken(open.id, eve, `@${bot.name} hello`, 1)
            assert.notInclude(inOpen, "divorce")
            assert.notInclude(inOpen, secret.id.slice(4) + " (running)")
            assert.include(inOpen, "the picnic")
            assert.match(inOpen, /You work on 1 more thing elsewhere\./)
            assert.match(inOpen, /You have 1 more plan that you made in other spaces\./)
            const inHers = yield* woken(hers.id, eve, "hello", 2)
            assert.notInclude(inHers, "divorce")
            // Ada alone reads what it says there, and was there.
            const inMine = yield* woken(small.id, ada, `@${bot.name} hello`, 3)
            assert.include(inMine, "divorce")
            assert.include(inMine, "lawyer: ")
            // A public space is read by the whole house, also if Ada and the agent are its only members.
            const inSquare = yield* woken(square.id, ada, `@${bot.name} hello`, 4)
            assert.notInclude(inSquare, "divorce")
            assert.notInclude(inSquare, "lawyer: ")
            assert.include(inSquare, "the picnic")
            // A service stands in no space: it is told of none.
            yield* ask(() => admin.agents.trigger(bot.name, { text: "work" }))
            const nowhere = yield* told((yield* ended(bot, 5)).at(-1)!)
            assert.notInclude(nowhere, "divorce")
            assert.notInclude(nowhere, "picnic")
            assert.match(nowhere, /You work on 2 other things elsewhere\./)
            // Itself, outside of a run, it may ask.
            const alone = yield* ask(() => bot.client.tools.call("get_my_runs", { input: {} }))
            assert.include(JSON.stringify(alone), "divorce")
            for (const { id } of (yield* runsOf(bot)).filter(({ state }) => state === "running"))
              yield* ask(() => admin.runs.cancel(id))
          }),
      )
    },
  )
