/** Rows of the questions that calls asked, and the decision that shows a server's form to people. */
import type { CallId, JsonSchema } from "@stoa/contract"
import { digestOf } from "@stoa/tools"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isGone } from "../../store/leases/Holder.ts"
import { Flag } from "../../store/database/dialect/Columns.ts"
import { inState } from "../../store/database/dialect/States.ts"
import { open } from "../road/record/lifecycle.ts"
import type { Answers, InputRequired, Questions } from "../../servers/InputRequired.ts"

type JsonObject = Readonly<Record<string, unknown>>

export interface AskedQuestions {
  readonly questions: Questions
  readonly answers: Answers
  readonly state: Schema.Json
  readonly decision: string | null
  /** The capabilities of the calling client; null if there was none. */
  readonly client: JsonObject | null
  /** The process that holds the server's stream. */
  readonly holder: string | null
  readonly isTask: boolean
}

interface Row {
  readonly questions: string
  readonly answers: string
  readonly state: string
  readonly decision: string | null
  readonly client: string | null
  readonly holder: string | null
  readonly isTask: unknown
}

const flag = Schema.decodeUnknownSync(Flag)
const json = <A>(text: string): A => JSON.parse(text) as A
const from = (row: Row): AskedQuestions => ({
  questions: json(row.questions),
  answers: json(row.answers),
  state: json(row.state),
  decision: row.decision,
  client: row.client === null ? null : json(row.client),
  holder: row.holder,
  isTask: flag(row.isTask),
})

const isForm = ({ method }: Questions[string]): boolean => method === "elicitation/create"

/** The questions that people can answer. */
export const forms = (questions: Questions): ReadonlyArray<readonly [string, Questions[string]]> =>
  Object.entries(questions).filter(([, one]) => isForm(one))

/** The unanswered questions. If the decision is closed, its forms have an answer, which is about to arrive. */
export const unanswered = ({ answers, questions }: AskedQuestions, isDecided = false): Questions =>
  Object.fromEntries(
    Object.entries(questions).filter(([key, one]) => answers[key] === undefined && !(isDecided && isForm(one))),
  )

/** What a waiting call asks now. */
export interface OpenQuestions extends AskedQuestions {
  /** Identifies the question: an answer to one is no answer to the next, even with the same keys. */
  readonly question: string
  readonly open: Questions
}

export const openQuestionsOf = (asked: AskedQuestions, isDecided: boolean): OpenQuestions => ({
  ...asked,
  question: digestOf([asked.decision, asked.questions, asked.state]),
  open: unanswered(asked, isDecided),
})

const anything: JsonSchema = { type: "object" }
const schemaOf = ({ params }: Questions[string]): JsonSchema =>
  (params["requestedSchema"] as JsonSchema | undefined) ?? anything
const longest = 4000
const wordsOf = ({ params }: Questions[string]): string => {
  const url = typeof params["url"] === "string" ? `\n${params["url"]}` : ""
  return (typeof params["message"] === "string" ? params["message"] : "A server asks").slice(0, longest) + url
}

/** One question to people, however many forms the server sent: one form, or one with a part for each. */
export const formOf = (
  questions: Questions,
): { readonly question: string; readonly schema: JsonSchema; readonly url?: string } | undefined => {
  const all = forms(questions)
  if (all.length === 0) return undefined
  const question = all.map(([, one]) => wordsOf(one)).join("\n")
  if (all.length === 1) {
    const { params } = all[0]![1]
    const url = params["mode"] === "url" && typeof params["url"] === "string" ? { url: params["url"] } : {}
    return { question, schema: schemaOf(all[0]![1]), ...url }
  }
  const properties = Object.fromEntries(all.map(([key, one]) => [key, schemaOf(one)]))
  return { question, schema: { type: "object", properties, required: all.map(([key]) => key) } }
}

