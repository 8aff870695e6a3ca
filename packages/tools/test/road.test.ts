/** The road composed in another way, as the server will: rows between its steps, and a decision that outlives the process. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import {
  type Answer,
  AuditPort,
  type AuditRecord,
  type Call,
  type CallRecord,
  DecisionsPort,
  defaultToolsConfig,
  EventsPort,
  identityStandard,
  type Question,
  RecordPort,
  Registry,
  Road,
  type CallSettlement,
  ToolAuthorizationError,
} from "../src/index.ts"
import { definition, input } from "./kit.ts"

/** What would be tables: only text goes in, so that nothing of a fiber can be hidden in it. */
interface Rows {
  readonly calls: Map<string, string>
  readonly decisions: Map<string, { readonly question: string; verdict?: "approve" | "deny" }>
  readonly audit: Array<AuditRecord>
}

const ports = (rows: Rows) => {
  const record: CallRecord = {
    open: (call) =>
      Effect.sync(() => {
        rows.calls.set(call.id, JSON.stringify({ call, state: "received" }))
        return { state: "new" as const }
      }),
    wait: (call, decision) =>
      Effect.sync(() => void rows.calls.set(call.id, JSON.stringify({ call, state: "waiting", decision }))),
    settle: (call, settled) => Effect.sync(() => void rows.calls.set(call.id, JSON.stringify({ call, ...settled }))),
  }
  const ask = (question: Question) =>
    Effect.sync((): Answer => {
      const found = [...rows.decisions].find(
        ([, row]) => (JSON.parse(row.question) as Question).digest === question.digest,
      )
      if (found === undefined) {
        const decision = `dec_${rows.decisions.size + 1}`
        rows.decisions.set(decision, { question: JSON.stringify(question) })
        return { state: "waiting", decision }
      }
      const [decision, { verdict }] = found
      if (verdict === undefined) return { state: "waiting", decision }
      return verdict === "approve"
        ? { state: "approved", decision }
        : { state: "denied", decision, reason: "a person said no" }
    })
  return Layer.mergeAll(
    Layer.succeed(RecordPort, record),
    Layer.succeed(DecisionsPort, { ask }),
    Layer.succeed(AuditPort, { record: (entry) => Effect.sync(() => void rows.audit.push(entry)) }),
    Layer.succeed(EventsPort, { publish: () => Effect.void }),
  )
}

/** The server's composition: everything up to the question, and then either the end or nothing at all. */
/** A call in the road's own words; the kit's `input` has those of seed 004. */
const asking = (over: Parameters<typeof input>[0] = {}) => {
  const { agentId, arguments: given, sessionId, toolName, ...rest } = input(over)
  return { ...rest, tool: toolName, input: given, principal: agentId, space: sessionId }
}

const receive = Effect.fnUntraced(function* (registry: Registry, asked: Parameters<typeof Road.begin>[0]) {
  const begun = yield* Road.begin(asked)
  const tool = yield* Road.find(registry, begun, identityStandard)
  const judgement = yield* Road.authorize(identityStandard, begun.principal, begun.tool)
  yield* Road.judge(defaultToolsConfig, begun, judgement)
  const call = { ...begun, input: yield* Road.validate(tool, begun) }
  yield* Road.record(yield* RecordPort, call)
  return yield* resumed(registry, call, tool.fingerprint)
})

/** From a stored call: asks again, and runs what was approved, if the tool still is what was approved. */
const resumed = Effect.fnUntraced(function* (registry: Registry, call: Call, fingerprint: string) {
  const tool = yield* Road.find(registry, call, identityStandard)
  const changed = tool.fingerprint !== fingerprint
  const answer: Answer = changed
    ? { state: "denied", reason: "the tool has changed since" }
    : yield* Road.ask(yield* DecisionsPort, tool, call)
  if (answer.state === "waiting") {
    yield* (yield* RecordPort).wait(call, answer.decision)
    return { state: "waiting" as const, call, fingerprint, decision: answer.decision }
  }
  const refusal = Road.refusalOf(call, answer)
  const work: Effect.Effect<unknown, Road.ToolError> =
    refusal === undefined ? Road.execute(tool, call) : Effect.fail(refusal)
  const settled = Road.settlementOf(yield* Effect.exit(work), 0)
  yield* Road.settle(yield* RecordPort, call, settled, 0)
  const denied = settled.state === "refused" && settled.error.tag === "ToolAuthorizationError"
  yield* (yield* AuditPort).record({
    agentId: call.principal,
    sessionId: call.space ?? "",
    action: "tool.execute",
    resource: `tools/${call.tool}`,
    result: settled.state === "done" ? "success" : denied ? "denied" : "failure",
    durationMs: 0,
    metadata: { correlationId: call.correlationId, callId: call.id },
  })
  return settled
})

