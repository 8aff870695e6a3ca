/**
 * Memory: writing, getting, listing and asking at several sizes, on SQLite and on Postgres, against the reference memory
 * server of MCP where both can do the same; and how well our own questions are answered. `--sizes=1000,100000` says how
 * many records (1,000 if nothing is said); `--owners=1000` measures the largest once more, spread over so many owners.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import type { PrincipalId } from "@stoa/contract"
import { Effect, Layer, ManagedRuntime, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Storage } from "../../packages/server/src/access/limits/Storage.ts"
import { Principals } from "../../packages/server/src/access/identity/Principals.ts"
import { Meanings } from "../../packages/server/src/memory/meaning/Meanings.ts"
import { digestOf, textsOf } from "../../packages/server/src/memory/meaning/texts.ts"
import { Embeddings } from "../../packages/server/src/models/Embeddings.ts"
import { Languages } from "../../packages/server/src/models/Languages.ts"
import { Vectors } from "../../packages/server/src/store/search/vectors/Vectors.ts"
import { embeddingConfig, type LoopbackEmbedder, startEmbedder } from "../../test/embedder.ts"
import { Memories } from "../../packages/server/src/memory/Memories.ts"
import { questions, recallBySort, records } from "../../packages/server/src/memory/testing/labelledQuestions.ts"
import { migrations } from "../../packages/server/src/Migrations.ts"
import { Store } from "../../packages/server/src/store/database/Store.ts"
import { Holder } from "../../packages/server/src/store/leases/Holder.ts"
import { Journal } from "../../packages/server/src/store/journal/Journal.ts"
import { Timers } from "../../packages/server/src/store/journal/Timers.ts"
import { migrate } from "../../packages/server/src/store/Schemas.ts"
import { SearchIndex } from "../../packages/server/src/store/search/SearchIndex.ts"
import { insertRecords } from "./bulkInsert.ts"
import { startPostgres } from "../../test/postgres.ts"
import { delaysOf, number, table } from "../kit/measure.ts"
import { temporaryFolder } from "../processes.ts"

const numbersGiven = (name: string): ReadonlyArray<number> =>
  process.argv.flatMap((arg) =>
    arg.startsWith(`--${name}=`)
      ? arg
          .slice(name.length + 3)
          .split(",")
          .map(Number)
      : [],
  )
const tries = 60

const words = Array.from({ length: 4000 }, (_, n) => `word${n.toString(36)}`)
/** The same for the same number: common words often, rare ones seldom. */
const randomText = (n: number): string => {
  let state = (n + 1) * 2_654_435_761
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
  return Array.from({ length: 14 }, () => words[Math.floor(next() ** 3 * words.length)]!).join(" ")
}

const withoutMeanings = Layer.succeed(Meanings, { of: () => Effect.succeed<undefined>(undefined) })

const openMemory = <A>(
  store: ReturnType<typeof Store.layerSqlite>,
  meanings: Layer.Layer<Meanings | A> = withoutMeanings as Layer.Layer<Meanings | A>,
) => {
  const migrated = Layer.effectDiscard(migrate({ migrations, backup: () => Effect.succeed("nowhere") }))
  const ground = Journal.layer.pipe(Layer.provideMerge(migrated.pipe(Layer.provideMerge(store))))
  const floor = Layer.mergeAll(Timers.layer, SearchIndex.layer, Principals.layer("none"), Storage.layer).pipe(
    Layer.provideMerge(Layer.provideMerge(Holder.layer, ground)),
  )
  return ManagedRuntime.make(Memories.layer.pipe(Layer.provideMerge(meanings), Layer.provideMerge(floor)))
}

/** So many times, one after the other. */
const timed = async (count: number, act: (n: number) => Promise<unknown>): Promise<string> => {
  const millis: Array<number> = []
  for (let n = 0; n < count; n++) {
    const started = performance.now()
    await act(n)
    millis.push(performance.now() - started)
  }
  const { p50, p99 } = delaysOf(millis)
  return `${number(p50)} / ${number(p99)}`
}

/** Every question of ours, timed, and the keys of what was found. */
const askAll = async (
  ask: (question: string) => Promise<{ readonly items: ReadonlyArray<{ readonly key: string }> }>,
) => {
  const found = new Map<string, ReadonlyArray<string>>()
  const search = await timed(questions.length, async (n) => {
    const { question } = questions[n]!
    const { items } = await ask(question)
    found.set(
      question,
      items.map(({ key }) => key),
    )
  })
  return { found, search }
}

