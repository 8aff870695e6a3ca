/** What a run is, can do and looks like, wherever it is shown. Pure. */
import type { Run, RunStep } from "../../feed/types.ts"

export type Wait = NonNullable<RunStep["waits"]>[number]

export interface WholeRun {
  readonly run: Run
  readonly steps: ReadonlyArray<RunStep>
  /** Runs that work for calls of this one. */
  readonly children: ReadonlyArray<Run>
}

export const isOver = ({ endedAt }: { readonly endedAt: string | null }) => endedAt !== null

export type RunAction = "cancel" | "retry"

/** The possible actions in its present state. */
export const actionsOf = (run: Run): ReadonlyArray<RunAction> => (isOver(run) ? ["retry"] : ["cancel"])

export interface Looks {
  readonly tone: "good" | "warn" | "bad" | ""
  readonly icon: string
}

export const looksOf = ({ state, stop }: Pick<Run, "state" | "stop">): Looks => {
  if (state === "completed")
    return stop === "end_turn" || stop === "no_tool_call"
      ? { tone: "good", icon: "check" }
      : { tone: "bad", icon: "octagon-x" }
  if (state === "failed") return { tone: "bad", icon: "circle-x" }
  if (state === "canceled") return { tone: "", icon: "square" }
  if (state === "running") return { tone: "good", icon: "play" }
  return state === "queued" ? { tone: "", icon: "hourglass" } : { tone: "warn", icon: "hourglass" }
}
