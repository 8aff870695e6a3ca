/** Seed 001's two tools about one's own runs (S1-52, S1-61). */
import { Caller, RunState, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Runs } from "../runs/Runs.ts"
import { integer, offered, text } from "./face.ts"
import { bare } from "./talk.ts"

const runId = (given: string): string => (given.startsWith("run_") ? given : `run_${given}`)

export const gatewayRuns = Effect.gen(function* () {
  const runs = yield* Runs
  const mine = Effect.map(Caller, ({ principal }) => ({ principal, all: false }))
  return [
    offered("gateway", {
      name: "stop_run",
      description: "Stop one of your own runs that works or waits.",
      effects: "outside",
      input: { properties: { runId: text("The run's id", { minLength: 1 }) }, required: ["runId"] },
      run: Effect.fnUntraced(function* (input: { readonly runId: string }) {
        const { principal, run } = yield* Caller
        const id = runId(input.runId)
        // A run that stops itself would never hear that it has: it ends by saying nothing more.
        if (id === run)
          return yield* new WrongState({ detail: "This is the run you are in. End it by calling no more tools." })
        const { state } = yield* runs.cancel(id, { principal, all: false }, principal.name)
        return { success: true, runId: bare(id), status: state }
      }),
    }),
    offered("gateway", {
      name: "get_my_runs",
      description: "Your own runs, the newest first.",
      effects: "none",
      input: {
        properties: {
          status: { type: "string", enum: RunState.literals, description: "Only those in this state" },
          limit: integer("How many", { minimum: 1, maximum: 100, default: 10 }),
        },
      },
      run: Effect.fnUntraced(function* (input: { readonly status?: RunState; readonly limit?: number }) {
        const { items } = yield* runs.list(yield* mine, {
          limit: input.limit ?? 10,
          agent: (yield* mine).principal.id,
          ...(input.status === undefined ? {} : { state: input.status }),
        })
        return {
          runs: items.map((run) => ({
            runId: bare(run.id),
            status: run.state,
            triggerType: run.trigger.kind,
            triggerSummary: run.trigger.summary,
            activeSpaceId: run.space === null ? null : bare(run.space),
            startedAt: run.startedAt === null ? null : run.startedAt.epochMilliseconds,
            waitingFor: run.waitsFor ?? [],
          })),
        }
      }),
    }),
  ]
})