const figuresOf = async (name: string, store: ReturnType<typeof Store.layerSqlite>, size: number, owners: number) => {
  const runtime = openMemory(store)
  const run = runtime.runPromise.bind(runtime)
  const [{ transact }, memories, principals] = await Promise.all([run(Journal), run(Memories), run(Principals)])
  const ids: Array<PrincipalId> = []
  for (let n = 0; n < owners; n++)
    ids.push((await run(transact(principals.add({ kind: "agent", name: `owner ${n}` })))).id)
  const recordOf = (n: number) => ({
    owner: ids[n % owners]!,
    key: `talk/${Math.floor(n / owners / 20)}/${n}`,
    content: `Ann: ${randomText(n)}`,
  })
  const put = (n: number) => {
    const { owner, ...memory } = recordOf(n)
    return memories.put({ id: owner }, owner, { kind: "turn", ...memory })
  }
  const me = ids[0]!
  const started = performance.now()
  await run(insertRecords(size, recordOf, "owner 0"))
  const each = ((performance.now() - started) * 1000) / size
  for (const record of records) await run(transact(memories.put({ id: me }, me, { kind: "turn", ...record })))
  let id = (await run(transact(put(size + tries)))).record.id
  const write = await timed(tries, async (n) => {
    id = (await run(transact(put(size + n)))).record.id
  })
  const get = await timed(tries, () => run(memories.get({ id: ids[(size + tries - 1) % owners]! }, id)))
  const list = await timed(tries, () => run(memories.list({ id: me }, { limit: 50 })))
  const { found, search } = await askAll((q) => run(memories.list({ id: me }, { q, limit: 10 })))
  await runtime.dispose()
  const of = owners === 1 ? size.toLocaleString("en") : `${size.toLocaleString("en")} of ${owners} owners`
  return { row: [`${name}, ${of}`, number(each), write, get, list, search], recall: recallBySort(found) }
}

/** Our own questions by words and meaning together, with the deterministic model on loopback: the road, not a model's worth. */
const hybridRecall = async (name: string, store: ReturnType<typeof Store.layerSqlite>, model: LoopbackEmbedder) => {
  const declared = embeddingConfig(model.url)
  const access = { name: "loopback", declared, key: undefined, baseUrl: model.url }
  const languages = Layer.succeed(Languages, { embedding: Effect.succeedSome(access) } as never)
  const runtime = openMemory(store, Meanings.layer.pipe(Layer.provideMerge(Embeddings.layer), Layer.provide(languages)))
  const run = runtime.runPromise.bind(runtime)
  const [{ transact }, memories, principals] = await Promise.all([run(Journal), run(Memories), run(Principals)])
  const { id: me } = await run(transact(principals.add({ kind: "agent", name: "reader" })))
  const [vectors, embedder] = [
    await run(Vectors),
    Option.getOrThrow(await run(Effect.flatMap(Embeddings, (one) => one.current))),
  ]
  for (const record of records) {
    const { record: stored } = await run(transact(memories.put({ id: me }, me, { kind: "turn", ...record })))
    const texts = textsOf(stored)
    const given = await run(embedder.embed(texts))
    await run(transact(vectors.put({ ref: stored.id, model: embedder.id, digest: digestOf(texts) }, given)))
  }
  const { found, search } = await askAll((q) => run(memories.list({ id: me }, { q, limit: 10 })))
  await runtime.dispose()
  return [`${name}, hybrid, ${search} ms`, ...[...recallBySort(found).values()].map((share) => share.toFixed(2))]
}