/** The answer to each form, from a decision. Without an answer it counts as cancelled. */
export const answersFrom = (
  questions: Questions,
  { state, value, verdict }: { readonly state: string; readonly verdict: string | null; readonly value: string | null },
): Answers => {
  const all = forms(questions)
  const given = value === null ? {} : json<JsonObject>(value)
  const action = verdict === "submit" ? "accept" : state === "answered" ? "decline" : "cancel"
  return Object.fromEntries(
    all.map(([key, { params }]) => {
      const content = (all.length === 1 ? given : (given[key] ?? {})) as JsonObject
      // A question in URL mode has no content: nothing was filled in here.
      return [key, action === "accept" && params["mode"] !== "url" ? { action, content } : { action }]
    }),
  )
}

/** The reverse: a client's answers to all forms as the answer to the decision. */
export const verdictFrom = (questions: Questions, answers: Answers) => {
  const all = forms(questions).map(([key]) => [key, answers[key] ?? {}] as const)
  const refused = all.find(([, one]) => one["action"] !== "accept")
  if (refused !== undefined)
    return { verdict: "deny", note: `The client's user said: ${String(refused[1]["action"])}` } as const
  const value = (
    all.length === 1
      ? (all[0]![1]["content"] ?? {})
      : Object.fromEntries(all.map(([key, one]) => [key, one["content"] ?? {}]))
  ) as Schema.Json
  return { verdict: "submit", value } as const
}

/** The answers to open questions. Whether they are valid is for the server to check: it is its form. */
export const answersTo = (open: Questions, answers: Answers): Answers =>
  Object.fromEntries(Object.keys(open).flatMap((key) => (answers[key] ? [[key, answers[key]]] : [])))

export const makeQuestions = Effect.map(SqlClient.SqlClient, (sql) => ({
  of: Effect.fnUntraced(function* (call: string) {
    const rows = yield* Effect.orDie(sql<Row>`SELECT * FROM call_questions WHERE call = ${call}`)
    return rows[0] === undefined ? undefined : from(rows[0])
  }),

  /** The same, locked until the transaction ends: of two concurrent answers, the second sees the first. */
  held: Effect.fnUntraced(function* (call: string) {
    const rows = yield* Effect.orDie(
      sql<Row>`UPDATE call_questions SET answers = answers WHERE call = ${call} RETURNING *`,
    )
    return rows[0] === undefined ? undefined : from(rows[0])
  }),

  /** A call asks one thing at a time: its earlier questions are answered. */
  put: Effect.fnUntraced(function* (
    call: CallId,
    asked: InputRequired,
    about: { readonly decision: string | null; readonly client: JsonObject | null; readonly holder: string | null },
  ) {
    yield* Effect.orDie(sql`DELETE FROM call_questions WHERE call = ${call}`)
    const row = {
      call,
      questions: JSON.stringify(asked.questions),
      answers: "{}",
      state: JSON.stringify(asked.state),
      decision: about.decision,
      client: about.client === null ? null : JSON.stringify(about.client),
      holder: about.holder,
      isTask: asked.isTask,
    }
    yield* Effect.orDie(sql`INSERT INTO call_questions ${sql.insert(row as never)}`)
  }),

  answer: (call: string, answers: Answers) =>
    Effect.orDie(sql`UPDATE call_questions SET answers = ${JSON.stringify(answers)} WHERE call = ${call}`),

  forget: (call: string) => Effect.orDie(sql`DELETE FROM call_questions WHERE call = ${call}`),

  /** Calls that still wait although their decision is closed, and that this process may continue. */
  answered: (me: string) =>
    Effect.orDie(
      sql<{ call: string; decision: string }>`SELECT q.call, q.decision FROM call_questions q
        JOIN calls c ON c.id = q.call JOIN decisions d ON d.id = q.decision
        WHERE ${inState(sql, open, "c")} AND c.state = 'waiting' AND (q.holder IS NULL OR q.holder = ${me}) AND d.state <> 'open'`,
    ),

  /** Calls whose streams were held by dead processes. */
  orphans: Effect.map(
    Effect.orDie(
      sql<{ call: string }>`SELECT q.call FROM call_questions q JOIN calls c ON c.id = q.call
        WHERE ${inState(sql, open, "c")} AND c.state = 'waiting' AND q.holder IS NOT NULL AND ${isGone(sql, "q.holder")}`,
    ),
    (rows) => rows.map(({ call }) => call),
  ),
}))
