/**
 * Talking: posts a second with synced commit, against inserting the same rows with node:sqlite into the same database;
 * how long a post takes to reach its readers; and whether a page far back costs more than the newest.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Principal, Space } from "@stoa/contract"
import { Effect, Layer, ManagedRuntime } from "effect"
import { Principals } from "../packages/server/src/access/identity/Principals.ts"
import { SharedLimits } from "../packages/server/src/access/limits/SharedLimits.ts"
import { Limits } from "../packages/server/src/access/limits/Limits.ts"
import { Rules } from "../packages/server/src/access/rights/Rules.ts"
import { migrations } from "../packages/server/src/Migrations.ts"
import { Messages } from "../packages/server/src/spaces/messages/Messages.ts"
import { houseViewer } from "../packages/server/src/access/rights/Viewer.ts"
import { Spaces } from "../packages/server/src/spaces/Spaces.ts"
import { Journal } from "../packages/server/src/store/journal/Journal.ts"
import { Deltas } from "../packages/server/src/store/journal/signals/Deltas.ts"
import { SharedDatabase } from "../packages/server/src/store/leases/Holder.ts"
import { migrate } from "../packages/server/src/store/Schemas.ts"
import { SearchIndex } from "../packages/server/src/store/search/SearchIndex.ts"
import { termsOf } from "../packages/server/src/store/search/text/terms.ts"
import { Store } from "../packages/server/src/store/database/Store.ts"
import type { LoadAnswer } from "./children/load.ts"
import type { SubscribersAnswer } from "./children/subscribers.ts"
import { delaysOf, number, ratio, spread, table } from "./kit/measure.ts"
import { sleep, startChild, startHouse, temporaryFolder } from "./processes.ts"

const rounds = 3
const writing = 800
const writers = [1, 16]
const many = 1_000_000
const pageSize = 50
const text = "a message of the usual length, which says something and asks for an answer"

const openStore = (file: string) => {
  const migrated = Layer.effectDiscard(migrate({ migrations, backup: () => Effect.succeed("nowhere") }))
  const store = migrated.pipe(Layer.provideMerge(Store.layerSqlite(file)))
  const ground = Journal.layer.pipe(Layer.provideMerge(store))
  const access = Principals.layer("none").pipe(Layer.provideMerge(ground))
  return ManagedRuntime.make(
    Messages.layer.pipe(
      Layer.provide(
        Layer.merge(SearchIndex.layer, Layer.provide(Limits.layer, Layer.merge(Rules.layer, SharedLimits.layer))),
      ),
      Layer.provideMerge(Spaces.layer("none")),
      Layer.provide(Layer.provide(Deltas.layer, Layer.succeed(SharedDatabase, false))),
      Layer.provideMerge(access),
    ),
  )
}

/** So many writers, each with the next post as soon as its last is committed. */
const drive = async (post: () => Promise<unknown>, count: number): Promise<number> => {
  const started = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() - started < writing) {
        await post()
        done++
      }
    }),
  )
  return done / ((performance.now() - started) / 1000)
}

