/**
 * A turn of an agent that is a program: the same step of the same run, carried out by a process. The program makes its
 * calls itself, at the MCP door, with a token that ends with the turn; after it, the rows say what is next.
 */
import type { Agent, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HouseAddress } from "../../calls/waiting/HouseAddress.ts"
import { Programs, type TurnReport } from "../../programs/Programs.ts"
import { usualWindow } from "../../models/text/Estimate.ts"
import { tokensFor } from "../prompt/shares.ts"
import { shortenedAll } from "../prompt/shorten.ts"
import { Prompts } from "../Prompts.ts"
import type { RunRecorder } from "../record/record.ts"
import type { RunEnd, RunRow, PromptRow } from "../record/rows.ts"
import { makeProgramReply } from "./programReply.ts"
import { mailText } from "./mail.ts"
import type { makeRunNews, PendingNews, TurnWork } from "./runNews.ts"
import { makeTurnRows } from "./rows.ts"

/** A turn says what it was not kept from. */
const finishOf = ({ isolation, unbounded }: TurnReport): string =>
  isolation === "none" ? "stop, unisolated" : ["stop", ...unbounded.map((what) => `${what} not limited`)].join(", ")

type News = Effect.Success<typeof makeRunNews>

export const makeTurn = Effect.fnUntraced(function* (record: RunRecorder, news: News) {
  const programs = yield* Programs
  const prompts = yield* Prompts
  const address = yield* HouseAddress
  const rows = yield* makeTurnRows(record)
  const reply = yield* makeProgramReply(record)

  /** What it is told now, as rows: first the whole prompt, then what has come. */
  const promptNow = Effect.fnUntraced(function* (
    work: TurnWork,
    agent: Agent,
    caller: Caller["Service"],
    number: number,
    aside: PendingNews,
  ) {
    const { row } = work
    const seq = work.promptRows.length
    if (seq > 0) {
      const body = yield* news.textOf(work, caller, aside)
      return [{ run: row.id, seq: seq + 1, kind: "user", body, step: number - 1 }] satisfies ReadonlyArray<PromptRow>
    }
    const { system } = yield* prompts.make({
      agent,
      caller,
      profile: row.profile,
      persona: agent.persona,
      context: null,
      reads: false,
      speaks: true,
      run: row.id,
      space: null,
      triggers: [],
    })
    return [
      { run: row.id, seq: 1, kind: "system", body: system, step: 0 },
      {
        run: row.id,
        seq: 2,
        kind: "user",
        body: mailText(shortenedAll(yield* news.mailOf(row, work.triggers), tokensFor("memory", usualWindow))),
        step: 0,
      },
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
    const promptRows = yield* promptNow(work, agent, caller, number, aside)
    const system = [...work.promptRows, ...promptRows].find(({ kind }) => kind === "system")?.body ?? ""
    const url = `${yield* address.here}/mcp`
    const session = yield* rows.sessionOf(row.agent, thinker.program)
    const model = `program:${thinker.program}`
    const seconds = programs.secondsOf(thinker)
    const also = news.note(number, aside)
    const token = yield* rows.begin({ row, number, model, promptRows, also, seconds })
    if (token === undefined) return false
    const request = {
      agent,
      thinker,
      run: row.id,
      step: number,
      system,
      session,
      url,
      token,
      text: promptRows.at(-1)!.body,
    }
    const ended = yield* Effect.result(programs.turn(request, show)).pipe(
      // Stopped by others: its token is dead, and its step says so.
      Effect.onInterrupt(() => cut(row, number)),
    )
    const heard: Partial<TurnReport> & { readonly text: string } =
      ended._tag === "Success" ? ended.success : ended.failure.heard
    const { cached = 0, in: tokensIn = 0, out: tokensOut = 0 } = heard.usage ?? {}
    const spent = { tokensIn, tokensOut, cached, costMicros: heard.costMicros ?? 0, busyMs: busy() }
    const isSaid = ended._tag === "Success"
    const finish = isSaid ? finishOf(ended.success) : "failed"
    const kept = heard.session === undefined ? undefined : { program: thinker.program, id: heard.session }
    const mine = yield* rows.change(row, number, isSaid ? "said" : "cut", { text: heard.text, finish }, spent, kept)
    if (!mine) return false
    return ended._tag === "Failure" ? ({ stop: "error", failure: ended.failure.message } satisfies RunEnd) : undefined
  })

  /** Its last output. */
  const answer = Effect.fnUntraced(function* ({ row, steps, triggers }: TurnWork, caller: Caller["Service"]) {
    const text = (steps.at(-1)?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
    yield* reply(row, triggers, caller, text.trim())
  })

  return { take, cut, answer }
})
