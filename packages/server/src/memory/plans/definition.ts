/** What a plan says, read from its record. Pure. */
import type { MemoryRecord } from "@stoa/contract"
import { Result } from "effect"
import type { MissedTimes, Schedule } from "./planTimes.ts"

export interface PlanDefinition extends Schedule {
  readonly name: string
  readonly instruction: string
  /** What happens to times at which the house was off; default: once. */
  readonly missed?: MissedTimes
  /** Delays it by up to this many seconds, always by the same delay for the same time. */
  readonly jitter?: number
}

const mayBeText = (value: unknown): boolean => value === undefined || typeof value === "string"
/**
 * Anybody can write records of any kind: those that are not plans are ignored, because one reader handles everybody's.
 */
const isDefinition = (value: unknown): value is PlanDefinition => {
  if (typeof value !== "object" || value === null) return false
  const { cron, instruction, jitter, missed, name, runAfter, scheduledAt, timezone } = value as Record<string, unknown>
  return (
    typeof name === "string" &&
    typeof instruction === "string" &&
    [cron, runAfter, scheduledAt, timezone].every(mayBeText) &&
    (missed === undefined || missed === "skip" || missed === "once" || missed === "all") &&
    (jitter === undefined || (Number.isInteger(jitter) && (jitter as number) >= 0 && (jitter as number) <= 86_400))
  )
}

export const definitionIn = (record: MemoryRecord): PlanDefinition | undefined =>
  Result.getOrUndefined(
    Result.try(() => {
      const value: unknown = JSON.parse(record.content)
      return isDefinition(value) ? value : undefined
    }),
  )
