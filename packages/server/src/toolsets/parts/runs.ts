/** Seed 001's two tools about the caller's own runs (S1-52, S1-61). */
import { Caller, RunState, withoutPrefix } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Grants } from "../../access/rights/Grants.ts"
import { ownViewer } from "../../access/rights/Viewer.ts"
import { type HandlerCall, PendingResult } from "../../calls/road/Handler.ts"
import { Children } from "../../runs/waking/Children.ts"
import { Runs } from "../../runs/Runs.ts"
import { integer, catalogueOffer, text } from "../toolsetTool.ts"

const runId = (given: string): string => (given.startsWith("run_") ? given : `run_${given}`)

export const gatewayRuns = Effect.gen(function* () {
  const runs = yield* Runs
  const mine = Effect.map(Caller, ({ principal }) => ownViewer(principal))
  return [
    catalogueOffer("gateway", {
      name: "stop_run",
      houseText: true,
      description: "Stop one of your own runs that works or waits, also the one you are in.",
      effects: "outside",
      input: { properties: { runId: text("The run's id", { minLength: 1 }) }, required: ["runId"] },
      run: Effect.fnUntraced(function* (input: { readonly runId: string }) {
        const { principal } = yield* Caller
        const id = runId(input.runId)
        // It may also stop the run it is called in: this call ends with it, and its answer is never seen.
        const { state } = yield* runs.cancel(id, ownViewer(principal), principal.name)
        return { success: true, runId: withoutPrefix(id), status: state }
      }),
    }),
    catalogueOffer("gateway", {
      name: "get_my_runs",
      description: "Your own runs, the newest first.",
      effects: "none",
      input: {
        properties: {
          status: { type: "string", enum: RunState.literals, description: "Only those in this state" },
          limit: integer("How many", { minimum: 1, maximum: 100, default: 10 }),
        },
      },
      run: Effect.fnUntraced(function* (
        input: { readonly status?: RunState; readonly limit?: number },
        call: HandlerCall,
      ) {
        const { items } = yield* runs.list(yield* mine, {
          limit: input.limit ?? 10,
          agent: (yield* mine).principal.id,
          ...(input.status === undefined ? {} : { state: input.status }),
        })
        const told = yield* runs.mayTell(
          call.run?.id ?? null,
          items.map(({ id }) => id),
        )
        return {
          runs: items.map((run) => ({
            runId: withoutPrefix(run.id),
            status: run.state,
            triggerType: run.trigger.kind,
            // What woke it elsewhere is not told here: its agent may say here what it reads.
            triggerSummary: told.has(run.id) ? run.trigger.summary : "",
            activeSpaceId: run.space === null ? null : withoutPrefix(run.space),
            startedAt: run.startedAt === null ? null : DateTime.formatIso(run.startedAt),
            waitingFor: run.waitsFor ?? [],
          })),
        }
      }),
    }),
  ]
})

/** Any client may let an agent of the house work for it, and follow that as a task (needs a grant on the agent). */
export const stoaRuns = Effect.gen(function* () {
  const children = yield* Children
  const grants = yield* Grants
  return [
    catalogueOffer("stoa", {
      name: "run_agent",
      description: "Have an agent of the house do something. Gives back what it says last.",
      effects: "store",
      input: {
        properties: {
          agent: text("The agent's name or id", { minLength: 1 }),
          text: text("What it shall do", { minLength: 1 }),
          timeoutSeconds: integer("How long to wait for it", { minimum: 1, maximum: 86_400, default: 600 }),
        },
        required: ["agent", "text"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly agent: string; readonly text: string; readonly timeoutSeconds?: number },
        call: HandlerCall,
      ) {
        const waiting = { id: call.id, run: call.run?.id ?? null, principal: call.principal }
        yield* children.start(input.agent, input.text, waiting, yield* grants.viewer("agents"))
        return new PendingResult("run", (input.timeoutSeconds ?? 600) * 1000)
      }),
    }),
  ]
})