/** `@modelcontextprotocol/server-memory` over stdio, as its clients speak to it. */
const peer = async (size: number): Promise<ReadonlyArray<string>> => {
  const file = join(temporaryFolder(), "memory.jsonl")
  const program = new URL("../../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url)
    .pathname
  const child = spawn(process.execPath, [program], {
    env: { MEMORY_FILE_PATH: file },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const waiting = new Map<number, (answer: unknown) => void>()
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop()!
    for (const line of lines) {
      const answer = JSON.parse(line) as { readonly id?: number }
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
    }
  })
  let last = 0
  const send = (method: string, params: object) =>
    new Promise((done) => {
      waiting.set(++last, done)
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`)
    })
  const call = (name: string, args: object) => send("tools/call", { name, arguments: args })
  await send("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  })
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`)
  const entity = (n: number) => ({ name: `turn ${n}`, entityType: "turn", observations: [`Ann: ${randomText(n)}`] })
  const started = performance.now()
  await call("create_entities", { entities: Array.from({ length: size }, (_, n) => entity(n)) })
  const each = ((performance.now() - started) * 1000) / size
  const write = await timed(tries, (n) => call("create_entities", { entities: [entity(size + n)] }))
  const get = await timed(tries, (n) => call("open_nodes", { names: [`turn ${n}`] }))
  const list = await timed(tries, () => call("read_graph", {}))
  const search = await timed(tries, (n) => call("search_nodes", { query: words[n]! }))
  child.kill()
  return [`server-memory over stdio, ${size.toLocaleString("en")}`, number(each), write, get, list, search]
}

const make = async (url: string, database: string): Promise<void> => {
  const runtime = ManagedRuntime.make(Store.layerPostgres(Redacted.make(url)))
  await runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${database}`)))
  await runtime.dispose()
}

const operations = ["write", "get", "list 50", "search"]
const p50 = (cell: string): number => Number(cell.split(" / ")[0]!.replaceAll(",", ""))

/** How p50 grows from the smallest size to the largest, and the peer's over ours at 1,000. */
const ratiosOf = (rows: ReadonlyArray<ReadonlyArray<string>>, peers: ReadonlyArray<string>): ReadonlyArray<string> => {
  const over = (one: ReadonlyArray<string>, other: ReadonlyArray<string>) =>
    operations.map((name, at) => `${name} ${(p50(one[at + 2]!) / p50(other[at + 2]!)).toFixed(1)} x`).join(", ")
  const of = (name: string) => rows.filter(([label]) => label!.startsWith(`${name}, `))
  return ["SQLite", "Postgres"].flatMap((name) => {
    const [first, ...larger] = of(name)
    if (first === undefined) return []
    const grown = larger.map((row) => `- ${row[0]} over ${first[0]}: ${over(row, first)}`)
    const thousand = first[0] === `${name}, 1,000` ? [`- the peer over ${first[0]}: ${over(peers, first)}`] : []
    return [...grown, ...thousand]
  })
}

export const memory = async (): Promise<string> => {
  const sizes = numbersGiven("sizes").length === 0 ? [1000] : numbersGiven("sizes")
  const spread = numbersGiven("owners")[0] ?? 1
  const forms = [
    ...sizes.map((size) => ({ size, owners: 1 })),
    ...(spread === 1 ? [] : [{ size: Math.max(...sizes), owners: spread }]),
  ]
  const postgres = await startPostgres({})
  const rows: Array<ReadonlyArray<string>> = []
  const recall: Array<ReadonlyArray<string>> = []
  for (const { owners, size } of forms) {
    const sqlite = Store.layerSqlite(join(temporaryFolder(), "memory.db"))
    const database = `memory_${size}_${owners}`
    const url = postgres.url.replace(/\/postgres$/, `/${database}`)
    await make(postgres.url, database)
    for (const [name, store] of [
      ["SQLite", sqlite] as const,
      ["Postgres", Store.layerPostgres(Redacted.make(url))] as const,
    ]) {
      const figures = await figuresOf(name, store, size, owners)
      rows.push(figures.row)
      recall.push([figures.row[0]!, ...[...figures.recall.values()].map((share) => share.toFixed(2))])
    }
  }
  const model = await startEmbedder()
  await make(postgres.url, "memory_hybrid")
  for (const [name, store] of [
    ["SQLite", Store.layerSqlite(join(temporaryFolder(), "hybrid.db"))] as const,
    ["Postgres", Store.layerPostgres(Redacted.make(postgres.url.replace(/\/postgres$/, "/memory_hybrid")))] as const,
  ])
    recall.push(await hybridRecall(name, store, model))
  await model.close()
  const peers = await peer(1000)
  rows.push(peers)
  await postgres.stop()
  const sorts = [...new Set(questions.map(({ sort }) => sort))]
  return [
    `${tries} of each, one after the other, p50 / p99 in ms; filling in bulk, us a record (the rows that writing one by one would leave). The peer keeps a file, syncs nothing, lists all of it and finds substrings; ours syncs every write and answers questions.`,
    "",
    table(["records", "fill us", "write", "get", "list 50", "search"], rows),
    "",
    ...ratiosOf(rows, peers),
    "",
    "Recall@10 of our own questions, their 119 records among the others; hybrid: those alone, with a deterministic model on loopback, for which nothing is claimed:",
    "",
    table(["store", ...sorts], recall),
  ].join("\n")
}
