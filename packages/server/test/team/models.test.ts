/** Agents of a team that think with a model: replies to what they asked are their next message, as for programs. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { configure } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended, inState, runsHouse, setRules, stores, thinker, until } from "../runs/runsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"

const crew = Effect.gen(function* () {
  const { admin } = yield* Guest
  const ada = yield* someone()
  const lead = yield* thinker({ name: fresh("lead"), toolsets: ["team"] })
  const worker = yield* thinker({ name: fresh("worker"), toolsets: ["team"] })
  yield* ask(() => admin.agents.change(worker.id, { parent: lead.id }))
  const space = yield* dm(ada, lead)
  const say = (text: string) => ask(() => ada.client.spaces.post(space.id, { text }))
  return { lead, worker, say }
})

const question = (to: { readonly name: string }) => ({
  tool: "send_message",
  input: { recipient: to.name, text: "How is it?" },
})
const answer = (from: { readonly name: string }, to: { readonly name: string }) => ({
  when: { agent: from.name, step: 1 },
  call: [{ tool: "send_message", input: { recipient: to.name, text: "It is well." } }],
})
/** Once it has heard: what is in its inbox, and then nothing more. */
const heard = (lead: { readonly name: string }) => [
  { when: { agent: lead.name, text: "^Reply from", tool: "check_inbox" } },
  { when: { agent: lead.name, text: "^Reply from" }, call: [{ tool: "check_inbox", input: {} }] },
]

/** What a run was told after it had begun, and the outcomes of its calls. */
const records = Effect.fnUntraced(function* (run: string) {
  const sql = yield* SqlClient.SqlClient
  const told = yield* sql<{ body: string; step: number }>`SELECT body, step FROM run_messages
    WHERE run = ${run} AND step > 0 ORDER BY seq`
  const calls = yield* sql<{ tool: string; output: string }>`SELECT tool, output FROM calls
    WHERE run = ${run} ORDER BY step, place`
  return { told, calls: calls.map(({ output, tool }) => ({ tool, output: JSON.parse(output) as never })) }
})

for (const store of stores)
  layer(runsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`models in a team on ${store}`, (it) => {
    it.effect("S3-13 S3-19 a run that ends its turn waits for the reply, and is told it in its next step", () =>
      Effect.gen(function* () {
        const { lead, say, worker } = yield* crew
        yield* setRules([
          ...heard(lead),
          { when: { agent: lead.name, step: 1 }, call: [question(worker)] },
          answer(worker, lead),
        ])
        yield* say("ask the worker")
        const [run] = yield* ended(lead)
        assert.deepInclude(run!, { state: "completed", stop: "end_turn", step: 4 })
        const { calls, told } = yield* records(run!.id)
        const { message_id: id } = calls[0]!.output as { readonly message_id: string }
        assert.deepStrictEqual(told, [{ step: 2, body: `Reply from ${worker.name} (to message ${id}):\nIt is well.` }])
        assert.deepStrictEqual(calls[1], { tool: "check_inbox", output: { messages: [] } as never })
      }),
    )

    it.effect("S3-13 S3-19 a reply that comes while the run is at work is not lost, and is told once", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { lead, say, worker } = yield* crew
        const sql = yield* SqlClient.SqlClient
        const gate = yield* configure({ requiresApproval: true })
        yield* ask(() => admin.principals.change(lead.id, { toolsets: ["team", "stoa"] }))
        yield* setRules([
          ...heard(lead),
          { when: { agent: lead.name, step: 1 }, call: [question(worker), { tool: gate.name, input: {} }] },
          answer(worker, lead),
        ])
        yield* say("ask the worker, and use the gate")
        const { id } = yield* inState(lead, "waiting_tool")
        // The reply is there, and the run is still open.
        yield* until(Effect.map(sql`SELECT id FROM waits WHERE run = ${id} AND state = 'resolved'`, (rows) => rows[0]))
        const { items } = yield* ask(() => admin.decisions.list({ state: "open" }))
        yield* ask(() => admin.decisions.answer(items[0]!.id, { verdict: "approve" }))
        const [run] = yield* ended(lead)
        assert.deepInclude(run!, { id, state: "completed", step: 4 })
        const { told } = yield* records(id)
        assert.strictEqual(told.length, 1)
        assert.match(told[0]!.body, /^Reply from .+\nIt is well\.$/)
      }),
    )
  })
