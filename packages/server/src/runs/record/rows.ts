/** Rows of runs as values. */
import {
  type AgentLimits,
  type CallId,
  type MailKind,
  type MessageId,
  type PrincipalId,
  Run,
  type RunId,
  type RunState,
  type SpaceId,
  type StopReason,
  type TriggerKind,
} from "@stoa/contract"
import { DateTime } from "effect"
import type { Part } from "../../models/request/ModelOutput.ts"

export interface RunRow {
  readonly id: RunId
  readonly agent: PrincipalId
  readonly mailbox: string
  readonly lane: number
  readonly width: number
  readonly thinker: "model" | "program"
  readonly profile: string
  readonly state: RunState
  readonly stop: StopReason | null
  readonly failure: string | null
  readonly triggerKind: TriggerKind
  readonly triggerSummary: string
  readonly triggerMessage: MessageId | null
  readonly triggerSpace: SpaceId | null
  readonly chainDepth: number
  readonly root: RunId
  readonly parentCall: CallId | null
  readonly retryOf: RunId | null
  readonly nesting: number
  readonly afterRun: string | null
  readonly step: number
  readonly rung: number
  readonly fence: number
  readonly owner: string | null
  readonly resumed: number
  /** Not before this time, in milliseconds since 1970. */
  readonly readyAt: number
  readonly attempts: number
  readonly limits: string
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costMicros: number
  readonly busyMs: number
  readonly waits: number
  readonly correlationId: string
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** For a sub-agent: its configuration. */
  readonly config: string | null
  /** The principal at whose request the agent works, if it is another one. */
  readonly payer: PrincipalId | null
  /** The person, agent or service at the beginning of the chain that woke it, whatever is between; null: the house. */
  readonly causer: PrincipalId | null
  /** The topmost agent of the tree that the run shares its slots with; null: its agent. */
  readonly tree: PrincipalId | null
  /** What the step under way may cost at most, while the run is `running`. */
  readonly reservedTokens: number
  readonly reservedMicros: number
}

/** What a sub-agent uses instead of its agent's settings. */
export interface RunConfig {
  readonly persona?: string
  readonly models?: ReadonlyArray<string>
  /** It has only these tools. */
  readonly tools?: ReadonlyArray<string>
  /** What its parent was told. */
  readonly context?: string
  /** It is not told what was said in its space. */
  readonly unread?: true
}

export const configOf = ({ config }: Pick<RunRow, "config">): RunConfig =>
  config === null ? {} : (JSON.parse(config) as RunConfig)

export interface TriggerRow {
  readonly agent: PrincipalId
  readonly source: string
  readonly run: RunId | null
  readonly kind: TriggerKind
  readonly message: MessageId | null
  readonly space: SpaceId | null
  readonly author: PrincipalId | null
  readonly text: string
  readonly depth: number
  readonly at: string
  /** The first cause: of the run that it comes from, else its author. */
  readonly causer: PrincipalId | null
  /** In a team: the envelope it came in (`Envelope`). */
  readonly mail?: string | null
  readonly deliveredAt?: string | null
}

/** The envelope of a team message: one for each recipient, whatever message it carries (S3-32). */
export interface Envelope {
  readonly id: string
  readonly kind: MailKind
  readonly replyTo: string | null
  /** The failed run that put it back (S3-66). */
  readonly last?: string
}

export const envelopeOf = ({ mail }: Pick<TriggerRow, "mail">): Envelope | undefined =>
  mail == null ? undefined : (JSON.parse(mail) as Envelope)

export interface StepRow {
  readonly run: RunId
  readonly number: number
  readonly state: "thinking" | "said" | "cut"
  readonly content: string
  readonly finish: string | null
  readonly model: string | null
  readonly tokensIn: number
  readonly tokensOut: number
  readonly tokensCached: number
  readonly costMicros: number
  readonly beganAt: string
  readonly saidAt: string | null
}

export interface PromptRow {
  readonly run: RunId
  readonly seq: number
  readonly kind: "system" | "user"
  readonly body: string
  readonly step: number
}

/** What a step has cost. */
export interface Usage {
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costMicros: number
  readonly busyMs: number
}

export interface RunEnd {
  readonly stop: StopReason
  readonly failure: string | null
}

export const limitsOf = ({ limits }: Pick<RunRow, "limits">): AgentLimits => JSON.parse(limits) as AgentLimits
export const partsOf = ({ content }: Pick<StepRow, "content">): ReadonlyArray<Part> =>
  JSON.parse(content) as ReadonlyArray<Part>

const moment = (text: string) => DateTime.makeUnsafe(text)

/** `space`: where it is now, if that is not where it was woken. `waitsFor`: what its calls wait for. */
export const runFrom = (
  row: RunRow,
  space: string | null,
  waitsFor: ReadonlyArray<{ readonly kind: string; readonly id: string }> = [],
): Run =>
  new Run({
    id: row.id,
    agent: row.agent,
    state: row.state,
    stop: row.stop,
    ...(row.failure === null ? {} : { failure: row.failure }),
    step: row.step,
    trigger: {
      kind: row.triggerKind,
      summary: row.triggerSummary,
      ...(row.triggerMessage === null ? {} : { message: row.triggerMessage }),
      ...(row.triggerSpace === null ? {} : { space: row.triggerSpace }),
    },
    space: (space ?? row.triggerSpace) as SpaceId | null,
    depth: row.chainDepth,
    root: row.root,
    ...(row.parentCall === null ? {} : { parent: row.parentCall }),
    ...(row.retryOf === null ? {} : { retryOf: row.retryOf }),
    ...(waitsFor.length === 0 ? {} : { waitsFor }),
    limits: limitsOf(row),
    tokens: { in: row.tokensIn, out: row.tokensOut },
    cost: row.costMicros / 1e6,
    createdAt: moment(row.createdAt),
    startedAt: row.startedAt === null ? null : moment(row.startedAt),
    endedAt: row.endedAt === null ? null : moment(row.endedAt),
  })
