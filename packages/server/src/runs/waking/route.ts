/** What a message means for the agents it is for: a run for each, or none, and why. Pure. */
import type { PrincipalId, PrincipalKind } from "@stoa/contract"
import type { RunRow } from "../record/rows.ts"

/**
 * A person, a plan or a service starts at depth zero. A run passes on its depth plus one. An agent that speaks outside
 * a run counts as the first, since its loop cannot be seen.
 */
export const depthAfter = (author: PrincipalKind, runDepth: number | null): number =>
  runDepth !== null ? runDepth + 1 : author === "agent" ? 1 : 0

/** A run of depth d may wake others while d is below the limit (S0-64, X-05). */
export const mayWake = (depth: number, limit: number): boolean => depth === 0 || depth <= limit

/** Who is at the beginning of the chain: of the run that it comes from, else whoever acts. */
export const causerAfter = <Actor extends PrincipalId | null>(
  actor: Actor,
  run: Pick<RunRow, "agent" | "causer"> | undefined,
): Actor | PrincipalId => (run === undefined ? actor : (run.causer ?? run.agent))
