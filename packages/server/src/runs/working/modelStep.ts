/** One step of a model: what it is told, what it says, and the step written; its calls are made afterwards. */
import type { Agent, Caller } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Wallets } from "../../access/identity/wallets/Wallets.ts"
import { Catalogue, everything } from "../../calls/catalogue/Catalogue.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { labelled } from "../prompt/sources.ts"
import { Prompts } from "../Prompts.ts"
import type { RunRecorder } from "../record/record.ts"
import { configOf, limitsOf, type PromptRow, type RunEnd, type StepRow } from "../record/rows.ts"
import { Spend } from "../spend/Spend.ts"
import { makeEstimate } from "../think/estimate.ts"
import { makeThink } from "../think/model.ts"
import { resultFill } from "../think/resultFill.ts"
import type { makeRunNews, PendingNews } from "../turn/runNews.ts"
import { makeSessionReply } from "./sessionReply.ts"
import { quietEnd } from "./proceed.ts"
import { makeShow } from "./show.ts"
import { wireToolsOf } from "./wireTools.ts"
import { stepOf, type Work } from "./work.ts"

/** No model has answered: the run ends, with what was to be told. */
interface Unanswered extends RunEnd {
  readonly promptRows: ReadonlyArray<PromptRow>
}
interface Stepped {
  readonly work: Work
  /** The step has ended the run. */
  readonly isOver: boolean
}

export const makeModelStep = Effect.fnUntraced(function* (
  record: RunRecorder,
  news: Effect.Success<typeof makeRunNews>,
) {
  const catalogue = yield* Catalogue
  const wallets = yield* Wallets
  const prompts = yield* Prompts
  const think = yield* makeThink
  const estimate = yield* makeEstimate
  const spend = yield* Spend
  const show = yield* makeShow
  const reply = yield* makeSessionReply

  /** What it is told before this step: first the whole prompt, then what has come. */
  const toldNow = Effect.fnUntraced(function* (
    work: Work,
    agent: Agent,
    caller: Caller["Service"],
    speaks: boolean,
    aside: PendingNews,
  ): Effect.fn.Return<ReadonlyArray<PromptRow>> {
    const { row, steps, promptRows, triggers } = work
    if (promptRows.length > 0) {
      if (aside.closed.length === 0) return []
      const body = yield* news.textOf(work, caller, aside)
      return [{ run: row.id, seq: promptRows.length + 1, kind: "user", body, step: steps.at(-1)!.number }]
    }
    const { context, persona, unread } = configOf(row)
    const prompt = yield* prompts.make({
      agent,
      caller,
      profile: row.profile,
      persona: persona ?? agent.persona,
      context: context ?? null,
      reads: unread !== true,
      speaks,
      run: row.id,
      space: row.triggerSpace,
      triggers,
    })
    return [
      { run: row.id, seq: 1, kind: "system", body: prompt.system, step: 0 },
      { run: row.id, seq: 2, kind: "user", body: prompt.user, step: 0 },
    ]
  })

  /** `lost`: the run is no longer ours. `wait`: what others ask for now may spend what is left. */
  return Effect.fnUntraced(function* (
    work: Work,
    agent: Agent,
    caller: Caller["Service"],
    number: number,
    aside: PendingNews,
    busy: () => number,
  ): Effect.fn.Return<Unanswered | Stepped | "lost" | "wait"> {
    const { row } = work
    const limits = limitsOf(row)
    const newest = work.triggers.at(-1)
    const config = configOf(row)
    const session = yield* reply.sessionOf(row, caller)
    const own = session === undefined ? undefined : yield* reply.modelOf(session, agent.name)
    const fresh = yield* toldNow(work, agent, caller, row.parentCall !== null || session !== undefined, aside)
    const promptRows = [...work.promptRows, ...fresh]
    /** The newest text it was told by others. */
    const heard = promptRows.findLast(({ step }) => step > 0)?.body ?? newest?.text ?? ""
    const beganAt = DateTime.formatIso(yield* DateTime.now)
    const all = yield* catalogue.list(caller, everything)
    const tools = config.tools === undefined ? all : all.filter(({ tool }) => config.tools!.includes(tool.wireName))
    const { named, restart, say } = show(row, number)
    // Viewers drop what the previous house has shown of this step.
    if (row.attempts > 0) yield* restart
    const needsWallet = tools.some(({ ofWallets }) => ofWallets)
    const wallet = needsWallet ? ((yield* wallets.behind(caller))?.wallet ?? null) : null
    const last = work.steps.at(-1)
    const used = row.tokensIn + row.tokensOut
    const asking = {
      models: config.models ?? (own === undefined ? agent.models : [own, ...agent.models]),
      promptRows,
      steps: labelled(work.steps, all),
      tools: wireToolsOf(tools, wallet),
      maxTokens: limits.tokens === undefined ? undefined : limits.tokens - used,
    }
    const reserved = yield* spend.reserve(row, yield* estimate(asking))
    if (reserved.is === "spent") return { stop: "budget_spent", failure: reserved.failure, promptRows: fresh }
    if (reserved.is !== "reserved") return reserved.is
    const thought = yield* Effect.result(
      think(
        {
          ...asking,
          scene: {
            agent: agent.name,
            step: number,
            text: heard,
            tool: last?.asked.at(-1)?.tool,
            outcome: last?.results.at(-1)?.outcome,
            fill: {
              text: heard,
              message: newest?.message ?? "",
              space: newest?.space ?? "",
              author: newest?.author ?? "",
              agent: agent.id,
              run: row.id,
              ...resultFill(last?.results.at(-1)?.output),
            },
          },
        },
        say,
        restart,
      ),
    )
    if (thought._tag === "Failure")
      return { stop: thought.failure.stop, failure: thought.failure.message, promptRows: fresh }
    const said = thought.success
    const parts = said.parts.map((part) => (part.type === "call" ? named(part) : part))
    const asked = parts.filter((part) => part.type === "call")
    const spent = {
      tokensIn: said.usage.in,
      tokensOut: said.usage.out,
      costMicros: said.costMicros,
      busyMs: busy(),
    }
    const taken: StepRow = {
      run: row.id,
      number,
      state: "said",
      content: JSON.stringify(parts),
      finish: said.finish,
      model: said.model,
      tokensIn: said.usage.in,
      tokensOut: said.usage.out,
      tokensCached: said.usage.cached,
      costMicros: said.costMicros,
      beganAt,
      saidAt: DateTime.formatIso(yield* DateTime.now),
    }
    const steps = [...work.steps, stepOf(taken, [])]
    // Whoever waits for replies is told them in a later step.
    const isOver = asked.length === 0 && !(yield* news.isMore(row, aside))
    const over = isOver ? { stop: quietEnd(steps), failure: null } : undefined
    const text = parts
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("")
      .trim()
    const also: ReadonlyArray<Effect.Effect<void, never, Transaction>> = [
      ...(aside.closed.length === 0 ? [] : [news.note(number, aside)]),
      ...(isOver && session !== undefined && text !== "" ? [reply.post(row, caller, text)] : []),
      ...(isOver ? reply.seen(row, caller, newest?.message ?? null) : []),
    ]
    if (!(yield* record.step(row, taken, fresh, asked.length, spent, over, also))) return "lost"
    const after = {
      ...row,
      step: number,
      attempts: 0,
      tokensIn: row.tokensIn + spent.tokensIn,
      tokensOut: row.tokensOut + spent.tokensOut,
      costMicros: row.costMicros + spent.costMicros,
      busyMs: row.busyMs + spent.busyMs,
    }
    return { work: { ...work, calls: [], promptRows, steps, row: after }, isOver }
  })
})
