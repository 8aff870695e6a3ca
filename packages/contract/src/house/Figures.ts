/** Figures about the house: series over a span of time, what needs attention, and its size. For Overview. */
import { Schema } from "effect"
import { Moment, MomentOrNull, PrincipalId } from "../Ids.ts"

/** The first point begins at `from`; each covers `step` seconds, the last one ends now. */
export const FiguresQuery = {
  /** Default: six hours ago. */
  from: Schema.optionalKey(Moment),
  /** In seconds. */
  step: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 60, maximum: 86_400 })),
  ),
}

/** An answer has at most this many points, and reaches back at most 31 days. */
export const maxPoints = 400
export const maxDays = 31

const Counts = Schema.Array(Schema.Int)
const Millis = Schema.NullOr(Schema.Int)

/** By when they were made. */
const CallFigures = Schema.Struct({
  done: Counts,
  failed: Counts,
  refused: Counts,
  /** Canceled or expired. */
  ended: Counts,
  /** Not over yet. */
  open: Counts,
  /** Median duration in milliseconds of calls that were done or failed and did not wait; null: there were none. */
  p50: Schema.Array(Millis),
  p95: Schema.Array(Millis),
  /** Made within the last minute. */
  lastMinute: Schema.Int,
  /** Older calls within the span are not counted, because there were too many. Null: all are counted. */
  since: MomentOrNull,
})

/** By when they ended, and how many there are now. */
const RunFigures = Schema.Struct({
  completed: Counts,
  failed: Counts,
  canceled: Counts,
  queued: Schema.Int,
  running: Schema.Int,
  waiting: Schema.Int,
  /** How many runs may work at once, for all agents, and how many more could now. */
  slots: Schema.Struct({ all: Schema.Int, free: Schema.Int }),
})

const DecisionFigures = Schema.Struct({
  asked: Counts,
  answered: Counts,
  open: Schema.Int,
  /** Of those answered within the span: the median time to an answer, in milliseconds. */
  median: Millis,
})

/** In US dollars, for the present day in UTC. */
const AgentCost = Schema.Struct({
  agent: PrincipalId,
  name: Schema.String,
  today: Schema.Finite,
  /** By the end of the day, if it continues like the last six hours. */
  forecast: Schema.Finite,
  /** Its limit per day; null: none is set. */
  limit: Schema.NullOr(Schema.Finite),
})
export type AgentCost = typeof AgentCost.Type

const CostFigures = Schema.Struct({
  /** What models cost, by the time of their answers. */
  points: Schema.Array(Schema.Finite),
  today: Schema.Finite,
  forecast: Schema.Finite,
  month: Schema.Struct({ cost: Schema.Finite, limit: Schema.NullOr(Schema.Finite) }),
  /** The highest spenders first; 50 at most. */
  agents: Schema.Array(AgentCost),
})

/**
 * Each kind has one action: accept the tool, look at the server, the agent or its runs, make a backup, or do what the
 * sentence says.
 */
export const NeedKind = Schema.Literals([
  "heldTool",
  "serverAway",
  "budgetNear",
  "agentFailing",
  "deadLetters",
  "noBackup",
  "finding",
])
export type NeedKind = typeof NeedKind.Type

const Need = Schema.Struct({
  kind: NeedKind,
  /** A server, an agent, or the doctor's check. */
  subject: Schema.String,
  /** The tool that is held. */
  tool: Schema.optionalKey(Schema.String),
  /** A sentence with what is known about it. */
  detail: Schema.String,
  /** It does not work until somebody acts. */
  urgent: Schema.Boolean,
})
export type Need = typeof Need.Type

const HouseFacts = Schema.Struct({
  version: Schema.String,
  store: Schema.Literals(["sqlite", "postgres"]),
  /** Of the database. */
  bytes: Schema.Int,
  startedAt: Moment,
  /** Of the process. */
  memory: Schema.Int,
  /** How many events wait for the reader that has most to do, at most 500. */
  behind: Schema.Int,
  /** Who listens to the feed now, each counted once. */
  listening: Schema.Struct({ people: Schema.Int, agents: Schema.Int, services: Schema.Int }),
  auditEntries: Schema.Int,
  backupAt: MomentOrNull,
  /** The doctor's cheap checks; `stoa doctor` makes all of them. */
  checks: Schema.Struct({ all: Schema.Int, ok: Schema.Int }),
})
export type HouseFacts = typeof HouseFacts.Type

/** An admin sees everything; others their own agents and spaces, and nothing of the house. */
export class Figures extends Schema.Class<Figures>("Figures")({
  from: Moment,
  to: Moment,
  step: Schema.Int,
  calls: CallFigures,
  runs: RunFigures,
  decisions: DecisionFigures,
  cost: CostFigures,
  needs: Schema.Array(Need),
  house: Schema.NullOr(HouseFacts),
}) {}
