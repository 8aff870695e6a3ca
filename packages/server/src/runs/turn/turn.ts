/**
 * A turn of an agent that is a program: the same step of the same run, carried out by a process. The program makes its
 * calls itself, at the MCP door, with a token that ends with the turn; after it, the rows say what is next.
 */
import type { Agent, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { callFrom, type CallRow } from "../../calls/Calls.ts"
import { Address } from "../../calls/waiting/Address.ts"
import type { Part } from "../../models/request/ModelOutput.ts"
import { Programs, type TurnSaid } from "../../programs/Programs.ts"
import { Prompts } from "../Prompts.ts"
import type { Record } from "../record/record.ts"
import { profileNamed } from "../profile.ts"
import { type RunEnd, envelopeOf, type RunRow, type PromptRow, type TriggerRow } from "../record/rows.ts"
import { makeAnswer } from "./answer.ts"
import { closedOf, type ClosedRow } from "./closed.ts"
import { nameInMail, type Mail, mailText, newsText } from "./mail.ts"
import { makeTurnRows } from "./rows.ts"

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
  readonly told: ReadonlyArray<PromptRow>
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

/** How a call is listed after an interrupted turn. */
const callLine = (row: CallRow): string => `${row.tool} (call ${row.id}): ${row.state}`

export const makeTurn = Effect.fnUntraced(function* (record: Record) {
  const sql = yield* SqlClient.SqlClient
  const programs = yield* Programs
  const prompts = yield* Prompts
  const address = yield* Address
  const grants = yield* Grants
  const rows = yield* makeTurnRows(record)
  const answerWith = yield* makeAnswer(record)

  const nameOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, isTeam: boolean) {
    if (ids.length === 0) return new Map<string, string>()
    const found = yield* Effect.orDie(
      sql<{ id: string; name: string; kind: string }>`SELECT id, name, kind FROM principals WHERE ${sql.in("id", ids)}`,
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

  /** Waits and late results besides the steps, read when the steps are complete. */
  const beside = Effect.fnUntraced(function* (work: TurnWork) {
    const { row, steps } = work
    const last = steps.at(-1)
    if (last === undefined) return noPendingNews
    const waits = yield* Effect.orDie(
      sql<ClosedRow>`SELECT id, message, state, outcome, told FROM waits WHERE run = ${row.id} AND call = ''`,
    )
    const began = yield* Effect.orDie(
      sql<{ beganAt: string }>`SELECT began_at FROM steps WHERE run = ${row.id} AND number = ${last.number}`,
    )
    const since = began[0]?.beganAt ?? ""
    return {
      waits: waits.filter(({ state }) => state === "open").length,
      closed: waits.filter(({ state, told }) => state !== "open" && state !== "canceled" && told === null),
      late:
        programOf(last.model) === undefined
          ? []
          : work.calls.filter((call) => isLate(call) && call.settledAt! >= since),
    } satisfies PendingNews
  })

  const inboxOf = (agent: string) =>
    Effect.map(
      Effect.orDie(sql<{ n: number }>`SELECT count(*) AS n FROM triggers WHERE agent = ${agent} AND run IS NULL
        AND delivered_at IS NULL`),
      (found) => found[0]!.n,
    )

  const newsFor = Effect.fnUntraced(function* (work: TurnWork, caller: Caller["Service"], aside: PendingNews) {
    const viewer = yield* grants.viewerOf(caller, "spaces")
    const last = work.steps.at(-1)
    const isCut = last?.state === "cut"
    return newsText({
      ...(isCut
        ? {
            cut: {
              why: "the house stopped while you worked.",
              calls: work.calls.filter(({ step }) => step === last.number).map(callLine),
              mail: yield* mailOf(work.row, work.triggers),
            },
          }
        : {}),
      closed: yield* closedOf(sql, aside.closed, viewer, nameInMail(profileNamed(work.row.profile).inbox)),
      late: aside.late.map((row) => ({ call: row.id, tool: row.tool, text: resultText(row) })),
      inbox: yield* inboxOf(work.row.agent),
    })
  })

  /** What it is told now, as rows: first the whole prompt, then what has come. */
  const toldNow = Effect.fnUntraced(function* (
    work: TurnWork,
    agent: Agent,
    caller: Caller["Service"],
    number: number,
    aside: PendingNews,
  ) {
    const { row } = work
    const seq = work.told.length
    if (seq > 0) {
      const body = yield* newsFor(work, caller, aside)
      return [{ run: row.id, seq: seq + 1, kind: "user", body, step: number - 1 }] satisfies ReadonlyArray<PromptRow>
    }
    const { system } = yield* prompts.make({
      agent,
      caller,
      profile: row.profile,
      persona: agent.persona,
      context: null,
      speaks: true,
      run: row.id,
      space: null,
      triggers: [],
    })
    return [
      { run: row.id, seq: 1, kind: "system", body: system, step: 0 },
      { run: row.id, seq: 2, kind: "user", body: mailText(yield* mailOf(row, work.triggers)), step: 0 },
    ] satisfies ReadonlyArray<PromptRow>
  })

  /** The turn of a dead house is over: it is marked as interrupted, and never silently repeated. */
  const cut = (row: RunRow, number: number) =>
    rows.change(
      row,
      number,
      "cut",
      { text: "", finish: "cut" },
      { tokensIn: 0, tokensOut: 0, cached: 0, costMicros: 0, busyMs: 0 },
      undefined,
    )

  /** How the run ends, if it does; undefined: it continues. `false`: it is no longer ours. */
  const take = Effect.fn("Run.turn")(function* (
    work: TurnWork,
    agent: Agent,
    caller: Caller["Service"],
    number: number,
    aside: PendingNews,
    show: (text: string) => void,
    busy: () => number,
  ) {
    const { row } = work
    const { thinker } = agent
    if (thinker.kind !== "program") return yield* Effect.die(new Error("not a program"))
    const told = yield* toldNow(work, agent, caller, number, aside)
    const system = [...work.told, ...told].find(({ kind }) => kind === "system")?.body ?? ""
    const url = `${yield* address.here}/mcp`
    const session = yield* rows.sessionOf(row.agent, thinker.program)
    const model = `program:${thinker.program}`
    const seconds = programs.secondsOf(thinker)
    const waits = aside.closed.map(({ id }) => id)
    const token = yield* rows.begin({ row, number, model, told, waits, seconds })
    if (token === undefined) return false
    const request = { agent, thinker, run: row.id, step: number, system, session, url, token, text: told.at(-1)!.body }
    const ended = yield* Effect.result(programs.turn(request, show)).pipe(
      // Stopped by others: its token is dead, and its step says so.
      Effect.onInterrupt(() => cut(row, number)),
    )
    const heard: Partial<TurnSaid> & { readonly text: string } =
      ended._tag === "Success" ? ended.success : ended.failure.heard
    const { cached = 0, in: tokensIn = 0, out: tokensOut = 0 } = heard.usage ?? {}
    const spent = { tokensIn, tokensOut, cached, costMicros: heard.costMicros ?? 0, busyMs: busy() }
    const isSaid = ended._tag === "Success"
    const finish = isSaid ? (ended.success.isolation === "none" ? "stop, unisolated" : "stop") : "failed"
    const kept = heard.session === undefined ? undefined : { program: thinker.program, id: heard.session }
    const mine = yield* rows.change(row, number, isSaid ? "said" : "cut", { text: heard.text, finish }, spent, kept)
    if (!mine) return false
    return ended._tag === "Failure" ? ({ stop: "error", failure: ended.failure.message } satisfies RunEnd) : undefined
  })

  /** Its last output. */
  const answer = Effect.fnUntraced(function* ({ row, steps, triggers }: TurnWork, caller: Caller["Service"]) {
    const text = (steps.at(-1)?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
    yield* answerWith(row, triggers, caller, text.trim())
  })

  return { take, cut, beside, answer }
})