/** The same rows as a post of ours, one synced transaction each, with the pragmas of our store. */
const rawPosts = (db: DatabaseSync, space: Space, author: Principal) => {
  const [count, insert, words, term, scope, read, journal] = [
    "UPDATE spaces SET last_seq = last_seq + 1 WHERE id = ? RETURNING last_seq",
    `INSERT INTO messages (id, space, seq, author, text, mentions, provenance, pinned, created_at)
     VALUES (?, ?, ?, ?, ?, '[]', 'person', 0, ?)`,
    `INSERT INTO search_index (scope, ref, part, series, place, tail, len, labels, terms, tokens)
     VALUES (1, ?, 0, ?, ?, ?, ?, 'pam', ?, ?)`,
    `INSERT INTO search_terms (scope, term, n) VALUES (1, ?, 1)
     ON CONFLICT (scope, term) DO UPDATE SET n = n + 1`,
    "UPDATE search_scopes SET entries = entries + 1, len = len + ? WHERE id = 1",
    "UPDATE members SET read_seq = ? WHERE space = ? AND principal = ?",
    "INSERT INTO journal (kind, at, space, actor, provenance, correlation_id, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ].map((sql) => db.prepare(sql)) as unknown as Statements
  const rows = (at: string) => {
    const id = `msg_${randomUUID()}`
    const { last_seq: seq } = count.get(space.id) as { last_seq: number }
    insert.run(id, space.id, seq, author.id, text, at)
    const terms = termsOf(text)
    scope.run(terms.length)
    const tokens = [...new Set(["_1", "_nspace", "pam", ...terms])].join(" ")
    words.run(id, space.id, seq, String(seq), terms.length, terms.join(" "), tokens)
    for (const one of new Set(["pam", ...terms])) term.run(one)
    return { id, seq }
  }
  const post = async (): Promise<void> => {
    const at = new Date().toISOString()
    db.exec("BEGIN IMMEDIATE")
    const { id, seq } = rows(at)
    read.run(seq, space.id, author.id)
    const { id: by, kind, name } = author
    const message = { id, space: space.id, seq, author: { id: by, kind, name }, text, mentions: [], createdAt: at }
    const body = JSON.stringify({ message, addressees: [] })
    journal.run("message.created", at, space.id, by, "person", randomBytes(16).toString("hex"), body)
    db.exec("COMMIT")
    await new Promise((next) => setImmediate(next))
  }
  const fill = (more: number): void => {
    db.exec("BEGIN IMMEDIATE")
    for (let n = 0; n < more; n++) rows(new Date().toISOString())
    db.exec("COMMIT")
  }
  return { post, fill }
}
type StatementOf = ReturnType<DatabaseSync["prepare"]>
type Statements = [StatementOf, StatementOf, StatementOf, StatementOf, StatementOf, StatementOf, StatementOf]

const measurePosts = async (folder: string): Promise<ReadonlyArray<string>> => {
  const file = join(folder, "posts.db")
  const runtime = openStore(file)
  const { author, space } = await runtime.runPromise(
    Effect.gen(function* () {
      const { transact } = yield* Journal
      const author = yield* transact((yield* Principals).add({ kind: "person", name: "Pam" }))
      const spaces = yield* Spaces
      return {
        author,
        space: yield* transact(spaces.add({ name: "general", kind: "public" }, houseViewer(author))),
      }
    }),
  )
  const [{ transact }, messages] = await Promise.all([runtime.runPromise(Journal), runtime.runPromise(Messages)])
  const poster = houseViewer(author)
  const ours = () => runtime.runPromise(transact(messages.post(space, poster, { text })))
  const db = new DatabaseSync(file, { timeout: 5000 })
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
  const raw = rawPosts(db, space, author)

  const compare = async (name: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
    const rows: Array<ReadonlyArray<string>> = []
    for (const count of writers) {
      const found: Record<"ours" | "raw", Array<number>> = { ours: [], raw: [] }
      for (let round = 0; round < rounds; round++) {
        found.raw.push(await drive(raw.post, count))
        found.ours.push(await drive(ours, count))
      }
      rows.push([`raw inserts, ${name}`, String(count), spread(found.raw), "1"])
      rows.push([`posts, ${name}`, String(count), spread(found.ours), ratio(found.ours, found.raw)])
    }
    return rows
  }
  const small = await compare("new space")
  raw.fill(many)
  const large = await compare(`${number(many)} messages`)

  const pageAt = async (before?: number): Promise<ReadonlyArray<string>> => {
    const each: Array<ReturnType<typeof delaysOf>> = []
    for (let round = 0; round < rounds; round++) {
      const millis: Array<number> = []
      for (let n = 0; n < 200; n++) {
        const started = performance.now()
        await runtime.runPromise(
          messages.list(space, poster, { limit: pageSize, ...(before === undefined ? {} : { before }) }),
        )
        millis.push(performance.now() - started)
      }
      each.push(delaysOf(millis))
    }
    return [spread(each.map((one) => one.p50)), spread(each.map((one) => one.p99))]
  }
  await pageAt()
  const { last } = db.prepare("SELECT last_seq AS last FROM spaces WHERE id = ?").get(space.id) as { last: number }
  const pages = [
    ["page 1", ...(await pageAt())],
    ["page 1,000", ...(await pageAt(last + 1 - 999 * pageSize))],
    [`page ${number(Math.floor(last / pageSize))}`, ...(await pageAt(pageSize + 1))],
  ]
  db.close()
  await runtime.dispose()
  return [
    `Posting: ${rounds} rounds of ${writing / 1000} s each, in turn, in one process on one SQLite file, each answered when it is synced. A post is its row, its number, its words for searching, its author's read cursor and its event; raw inserts write the same with node:sqlite and commit each.`,
    "",
    table(["way", "writers", "posts/s", "to raw"], [...small, ...large]),
    "",
    `Reading ${pageSize} messages of ${number(last)}:`,
    "",
    table(["page", "p50 ms", "p99 ms"], pages),
  ]
}

const measureDelivery = async (folder: string): Promise<ReadonlyArray<string>> => {
  const house = await startHouse(join(folder, "house"))
  const [load, subscribers] = [startChild("load"), startChild("subscribers")]
  const headers = { authorization: `Bearer ${house.token}`, "content-type": "application/json" }
  const body = JSON.stringify({ name: "general", kind: "public" })
  await fetch(`http://127.0.0.1:${house.port}/api/v1/spaces`, { method: "POST", headers, body })
  const rows: Array<ReadonlyArray<string>> = []
  for (const count of [1, 100, 1000]) {
    await subscribers.ask({ do: "open", port: house.port, token: house.token, count })
    const found: Array<SubscribersAnswer & { readonly whole: boolean }> = []
    for (let round = 0; round < rounds; round++) {
      await subscribers.ask({ do: "reset" })
      const made = await load.ask<LoadAnswer>({
        port: house.port,
        connections: 8,
        method: "POST",
        path: "/api/v1/spaces/general/messages",
        token: house.token,
        body: JSON.stringify({ text }),
        warmMillis: 0,
        millis: 1500,
        pace: 50,
      })
      await sleep(200)
      const answer = await subscribers.ask<SubscribersAnswer>({ do: "report" })
      const whole = answer.fewest === made.answered && answer.most === made.answered && answer.faults === 0
      found.push({ ...answer, whole })
    }
    await subscribers.ask({ do: "close" })
    const of = (field: "p50" | "p99" | "longest") => spread(found.map((one) => one[field]))
    const whole = `${found.filter((one) => one.whole).length} of ${rounds}`
    rows.push([number(count), of("p50"), of("p99"), of("longest"), whole])
  }
  await Promise.all([load.stop(), subscribers.stop()])
  await house.stop()
  return [
    "From a post's own time, before its COMMIT, to each reader, 50 posts/s over HTTP, 1.5 s a round; whole: every reader got every post once and in order.",
    "",
    table(["readers", "p50 ms", "p99 ms", "longest ms", "whole"], rows),
  ]
}

export const spaces = async (): Promise<string> => {
  const folder = temporaryFolder()
  return [...(await measurePosts(folder)), "", ...(await measureDelivery(folder))].join("\n")
}
