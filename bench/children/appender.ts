/**
 * Writers on one SQLite file. Three ways to the same rows: our journal with group commit, our journal with writers let in
 * one at a time (so that every batch has one member), and node:sqlite by hand with a COMMIT for each.
 */
import { randomBytes } from "node:crypto"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer, ManagedRuntime, Semaphore } from "effect"
import { migrations } from "../../packages/server/src/Migrations.ts"
import { Journal } from "../../packages/server/src/store/journal/Journal.ts"
import { migrate } from "../../packages/server/src/store/Schemas.ts"
import { Store } from "../../packages/server/src/store/database/Store.ts"
import { type Delays, delaysOf } from "../kit/measure.ts"
import { serveQuestions } from "./children.ts"

export type Way = "group" | "single" | "plain"
export interface AppendQuestion {
  readonly file: string
  readonly way: Way
  readonly writers: number
  readonly millis: number
}
export interface AppendAnswer extends Delays {
  readonly perSecond: number
  readonly loopP99: number
  readonly loopLongest: number
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Repeats a write for as long as asked, and says how long each took. */
type Write = () => Promise<void>
const drive = async (write: Write, { millis, writers }: AppendQuestion): Promise<AppendAnswer> => {
  const took: Array<number> = []
  const until = async (end: number, note: (millis: number) => void) => {
    const one = async () => {
      for (let now = performance.now(); now < end;) {
        await write()
        const then = now
        now = performance.now()
        note(now - then)
      }
    }
    await Promise.all(Array.from({ length: writers }, one))
  }
  await until(performance.now() + millis / 4, () => {})
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  // It measures from tick to tick: without a first one, a loop that is held all the time would not show.
  await pause(5)
  const started = performance.now()
  await until(started + millis, (one) => took.push(one))
  const seconds = (performance.now() - started) / 1000
  // A loop that was held to the very end gets to say so.
  await pause(5)
  loop.disable()
  // The histogram holds the whole time between two ticks, the millisecond asked for included.
  const beyond = (nanos: number) => Math.max(0, nanos / 1e6 - 1)
  const delays = { loopP99: beyond(loop.percentile(99)), loopLongest: beyond(loop.max) }
  return { perSecond: took.length / seconds, ...delaysOf(took), ...delays }
}

const ours = async (question: AppendQuestion): Promise<AppendAnswer> => {
  const migrated = Layer.effectDiscard(migrate({ migrations, backup: () => Effect.succeed("nowhere") }))
  const store = migrated.pipe(Layer.provideMerge(Store.layerSqlite(question.file)))
  const runtime = ManagedRuntime.make(Journal.layer.pipe(Layer.provideMerge(store)))
  const journal = await runtime.runPromise(Journal)
  const append = journal.transact(journal.append({ kind: "secret.set", body: { name: "bench" } }))
  const door = Semaphore.makeUnsafe(1)
  const write = question.way === "group" ? append : door.withPermits(1)(append)
  const answer = await drive(() => runtime.runPromise(write), question)
  await runtime.dispose()
  return answer
}

/** The same table with the same indices and pragmas; our store made it in the round before. */
const plain = async (question: AppendQuestion): Promise<AppendAnswer> => {
  const db = new DatabaseSync(question.file)
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
  const insert = db.prepare(
    "INSERT INTO journal (kind, at, space, actor, provenance, correlation_id, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
  )
  const waiting: Array<() => void> = []
  let head = 0
  const next = () => {
    db.exec("BEGIN IMMEDIATE")
    const body = JSON.stringify({ name: "bench" })
    insert.run("secret.set", new Date().toISOString(), null, null, "house", randomBytes(16).toString("hex"), body)
    db.exec("COMMIT")
    waiting[head++]!()
    // One write a turn of the event loop: whatever else the process does gets its time.
    if (head < waiting.length) setImmediate(next)
    else waiting.length = head = 0
  }
  const write = () =>
    new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next)
    })
  const answer = await drive(write, question)
  db.close()
  return answer
}

serveQuestions((question: AppendQuestion) => (question.way === "plain" ? plain(question) : ours(question)))
