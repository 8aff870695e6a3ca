/** What the members of a space see of the runs that began in it: that an agent began, waits, goes on and has ended. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { configure } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { listen, someone } from "../spaces/spacesGuests.ts"
import { ended, inState, room, runsHouse, setRules, stores, thinker } from "./runsKit.ts"

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `what is seen of runs, ${store}`,
    (it) => {
      it.effect("S1-74 S1-77 members see that a run waits and goes on, under the names that the documents give", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const [bot, ada, eve] = [yield* thinker(), yield* someone(), yield* someone()]
          const [here, elsewhere] = [yield* room("private", ada, bot), yield* room("private", eve)]
          const { name } = yield* configure({ requiresApproval: true })
          yield* setRules([{ when: { agent: bot.name, step: 1 }, call: [{ tool: name, input: {} }] }])
          const kinds = ["run.started", "run.waiting", "run.resumed", "run.ended"]
          const heard = new Map([ada, eve].map((who) => [who.id as string, [] as Array<string>]))
          const gateway: Array<string> = []
          yield* listen(ada, { path: `/spaces/${here.id}/events?names=gateway` }, ({ event = "" }) =>
            gateway.push(event),
          )
          for (const who of [ada, eve])
            yield* listen(who, {}, ({ event = "" }) => {
              if (kinds.includes(event)) heard.get(who.id)!.push(event)
            })
          yield* ask(() => ada.client.spaces.post(here.id, { text: `@${bot.name} go` }))
          yield* inState(bot, "waiting_tool")
          const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
          yield* ask(() => admin.decisions.answer(items[0]!.id, { verdict: "approve" }))
          yield* ended(bot)
          // A message after it: whoever has seen that has seen all before it.
          const { next } = yield* listen(ada, { after: 0, path: `/spaces/${here.id}/events` })
          const past: Array<string> = []
          for (let frame = yield* next; frame.event !== "run.ended"; frame = yield* next) past.push(frame.event ?? "")
          assert.includeMembers(past, ["run.started", "run.waiting", "run.resumed"])
          const read = yield* listen(eve, { path: `/spaces/${elsewhere.id}/events` })
          yield* ask(() => eve.client.spaces.post(elsewhere.id, { text: "that is all" }))
          for (let frame = yield* read.next; frame.event !== "message.created";) frame = yield* read.next
          assert.deepStrictEqual(heard.get(eve.id), [])
          assert.includeMembers(gateway, ["agent.active", "run.waiting_tool"])
        }),
      )
    },
  )
