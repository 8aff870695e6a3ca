/** A process with one durable workflow on our store, which cluster.test.ts kills and starts again. */
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { Deferred, Effect, Layer, Logger, Redacted, Schema } from "effect"
import { ClusterWorkflowEngine, SingleRunner } from "effect/cluster"
import { Digest } from "effect/crypto"
import { Activity, DurableDeferred, Workflow } from "effect/workflow"
import { Store } from "../../src/store/database/Store.ts"

const [dialect, where, log, manner] = process.argv.slice(2) as [string, string, string, "hang" | "go"]
const note = (what: string) =>
  Effect.sync(() => {
    appendFileSync(log, `${what}\n`)
    console.log(what)
  })

const Work = Workflow.make("Work", {
  payload: { id: Schema.String },
  idempotencyKey: ({ id }) => id,
  success: Schema.String,
})
const Approval = DurableDeferred.make("approval", { success: Schema.String })

const step = (name: string, work: Effect.Effect<void>) =>
  Activity.make({ name, success: Schema.String, execute: Effect.as(Effect.andThen(note(name), work), `${name} done`) })

const works = Work.toLayer(() =>
  Effect.gen(function* () {
    const first = yield* step("first", Effect.void)
    const second = yield* step("second", manner === "hang" ? Effect.never : Effect.void)
    yield* note("waiting")
    const by = yield* DurableDeferred.await(Approval)
    const third = yield* step("third", Effect.void)
    return [first, second, `approved by ${by}`, third].join(", ")
  }),
)

const store = dialect === "sqlite" ? Store.layerSqlite(where) : Store.layerPostgres(Redacted.make(where))
const engine = works.pipe(
  Layer.provideMerge(ClusterWorkflowEngine.layer),
  Layer.provideMerge(
    SingleRunner.layer({ shardingConfig: { entityMessagePollInterval: "200 millis", shardsPerGroup: 16 } }),
  ),
  Layer.provide(Digest.layerWebCrypto),
  Layer.provide(store),
  // Standard output is for the test.
  Layer.provide(Logger.layer([])),
)

const program = Effect.gen(function* () {
  const executionId = yield* Work.executionId({ id: "one" })
  const approved = yield* Deferred.make<string>()
  createInterface(process.stdin).once("line", (by) => Deferred.doneUnsafe(approved, Effect.succeed(by)))
  yield* Effect.forkChild(
    Effect.flatMap(Deferred.await(approved), (value) =>
      DurableDeferred.succeed(Approval, {
        value,
        token: DurableDeferred.tokenFromExecutionId(Approval, { workflow: Work, executionId }),
      }),
    ),
  )
  const result = yield* Work.execute({ id: "one" })
  console.log(`result: ${result}`)
})

await Effect.runPromise(Effect.provide(program, engine).pipe(Effect.scoped))
process.exit(0)