const registryWith = (ran: Array<unknown>, over = {}) =>
  Effect.tap(
    Effect.sync(() => new Registry(defaultToolsConfig)),
    (registry) =>
      registry.add({
        definition: definition({ name: "wipe", riskLevel: "high", ...over }),
        handler: (args, context) => Effect.sync(() => (ran.push([args, context.idempotencyKey]), "wiped")),
      }),
  )

const rowsOf = (): Rows => ({ calls: new Map(), decisions: new Map(), audit: [] })
const stateOf = (rows: Rows, id: string) => (JSON.parse(rows.calls.get(id)!) as { state: string }).state

describe("the road, composed with a waiting decision", () => {
  const waiting = Effect.fnUntraced(function* (rows: Rows, ran: Array<unknown>) {
    const registry = yield* registryWith(ran)
    const result = yield* receive(
      registry,
      asking({ toolName: "wipe", idempotencyKey: "k1", correlationId: "c1" }),
    ).pipe(Effect.provide(ports(rows)))
    assert.strictEqual(result.state, "waiting")
    return result as Extract<typeof result, { readonly decision: string }>
  })
  /** Another process: a new registry, and of the call only what was written. */
  const resume = Effect.fnUntraced(function* (
    rows: Rows,
    ran: Array<unknown>,
    id: string,
    fingerprint: string,
    over = {},
  ) {
    const registry = yield* registryWith(ran, over)
    const { call } = JSON.parse(rows.calls.get(id)!) as { readonly call: Call }
    return (yield* resumed(registry, call, fingerprint).pipe(Effect.provide(ports(rows)))) as CallSettlement
  })

  it.effect("X-15 it waits holding nothing, and another process runs the stored call once it is approved", () =>
    Effect.gen(function* () {
      const rows = rowsOf()
      const ran: Array<unknown> = []
      const { call, decision, fingerprint } = yield* waiting(rows, ran)
      assert.deepStrictEqual([stateOf(rows, call.id), ran.length, rows.audit.length], ["waiting", 0, 0])
      rows.decisions.get(decision)!.verdict = "approve"
      const settled = yield* resume(rows, ran, call.id, fingerprint)
      assert.deepInclude(settled, { state: "done", output: "wiped" })
      assert.deepStrictEqual(ran, [[{ a: 2, b: 3 }, "k1"]])
      assert.strictEqual(stateOf(rows, call.id), "done")
      assert.deepStrictEqual(
        rows.audit.map((entry) => [entry.result, entry.metadata.correlationId]),
        [["success", "c1"]],
      )
    }),
  )

  it.effect("a denial settles the call as refused, audited as denied, and nothing runs", () =>
    Effect.gen(function* () {
      const rows = rowsOf()
      const ran: Array<unknown> = []
      const { call, decision, fingerprint } = yield* waiting(rows, ran)
      rows.decisions.get(decision)!.verdict = "deny"
      const settled = yield* resume(rows, ran, call.id, fingerprint)
      assert.deepInclude(settled, { state: "refused" })
      assert.deepStrictEqual([ran.length, rows.audit[0]!.result], [0, "denied"])
    }),
  )

  it.effect(
    "an approval is for this tool with these arguments: other arguments are another question, a changed tool is none",
    () =>
      Effect.gen(function* () {
        const rows = rowsOf()
        const ran: Array<unknown> = []
        const { call, decision, fingerprint } = yield* waiting(rows, ran)
        rows.decisions.get(decision)!.verdict = "approve"
        const registry = yield* registryWith(ran)
        const other = yield* receive(registry, asking({ toolName: "wipe", arguments: { a: 9, b: 9 } })).pipe(
          Effect.provide(ports(rows)),
        )
        assert.strictEqual(other.state, "waiting")
        assert.strictEqual(rows.decisions.size, 2)
        const changed = yield* resume(rows, ran, call.id, fingerprint, { description: "Wipes everything, really" })
        assert.deepInclude(changed, { state: "refused" })
        assert.deepStrictEqual(ran, [])
      }),
  )

  it.effect("the steps are the same ones ToolService walks: a refusal is seed 004's error", () =>
    Effect.gen(function* () {
      const registry = yield* registryWith([])
      const call = yield* Road.begin(asking({ toolName: "wipe" }))
      yield* Road.find(registry, call, identityStandard)
      const refusal = Road.refusalOf(call, { state: "waiting", decision: "dec_9" })
      assert.instanceOf(refusal, ToolAuthorizationError)
      assert.strictEqual(refusal.decision, "dec_9")
      const settled = Road.settlementOf(Exit.fail(refusal), 0)
      assert.strictEqual(settled.state, "refused")
    }),
  )
})
