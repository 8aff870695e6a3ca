/**
 * What has come since a run's last step: replies to its requests, and results of calls that took longer. A program is
 * told it in its next turn, a model in its next step.
 */
import type { Caller } from "@stoa/contract"
import { nearNameOf } from "../../access/identity/Agents.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { callFrom, type CallRow } from "../../calls/Calls.ts"
import type { Part } from "../../models/request/ModelOutput.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { usualWindow } from "../../models/text/Estimate.ts"
import { tokensFor } from "../prompt/shares.ts"
import { shortenedAll } from "../prompt/shorten.ts"
import { profileNamed } from "../profile.ts"
import { envelopeOf, type PromptRow, type RunRow, type TriggerRow } from "../record/rows.ts"
import { closedOf, type ClosedRow } from "./closed.ts"
import { type Mail, nameInMail, newsText } from "./mail.ts"

export const programOf = (model: string | null): string | undefined =>
  model?.startsWith("program:") === true ? model.slice("program:".length) : undefined

/** What a run has besides its steps: open waits, and outcomes that it was not told yet. */
export interface PendingNews {
  readonly waits: number
  readonly closed: ReadonlyArray<ClosedRow>
  readonly late: ReadonlyArray<CallRow>
}
export const noPendingNews: PendingNews = { waits: 0, closed: [], late: [] }

export interface TurnWork {
  readonly row: RunRow
  readonly triggers: ReadonlyArray<TriggerRow>
  readonly promptRows: ReadonlyArray<PromptRow>
  readonly steps: ReadonlyArray<{
    readonly number: number
    readonly model: string | null
    readonly state: string
    readonly parts: ReadonlyArray<Part>
  }>
  readonly calls: ReadonlyArray<CallRow>
}

/** A call that took longer than this, or waited, returned to the program early: its result is told in the next turn. */
const heldMs = 4500
const isLate = (call: CallRow): boolean =>
  call.settledAt !== null && (call.onKind !== null || Date.parse(call.settledAt) - Date.parse(call.createdAt) >= heldMs)

const resultText = (row: CallRow): string => {
  const { error, output, outputFile } = callFrom(row)
  if (error !== undefined) return `It failed: ${error.message}`
  if (outputFile !== undefined) return `Its result is the file ${outputFile.file} (${outputFile.size} bytes).`
  return typeof output === "string" ? output : JSON.stringify(output ?? null)
}

/** How many tokens the news of one turn, and each part of it, may have: its model is not known here. */
const room = tokensFor("news", usualWindow)

/** How a call is listed after an interrupted turn. */
const callLine = (row: CallRow): string => `${row.tool} (call ${row.id}): ${row.state}`

export const makeRunNews = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const grants = yield* Grants

  const nameOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, isTeam: boolean) {
    if (ids.length === 0) return new Map<string, string>()
    const near = isTeam ? nearNameOf(sql, sql`id`, sql`name`) : sql`name`
    const found = yield* Effect.orDie(
      sql<{
        id: string
        name: string
        kind: string
      }>`SELECT id, ${near} AS name, kind FROM principals WHERE ${sql.in("id", ids)}`,
    )
    const called = nameInMail(isTeam)
    return new Map(found.map((one) => [one.id, called(one)]))
  })

  const mailOf = Effect.fnUntraced(function* ({ profile }: RunRow, triggers: ReadonlyArray<TriggerRow>) {
    const authors = triggers.flatMap(({ author }) => (author === null ? [] : [author]))
    const names = yield* nameOf([...new Set(authors)], profileNamed(profile).inbox)
    return triggers.map((trigger): Mail => {
      const { author, kind, message, text } = trigger
      const envelope = envelopeOf(trigger)
      const system = envelope?.kind === "error" ? "system" : null
      return {
        from: author === null || kind === "service" ? system : (names.get(author) ?? null),
        kind,
        message,
        text,
        replyTo: envelope?.kind === "response" ? envelope.replyTo : null,
      }
    })
  })

  /** Requests that belong to the run: no call waits for their replies. */
  const requestsOf = ({ id }: RunRow) =>
    Effect.orDie(sql<ClosedRow>`SELECT id, message, state, outcome, told FROM waits WHERE run = ${id} AND call = ''`)
  const isUntold = ({ state, told }: ClosedRow) => state !== "open" && state !== "canceled" && told === null

  /** Waits and late results besides the steps, read when the steps are complete. */
  const pending = Effect.fnUntraced(function* (work: TurnWork) {
    const { row, steps } = work
    const last = steps.at(-1)
    if (last === undefined) return noPendingNews
    const requests = yield* requestsOf(row)
    const about = {
      waits: requests.filter(({ state }) => state === "open").length,
      closed: requests.filter(isUntold),
    }
    if (programOf(last.model) === undefined) return { ...about, late: [] } satisfies PendingNews
    const began = yield* Effect.orDie(
      sql<{ beganAt: string }>`SELECT began_at FROM steps WHERE run = ${row.id} AND number = ${last.number}`,
    )
    const since = began[0]?.beganAt ?? ""
    return {
      ...about,
      late: work.calls.filter((call) => isLate(call) && call.settledAt! >= since),
    } satisfies PendingNews
  })

  /** Whether replies are still to come, or to be told, after a step that is told `now`. */
  const isMore = Effect.fnUntraced(function* (row: RunRow, now: PendingNews) {
    if (!profileNamed(row.profile).inbox) return false
    const told = new Set(now.closed.map(({ id }) => id))
    return (yield* requestsOf(row)).some((one) => one.state === "open" || (isUntold(one) && !told.has(one.id)))
  })

  /** Notes with which step the outcomes of requests are told. */
  const note = (step: number, { closed }: PendingNews): Effect.Effect<void, never, Transaction> =>
    closed.length === 0
      ? Effect.void
      : Effect.orDie(
          sql`UPDATE waits SET told = ${step} WHERE ${sql.in(
            "id",
            closed.map(({ id }) => id),
          )}`,
        )

  const inboxOf = (agent: string) =>
    Effect.map(
      Effect.orDie(sql<{ n: number }>`SELECT count(*) AS n FROM triggers WHERE agent = ${agent} AND run IS NULL
        AND delivered_at IS NULL`),
      (found) => found[0]!.n,
    )

  const textOf = Effect.fnUntraced(function* (work: TurnWork, caller: Caller["Service"], aside: PendingNews) {
    const viewer = yield* grants.viewerOf(caller, "spaces")
    const last = work.steps.at(-1)
    const isCut = last?.state === "cut"
    return newsText({
      ...(isCut
        ? {
            cut: {
              why: "the house stopped while you worked.",
              calls: work.calls.filter(({ step }) => step === last.number).map(callLine),
              mail: shortenedAll(yield* mailOf(work.row, work.triggers), room),
            },
          }
        : {}),
      closed: (yield* closedOf(sql, aside.closed, viewer, nameInMail(profileNamed(work.row.profile).inbox))).map(
        (one) => ({ ...one, replies: shortenedAll(one.replies, Math.floor(room / aside.closed.length)) }),
      ),
      late: shortenedAll(
        aside.late.map((row) => ({ call: row.id, tool: row.tool, text: resultText(row) })),
        room,
      ),
      inbox: yield* inboxOf(work.row.agent),
    })
  })

  return { mailOf, pending, isMore, note, textOf }
})
