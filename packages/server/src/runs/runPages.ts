/**
 * What a run told its model and got from it, and its steps, a page at a time: a run may have thousands of calls. First
 * the keys of a page are read, then what they stand for, a few at a time, until the page is full.
 */
import { type Page, type PageQuery, type RunId, RunMessage, RunStep, type RunWait } from "@stoa/contract"
import { Array as Arr, DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { callFrom, type CallRow } from "../calls/Calls.ts"
import { decodeCursor, encodeCursor, largestPage, sizeOf } from "../store/Pages.ts"
import { partsOf, type PromptRow, type StepRow } from "./record/rows.ts"
import { type CallQuestion, stepCallOf } from "./stepCall.ts"

/** Both lists were read whole before they had pages: runs that are not long still fit on one. */
const usual = 100
const atOnce = 10
/** The most calls that one step lists; `runs/:run/messages` has all. */
const mostCalls = 200

/** A message, in the order of the model's conversation: text, calls, their results, what it was told next. */
interface Key {
  readonly step: number
  readonly phase: number
  readonly place: number
}
const [said, asked, returned, told] = [0, 1, 2, 3]

const textOf = (row: StepRow, type: "text" | "reasoning") =>
  partsOf(row)
    .flatMap((part) => (part.type === type ? [part.text] : []))
    .join("")

export const makeRunPages = (sql: SqlClient.SqlClient) => {
  const literal = (phase: number) => sql.literal(String(phase))
  const keysAfter = (run: RunId, { phase, place, step }: Key, most: number) =>
    sql<Key>`SELECT step, phase, place FROM (
        SELECT number AS step, ${literal(said)} AS phase, 0 AS place FROM steps WHERE run = ${run}
        UNION ALL SELECT step, ${literal(asked)} AS phase, place FROM calls WHERE run = ${run} AND place IS NOT NULL
        UNION ALL SELECT step, ${literal(returned)} AS phase, place FROM calls
          WHERE run = ${run} AND place IS NOT NULL AND settled_at IS NOT NULL
        UNION ALL SELECT step, ${literal(told)} AS phase, seq AS place FROM run_messages WHERE run = ${run}) AS keys
      WHERE step > ${step} OR (step = ${step} AND (phase > ${phase} OR (phase = ${phase} AND place > ${place})))
      ORDER BY step, phase, place LIMIT ${most}`

  /** The rows that some keys stand for. */
  const rowsOf = Effect.fnUntraced(function* (run: RunId, keys: ReadonlyArray<Key>) {
    const calls = keys.filter(({ phase }) => phase === asked || phase === returned)
    const steps = keys.filter(({ phase }) => phase === said)
    const texts = keys.filter(({ phase }) => phase === told)
    return {
      steps:
        steps.length === 0
          ? []
          : yield* sql<StepRow>`SELECT * FROM steps WHERE run = ${run} AND ${sql.in(
              "number",
              steps.map(({ step }) => step),
            )}`,
      texts:
        texts.length === 0
          ? []
          : yield* sql<PromptRow>`SELECT * FROM run_messages WHERE run = ${run} AND ${sql.in(
              "seq",
              texts.map(({ place }) => place),
            )}`,
      calls:
        calls.length === 0
          ? []
          : yield* sql<CallRow>`SELECT * FROM calls WHERE run = ${run}
              AND ${sql.or(calls.map(({ place, step }) => sql`(step = ${step} AND place = ${place})`))}`,
    }
  })

  const messages = Effect.fnUntraced(function* (
    run: RunId,
    { cursor, limit = usual }: PageQuery,
  ): Effect.fn.Return<Page<RunMessage>> {
    const [seq = 0, step = -1, phase = 0, place = 0] =
      cursor === undefined ? [] : decodeCursor(cursor).split(" ").map(Number)
    const keys = yield* Effect.orDie(keysAfter(run, { step, phase, place }, limit + 1))
    const items: Array<RunMessage> = []
    let size = 0
    let last: Key | undefined
    const add = (message: Omit<ConstructorParameters<typeof RunMessage>[0], "seq">, row: object) => {
      size += sizeOf(row)
      items.push(new RunMessage({ ...message, seq: seq + items.length + 1 }))
    }
    for (const some of Arr.chunksOf(keys.slice(0, limit), atOnce)) {
      const { calls, steps, texts } = yield* Effect.orDie(rowsOf(run, some))
      for (const key of some) {
        if (size > largestPage) break
        last = key
        if (key.phase === said) {
          const row = steps.find(({ number }) => number === key.step)
          const text = row === undefined ? "" : textOf(row, "text")
          if (text !== "") add({ kind: "assistant_message", step: key.step, text }, { text })
        } else if (key.phase === told) {
          const row = texts.find(({ seq }) => seq === key.place)
          if (row === undefined) continue
          const kind = row.kind === "system" ? "system_message" : "user_message"
          add({ kind, step: key.step, text: row.body }, row)
        } else {
          const row = calls.find((one) => one.step === key.step && one.place === key.place)
          if (row === undefined) continue
          const about = { step: key.step, call: row.id, tool: row.tool }
          if (key.phase === asked) {
            const input = JSON.parse(row.input) as unknown
            add({ kind: "tool_call_message", ...about, input }, { input: row.input })
            continue
          }
          const { error, output, state } = callFrom(row)
          const result = { ...(output === undefined ? {} : { output }), ...(error === undefined ? {} : { error }) }
          add({ kind: "tool_return_message", ...about, state, ...result }, row)
        }
      }
    }
    const end = keys.slice(0, limit).at(-1)
    const more = last !== undefined && (keys.length > limit || last !== end)
    const at = last === undefined ? "" : `${seq + items.length} ${last.step} ${last.phase} ${last.place}`
    return { items, next: more ? encodeCursor(at) : null }
  })

  /** The first calls of some steps, and how many each has. */
  const callsOf = Effect.fnUntraced(function* (run: RunId, steps: ReadonlyArray<number>) {
    const calls: Array<CallRow> = []
    const counts = new Map<number, number>()
    for (const step of steps) {
      const own = sql`run = ${run} AND step = ${step}`
      const rows = yield* sql<CallRow>`SELECT * FROM calls WHERE ${own} ORDER BY place LIMIT ${mostCalls}`
      calls.push(...rows)
      if (rows.length === mostCalls)
        counts.set(step, (yield* sql<{ n: number }>`SELECT count(*) AS n FROM calls WHERE ${own}`)[0]!.n)
    }
    return { calls, counts }
  })

  /** `waits`: all of the run. */
  const steps = Effect.fnUntraced(function* (
    run: RunId,
    { cursor, limit = usual }: PageQuery,
    waits: ReadonlyArray<RunWait>,
  ): Effect.fn.Return<Page<RunStep>> {
    const after = cursor === undefined ? -1 : Number(decodeCursor(cursor))
    const begins = yield* Effect.orDie(
      sql<Pick<StepRow, "number" | "beganAt">>`SELECT number, began_at FROM steps
        WHERE run = ${run} AND number > ${after} ORDER BY number LIMIT ${limit + 1}`,
    )
    const items: Array<RunStep> = []
    let size = 0
    for (const some of Arr.chunksOf(begins.slice(0, limit), atOnce)) {
      if (size > largestPage) break
      const numbers = some.map(({ number }) => number)
      const rows = yield* Effect.orDie(
        sql<StepRow>`SELECT * FROM steps WHERE run = ${run} AND ${sql.in("number", numbers)} ORDER BY number`,
      )
      const { calls, counts } = yield* Effect.orDie(callsOf(run, numbers))
      const questions =
        calls.length === 0
          ? []
          : yield* Effect.orDie(
              sql<CallQuestion>`SELECT d.id, c.id AS call, d.created_at, d.answered_at, d.state FROM calls c
                JOIN decisions d ON d.call = COALESCE(c.copy_of, c.id)
                WHERE c.run = ${run} AND ${sql.in("c.step", numbers)} ORDER BY d.id LIMIT ${atOnce * mostCalls}`,
            )
      for (const row of rows) {
        if (size > largestPage) break
        const own = calls.filter(({ step }) => step === row.number)
        size += sizeOf(row) + own.reduce((sum, { input }) => sum + input.length, 0)
        const next = begins.find(({ number }) => number > row.number)
        /**
         * The waits of a call belong to its step; waits of the run itself belong to the step that was under way when
         * they began.
         */
        const waited = waits.filter(({ call, since }) => {
          if (call !== undefined && calls.some(({ id }) => id === call)) return own.some(({ id }) => id === call)
          const at = DateTime.formatIso(since)
          return call === undefined && row.beganAt <= at && (next === undefined || at < next.beganAt)
        })
        const reasoning = textOf(row, "reasoning")
        const left = (counts.get(row.number) ?? 0) - mostCalls
        items.push(
          new RunStep({
            number: row.number,
            state: row.state,
            text: textOf(row, "text"),
            ...(reasoning === "" ? {} : { reasoning }),
            calls: stepCalls(row, own, questions),
            ...(left <= 0 ? {} : { callsLeftOut: left }),
            ...(waited.length === 0 ? {} : { waits: waited }),
            finish: row.finish,
            model: row.model,
            tokens: { in: row.tokensIn, out: row.tokensOut, cached: row.tokensCached },
            cost: row.costMicros / 1e6,
            beganAt: DateTime.makeUnsafe(row.beganAt),
            saidAt: row.saidAt === null ? null : DateTime.makeUnsafe(row.saidAt),
          }),
        )
      }
    }
    const last = items.at(-1)
    return {
      items,
      next: last !== undefined && begins.length > items.length ? encodeCursor(String(last.number)) : null,
    }
  })

  return { messages, steps }
}

/** What a step asked for, and what became of it. */
const stepCalls = (row: StepRow, own: ReadonlyArray<CallRow>, questions: ReadonlyArray<CallQuestion>) => {
  const wanted = partsOf(row)
    .filter((part) => part.type === "call")
    .slice(0, mostCalls)
  return [
    ...wanted.map((part, at) => {
      const call = own.find(({ place }) => place === at + 1)
      return {
        place: at + 1,
        tool: call?.tool ?? part.tool,
        input: part.input,
        ...(call === undefined ? {} : stepCallOf(call, questions)),
      }
    }),
    // A program makes its calls itself: its step lists none.
    ...own.flatMap((call) =>
      call.place === null || call.place <= wanted.length
        ? []
        : [
            {
              place: call.place,
              tool: call.tool,
              input: JSON.parse(call.input) as unknown,
              ...stepCallOf(call, questions),
            },
          ],
    ),
  ]
}
