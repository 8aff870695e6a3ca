/**
 * Sub-agents: runs that a call waits for. The parent waits as for any tool, without a slot, so that one slot is enough
 * for any depth. The call ends as the child ends; a call that is over ends its child.
 */
import {
  type Agent,
  type CallId,
  type Forbidden,
  type Missing,
  type PrincipalId,
  type RunId,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../access/identity/Agents.ts"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { type CallRow, Calls } from "../../calls/Calls.ts"
import { agentMissing } from "../../calls/catalogue/ToolNotes.ts"
import { Tools } from "../../calls/catalogue/Tools.ts"
import { newId } from "../../store/journal/Correlation.ts"
import type { Transaction } from "../../store/journal/Journal.ts"
import { makeAdmission } from "./admission.ts"
import { causerAfter } from "./route.ts"
import { cannotWork, limitsFor, profileNameOf } from "../profile.ts"
import { makeRunRecorder } from "../record/record.ts"
import { partsOf, type RunConfig, type RunRow, type StepRow, type PromptRow } from "../record/rows.ts"

/** The greatest depth of agents that call agents. */
const deepest = 5

interface WaitingCall {
  readonly id: CallId
  readonly run: string | null
  readonly principal: PrincipalId
}

interface NewChild {
  readonly call: WaitingCall
  readonly agent: Agent
  readonly text: string
  readonly config: RunConfig
  readonly includeContext: boolean
}

interface AgentExecution {
  readonly agentConfig: Readonly<Record<string, unknown>>
  readonly includeContext?: boolean
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const textsOf = (value: unknown): ReadonlyArray<string> | undefined => {
  const texts = [value].flat().filter((one) => typeof one === "string")
  return value === undefined || texts.length === 0 ? undefined : texts
}

/** A tool's `agentConfig`, with the field names of the seeds. */
const configIn = (given: Readonly<Record<string, unknown>>): RunConfig => {
  const persona = textOf(given["persona"]) ?? textOf(given["instructions"]) ?? textOf(given["systemPrompt"])
  const models = textsOf(given["model"])
  const tools = textsOf(given["tools"])
  return {
    ...(persona === undefined ? {} : { persona }),
    ...(models === undefined ? {} : { models }),
    ...(tools === undefined ? {} : { tools }),
  }
}

export class Children extends Context.Service<
  Children,
  {
    /** Starts a run that a call waits for. It takes the right to wake that agent (`Agents.findToWake`). */
    readonly start: (
      ref: string,
      text: string,
      call: WaitingCall,
      by: Viewer,
    ) => Effect.Effect<RunId, Missing | Forbidden | WrongState, Transaction>
    /** A configured sub-agent was called: creates its run, once. Who may call the tool may use its agent. */
    readonly called: (call: string) => Effect.Effect<void, never, Transaction>
    /** A run has ended: ends the call that waited for it. */
    readonly ended: (run: string) => Effect.Effect<void, never, Transaction>
    /** A call is over: ends the run it waited for. */
    readonly abandoned: (call: string, why: string) => Effect.Effect<void, never, Transaction>
  }
>()("server/runs/Children") {
  static readonly layer = Layer.effect(
    Children,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const agents = yield* Agents
      const calls = yield* Calls
      const tools = yield* Tools
      const record = yield* makeRunRecorder
      const { admit } = yield* makeAdmission

      const childOf = (call: string) =>
        Effect.map(Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE parent_call = ${call}`), (rows) => rows[0])

      /** What the parent was told and has said. */
      const contextOf = Effect.fnUntraced(function* (run: string) {
        const told = yield* sql<PromptRow>`SELECT * FROM run_messages WHERE run = ${run} AND kind = 'user' ORDER BY seq`
        return told.map(({ body }) => body).join("\n\n")
      }, Effect.orDie)

      /** Fails with a sentence if it cannot. */
      const begin = Effect.fnUntraced(function* (child: NewChild) {
        const { agent, call, text } = child
        const parent = call.run === null ? undefined : yield* record.byId(call.run)
        const nesting = (parent?.nesting ?? 0) + 1
        if (nesting > deepest)
          return yield* Effect.fail(`Agents may call agents at most ${deepest} deep, and this call is deeper`)
        const why = cannotWork(agent, child.config.models)
        if (why !== undefined) return yield* Effect.fail(why)
        const causer = causerAfter(call.principal, parent)
        yield* Effect.mapError(admit(causer), ({ message }) => message)
        const id = newId<RunId>("run")
        const space = parent?.triggerSpace ?? null
        yield* record.trigger({
          agent: agent.id,
          source: call.id,
          run: id,
          kind: "agent",
          message: null,
          space,
          author: call.principal,
          text,
          depth: parent?.chainDepth ?? 0,
          causer,
          at: DateTime.formatIso(yield* DateTime.now),
        })
        const context = child.includeContext && parent !== undefined ? yield* contextOf(parent.id) : undefined
        yield* record.enqueue({
          id,
          agent: agent.id,
          profile: profileNameOf(agent),
          limits: limitsFor(agent),
          kind: "agent",
          summary: text,
          space,
          depth: parent?.chainDepth ?? 0,
          parentCall: call.id,
          root: parent?.root ?? id,
          nesting,
          thinker: agent.thinker.kind,
          causer,
          tree: parent?.tree ?? null,
          payer: parent?.payer ?? parent?.agent ?? call.principal,
          config: { ...child.config, ...(context === undefined ? {} : { context }) },
        })
        return id
      })

      const start: Children["Service"]["start"] = Effect.fn("Children.start")(function* (ref, text, call, by) {
        const agent = yield* agents.findToWake(ref, by)
        return yield* Effect.mapError(
          begin({ call, agent, text, config: {}, includeContext: false }),
          (detail) => new WrongState({ detail }),
        )
      })

      const fail = (call: string, message: string) =>
        calls.finish(call, { step: "fail", error: { tag: "ToolExecutionError", message } })

      const called: Children["Service"]["called"] = Effect.fn("Children.called")(function* (id) {
        const rows = yield* Effect.orDie(sql<CallRow>`SELECT * FROM calls WHERE id = ${id} AND state = 'waiting'`)
        const call = rows[0]
        if (call === undefined || (yield* childOf(id)) !== undefined) return
        const form = Option.getOrUndefined(yield* Effect.option(tools.get(call.tool)))
        const { agentConfig, includeContext = false } = (form?.execution ?? {}) as unknown as Partial<AgentExecution>
        if (agentConfig === undefined) return void (yield* fail(id, `"${call.tool}" is no longer a sub-agent`))
        const named = textOf(agentConfig["agent"])
        const ref = named ?? call.principal
        const agent = yield* Effect.option(agents.get(ref))
        if (Option.isNone(agent))
          return void (yield* fail(
            id,
            named === undefined
              ? `"${call.tool}" names no agent of the house to work as (agentConfig.agent)`
              : agentMissing(call.tool, named),
          ))
        const input = JSON.parse(call.input) as Readonly<Record<string, unknown>>
        const started = yield* Effect.result(
          begin({
            call,
            agent: agent.value,
            text: textOf(input["text"]) ?? textOf(input["prompt"]) ?? JSON.stringify(input),
            // What it was not given it does not know, also of a space that its agent can read.
            config: { ...configIn(agentConfig), ...(includeContext ? {} : { unread: true }) },
            includeContext,
          }),
        )
        if (started._tag === "Failure") yield* fail(id, started.failure)
      })

      const lastText = Effect.fnUntraced(function* (run: string) {
        const rows = yield* Effect.orDie(
          sql<StepRow>`SELECT * FROM steps WHERE run = ${run} ORDER BY number DESC LIMIT 1`,
        )
        const parts = rows[0] === undefined ? [] : partsOf(rows[0])
        return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
      })

      const ended: Children["Service"]["ended"] = Effect.fn("Children.ended")(function* (id) {
        const run = yield* record.byId(id)
        if (run === undefined || run.parentCall === null) return
        if (run.state === "completed")
          yield* calls.finish(run.parentCall, { step: "finish", output: { run: id, text: yield* lastText(id) } })
        else
          yield* fail(
            run.parentCall,
            `Its run ${run.state === "failed" ? "failed" : "was canceled"} (${run.stop}): ${run.failure ?? "nothing more is known"}`,
          )
      })

      const abandoned: Children["Service"]["abandoned"] = Effect.fn("Children.abandoned")(function* (call, why) {
        const run = yield* childOf(call)
        if (run !== undefined) yield* record.stop(run.id, { stop: "cancelled", failure: why })
      })

      return Children.of({ start, called, ended, abandoned })
    }),
  )
}
