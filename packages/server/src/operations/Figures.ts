/** The figures of Overview, collected from all rooms. The HTTP door reads them through `Upkeep`. */
// edge: the memory of the process.
import { BadInput, Figures, type HouseFacts, maxDays, maxPoints, type Need } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { Audit } from "../access/audit/Audit.ts"
import { isServerPaused, Pauses } from "../access/limits/Pauses.ts"
import { Grants } from "../access/rights/Grants.ts"
import { makeCallFigures } from "../calls/CallFigures.ts"
import { makeDecisionFigures } from "../decisions/DecisionFigures.ts"
import { quickReport } from "./Doctor.ts"
import { makeRunFigures } from "../runs/RunFigures.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { lastBackup } from "../store/backup/LastBackup.ts"
import { databaseSize } from "../store/database/disk/Size.ts"
import { Store } from "../store/database/Store.ts"
import { Readers } from "../store/journal/readers/Readers.ts"
import { pointsOf, type TimeSpan } from "../store/TimeSpan.ts"
import { serverNeeds } from "../servers/ServerNeeds.ts"
import { Servers } from "../servers/Servers.ts"

const day = 86_400_000
/** After this many days without a backup somebody should make one. */
const backupDays = 7

const bad = (path: string, message: string) => new BadInput({ issues: [{ path, message }] })

const spanOf = Effect.fnUntraced(function* (query: { readonly from?: DateTime.Utc; readonly step?: number }) {
  // wall clock: moments that are stored.
  const to = DateTime.toEpochMillis(yield* DateTime.now)
  const from = query.from === undefined ? to - 6 * 3_600_000 : DateTime.toEpochMillis(query.from)
  const span: TimeSpan = { from, to, step: (query.step ?? 300) * 1000 }
  if (from >= to) return yield* bad("from", "a moment in the past")
  if (to - from > maxDays * day) return yield* bad("from", `at most ${maxDays} days ago`)
  if (pointsOf(span) > maxPoints)
    return yield* bad("step", `${pointsOf(span)} points, and ${maxPoints} at most: take larger steps`)
  return span
})

const needOfBackup = Effect.fnUntraced(function* (now: number) {
  const { dialect } = yield* Store
  const { backupAt, knownSince } = yield* lastBackup
  // A Postgres is backed up by its operators.
  const since = backupAt ?? knownSince
  const days = since === null ? 0 : Math.floor((now - Date.parse(since)) / day)
  const needs: ReadonlyArray<Need> =
    dialect === "postgres" || days < backupDays
      ? []
      : [{ kind: "noBackup", subject: "house", detail: `No backup was taken for ${days} days.`, urgent: false }]
  return { backupAt, needs }
})

export interface Listening {
  readonly people: number
  readonly agents: number
  readonly services: number
}

export const makeFigures = Effect.fnUntraced(function* (version: string) {
  const startedAt = yield* DateTime.now
  const callFigures = yield* makeCallFigures
  const decisionFigures = yield* makeDecisionFigures
  const runFigures = yield* makeRunFigures
  const agents = yield* Agents
  const audit = yield* Audit
  const grants = yield* Grants
  const pauses = yield* Pauses
  const readers = yield* Readers
  const spaces = yield* Spaces
  const store = yield* Store
  const servers = yield* Servers

  /** Only for those who operate the house. */
  const ofHouse = Effect.fnUntraced(function* (now: number, listening: Listening) {
    const paused = yield* pauses.now
    const isPaused = (server: string) => paused.has("everything") || isServerPaused(paused, server)
    const listed = yield* servers.list
    const { findings } = yield* quickReport
    const { backupAt, needs } = yield* needOfBackup(now)
    const behind = Math.max(0, ...(yield* readers.waiting).values())
    const house: HouseFacts = {
      version,
      store: store.dialect,
      bytes: yield* databaseSize,
      startedAt,
      memory: process.memoryUsage.rss(),
      behind,
      listening,
      auditEntries: yield* audit.entries,
      backupAt: backupAt === null ? null : DateTime.makeUnsafe(backupAt),
      checks: { all: findings.length, ok: findings.filter(({ state }) => state === "ok").length },
    }
    const found = findings
      // Runs and servers have their own needs.
      .filter(({ check, state }) => state !== "ok" && check !== "runs" && check !== "servers")
      .map(({ check: subject, detail, state }): Need => ({
        kind: "finding",
        subject,
        detail,
        urgent: state === "fail",
      }))
    return { house, needs: [...serverNeeds(listed.items, isPaused), ...found, ...needs] }
  })

  return Effect.fn("Figures")(function* (
    query: { readonly from?: DateTime.Utc; readonly step?: number },
    listening: () => Listening,
  ) {
    const span = yield* spanOf(query)
    const runsOf = yield* grants.viewer("runs")
    const callsOf = yield* grants.viewer("calls")
    const me = callsOf.principal
    const own = callsOf.all
      ? ("all" as const)
      : {
          principals: new Set<string>([
            me.id,
            ...(yield* agents.living).filter(({ owner }) => owner === me.id).map(({ id }) => id),
          ]),
          spaces: new Set<string>(yield* spaces.ownOf(yield* grants.viewer("spaces"))),
        }
    const { since, ...calls } = yield* callFigures(own, span)
    const { cost, needs, runs } = yield* runFigures(runsOf, span)
    const decisions = yield* decisionFigures(yield* grants.viewer("decisions"), span)
    const inside = (yield* grants.viewer("house")).all ? yield* ofHouse(span.to, listening()) : undefined
    const all = [...(inside?.needs ?? []), ...needs]
    return new Figures({
      from: DateTime.makeUnsafe(span.from),
      to: DateTime.makeUnsafe(span.to),
      step: span.step / 1000,
      calls: { ...calls, since: since === null ? null : DateTime.makeUnsafe(since) },
      runs,
      decisions,
      cost,
      // Urgent needs come first.
      needs: all.toSorted((a, b) => Number(b.urgent) - Number(a.urgent)),
      house: inside?.house ?? null,
    })
  })
})
