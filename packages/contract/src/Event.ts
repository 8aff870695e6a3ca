/**
 * Everything that can happen in the house, as one closed union. A room appends an event in the transaction that makes
 * it true; feed, audit, wake-ups and webhooks are readers. A new kind is one entry in `kinds`, and compiler errors show
 * what else must handle it.
 */
import { type DateTime, Schema } from "effect"
import { AccessContext } from "./access/rights/AllowList.ts"
import { CallError, CallRun, CallState, WaitsOn } from "./tools/Call.ts"
import { AnswerVerdict, DecisionKind } from "./decisions/Decision.ts"
import { Reach } from "./decisions/Reach.ts"
import { DemoState, FirstStep } from "./house/Demo.ts"
import { Action, Verdict } from "./access/rights/Grant.ts"
import {
  ApprovalId,
  CallId,
  CorrelationId,
  Cursor,
  DecisionId,
  DelegationId,
  GrantId,
  HostId,
  MemoryId,
  MessageId,
  Moment,
  MomentOrNull,
  PrincipalId,
  RunId,
  SpaceId,
  TimerId,
  TokenId,
} from "./Ids.ts"
import { MemoryNamespace, MemoryRight } from "./memory/Memory.ts"
import { Message } from "./spaces/Message.ts"
import { PrincipalKind } from "./access/identity/Principal.ts"
import { Provenance } from "./access/Provenance.ts"
import { Acceptable } from "./house/Report.ts"
import { RunState, StopReason, TriggerKind } from "./runs/Run.ts"
import { MailKind } from "./runs/Team.ts"
import { MemberRole, SpaceKind, TriggerRule } from "./spaces/Space.ts"
import { ListedSet } from "./tools/Toolset.ts"

/** Who sees an event besides admins and its actor: nobody, the principals it concerns, or the members of its space. */
type Audience = "admins" | "concerned" | "space"

interface Kind<Body extends Schema.Struct.Fields> {
  readonly body: Body
  readonly audience: Audience
  /** How long the journal keeps it; the audit trail has its own term. */
  readonly days: number
  /** How a body of format 1 becomes one of format 2, and so on: the newest format is one more than their number. */
  readonly upgrades: ReadonlyArray<Upgrade>
}

/** From the JSON of one format to that of the next (G-28). */
type Upgrade = (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

const kind = <const Body extends Schema.Struct.Fields>(
  audience: Audience,
  days: number,
  body: Body,
  ...upgrades: ReadonlyArray<Upgrade>
): Kind<Body> => ({ audience, days, body, upgrades })

const server = { server: Schema.String, owner: Schema.NullOr(PrincipalId) }
const aCall = {
  call: CallId,
  tool: Schema.String,
  principal: PrincipalId,
  /** If a run made it. */
  run: Schema.optionalKey(CallRun),
}
/** A client requested a server's resource, prompt or completion; `error`: it failed. */
const content = {
  ...server,
  principal: PrincipalId,
  error: Schema.NullOr(CallError),
  rule: Schema.String,
  durationMs: Schema.Int,
}
const host = { host: HostId, name: Schema.String, owner: PrincipalId }
/** Who else may see it: those it is shared with, or everybody. */
const memory = {
  record: MemoryId,
  principal: PrincipalId,
  namespace: MemoryNamespace,
  readers: Schema.Array(PrincipalId),
  public: Schema.Boolean,
}
/** `principal`: the agent whose run it is. */
const aRun = { run: RunId, principal: PrincipalId }
const permission = { resource: Schema.String, actions: Schema.Array(Action) }

export const kinds = {
  "house.started": kind("admins", 90, { version: Schema.String, store: Schema.Literals(["sqlite", "postgres"]) }),
  "house.reloaded": kind("admins", 365, {
    file: Schema.String,
    added: Schema.Array(Schema.String),
    changed: Schema.Array(Schema.String),
    retired: Schema.Array(Schema.String),
  }),
  // An operator has checked a finding of the doctor, and accepts it.
  "house.accepted": kind("admins", 365, { check: Acceptable }),
  // The demo was made, changed or removed, or somebody has taken a first step.
  "demo.changed": kind("admins", 365, { state: DemoState, step: Schema.NullOr(FirstStep) }),
  // Somebody was given a copy of everything.
  "house.backed-up": kind(
    "admins",
    365,
    {
      withKey: Schema.Boolean,
      /** False: the copy broke off, and is of no use. */
      complete: Schema.Boolean,
    },
    (body) => ({ ...body, complete: true }),
  ),
  "principal.added": kind("concerned", 365, { principal: PrincipalId, kind: PrincipalKind, name: Schema.String }),
  "principal.changed": kind("concerned", 365, {
    principal: PrincipalId,
    changes: Schema.Array(Schema.String),
    /** The agent it works for now, if that changed: the tree can be rebuilt from the journal alone. */
    parent: Schema.optionalKey(Schema.NullOr(PrincipalId)),
  }),
  "principal.retired": kind("concerned", 365, { principal: PrincipalId, name: Schema.String }),
  "token.issued": kind("concerned", 365, {
    token: TokenId,
    principal: PrincipalId,
    context: AccessContext,
    expiresAt: MomentOrNull,
  }),
  "token.revoked": kind("concerned", 365, { token: TokenId, principal: PrincipalId }),
  "grant.added": kind("concerned", 365, { grant: GrantId, principal: PrincipalId, effect: Verdict, ...permission }),
  "grant.revoked": kind("concerned", 365, { grant: GrantId, principal: PrincipalId }),
  "delegation.added": kind("concerned", 365, {
    delegation: DelegationId,
    principal: PrincipalId,
    reason: Schema.String,
    depth: Schema.Int,
    ...permission,
  }),
  "delegation.revoked": kind("concerned", 365, { delegation: DelegationId, principal: PrincipalId }),
  "allow-list.changed": kind("admins", 365, {
    toolset: ListedSet,
    context: AccessContext,
    before: Schema.Array(Schema.String),
    after: Schema.Array(Schema.String),
  }),
  "secret.set": kind("admins", 365, { name: Schema.String }),
  "secret.removed": kind("admins", 365, { name: Schema.String }),
  "access.denied": kind("admins", 90, {
    principal: Schema.NullOr(PrincipalId),
    action: Schema.String,
    resource: Schema.String,
    rule: Schema.String,
  }),
  "space.added": kind("space", 365, {
    space: SpaceId,
    name: Schema.String,
    kind: SpaceKind,
    trigger: TriggerRule,
    members: Schema.Array(PrincipalId),
  }),
  "space.changed": kind("space", 365, { space: SpaceId, changes: Schema.Array(Schema.String) }),
  "member.added": kind("space", 365, { space: SpaceId, principal: PrincipalId, role: MemberRole }),
  // `open`: the space is public, so that a principal that has left may still watch it.
  "member.removed": kind("space", 365, { space: SpaceId, principal: PrincipalId, open: Schema.Boolean }),
  // The whole message, and the agents it is for: the reader that wakes them need not parse it again.
  "message.created": kind("space", 365, {
    message: Message,
    addressees: Schema.Array(PrincipalId),
    /** The run that posted it. */
    run: Schema.optionalKey(RunId),
    /** It is mail of a team, of this kind. */
    mail: Schema.optionalKey(Schema.Struct({ kind: MailKind })),
  }),
  // A visible tool call waits or continues: its message shows it.
  "message.changed": kind("space", 365, { message: Message }),
  // A visible tool call has ended: its message now has the output or the error.
  "message.settled": kind("space", 365, { message: Message }),
  "message.edited": kind("space", 365, { message: Message }),
  "message.deleted": kind("space", 365, { message: MessageId, seq: Schema.Int }),
  "message.pinned": kind("space", 365, { message: MessageId, pinned: Schema.Boolean }),
  "reaction.added": kind("space", 365, { message: MessageId, emoji: Schema.String, by: PrincipalId }),
  "reaction.removed": kind("space", 365, { message: MessageId, emoji: Schema.String, by: PrincipalId }),
  // How far a principal has read is visible only to itself.
  "space.read": kind("concerned", 7, { space: SpaceId, principal: PrincipalId, seq: Schema.Int }),
  "tool.added": kind("admins", 365, { tool: Schema.String, digest: Schema.String }),
  "tool.changed": kind("admins", 365, { tool: Schema.String, digest: Schema.String }),
  "tool.removed": kind("admins", 365, { tool: Schema.String }),
  // Ids and versions, never content: what was forgotten is not in the journal (G-21). `principal` is the owner.
  "memory.written": kind("concerned", 90, {
    ...memory,
    version: Schema.Int,
    run: Schema.optionalKey(RunId),
  }),
  "memory.deleted": kind("concerned", 90, { ...memory, version: Schema.Int, permanent: Schema.Boolean }),
  "memory.erased": kind("concerned", 365, { principal: PrincipalId, before: Schema.String }),
  "memory.shared": kind("concerned", 365, {
    ...memory,
    reader: PrincipalId,
    right: Schema.NullOr(MemoryRight),
  }),
  "memory.answered": kind("concerned", 365, { ...memory, reader: PrincipalId, taken: Schema.Boolean }),
  // A call is its row; the journal says what happened to it.
  "call.received": kind("concerned", 90, aCall),
  "call.waiting": kind("concerned", 90, { ...aCall, on: WaitsOn }),
  "call.settled": kind("concerned", 90, {
    ...aCall,
    state: CallState,
    error: Schema.NullOr(CallError),
    rule: Schema.NullOr(Schema.String),
    durationMs: Schema.Int,
    /** Where it was made; absent in events of older houses. */
    space: Schema.optionalKey(Schema.NullOr(SpaceId)),
    /** It was recorded together with its end: nothing can have waited for it. */
    whole: Schema.optionalKey(Schema.Literal(true)),
  }),
  "run.queued": kind("concerned", 90, { ...aRun, trigger: TriggerKind }),
  // The space sees that an agent has begun, waits, goes on and has ended; it does not see its thoughts (S1-74).
  "run.started": kind("space", 90, aRun),
  "run.stepped": kind("concerned", 90, { ...aRun, step: Schema.Int, calls: Schema.Int }),
  "run.waiting": kind("space", 90, { ...aRun, state: RunState }),
  "run.resumed": kind("space", 90, aRun),
  // The space does not see that a run entered (S1-40).
  "run.entered": kind("concerned", 90, { ...aRun, entered: SpaceId }),
  "run.retried": kind("concerned", 365, { ...aRun, of: RunId }),
  "run.ended": kind(
    "space",
    365,
    {
      ...aRun,
      state: RunState,
      stop: StopReason,
      failure: Schema.NullOr(Schema.String),
      /** It ended with its first step, and nothing can have waited for it. */
      whole: Schema.optionalKey(Schema.Literal(true)),
    },
    // Format 1 has no `whole`: something may have waited.
    (body) => body,
    // Format 2 has the reason max_waits, for which no run ever ended: a wait too many is refused, and the run goes on.
    (body) => body,
  ),
  // Visible in the call's space, and to those who may answer: the room that delivers it determines them.
  "decision.asked": kind("space", 365, {
    decision: DecisionId,
    kind: DecisionKind,
    principal: PrincipalId,
    call: Schema.NullOr(CallId),
    tool: Schema.NullOr(Schema.String),
    approver: Schema.NullOr(PrincipalId),
    /** All named approvers, if there are several. */
    approvers: Schema.optionalKey(Schema.Array(PrincipalId)),
  }),
  /** Nobody answered for a while: these may, too. */
  "decision.escalated": kind("space", 365, {
    decision: DecisionId,
    kind: DecisionKind,
    principal: PrincipalId,
    call: Schema.NullOr(CallId),
    approvers: Schema.Array(PrincipalId),
  }),
  "decision.approved": kind("space", 365, { decision: DecisionId, principal: PrincipalId, by: PrincipalId }),
  "decision.answered": kind("space", 365, {
    decision: DecisionId,
    kind: DecisionKind,
    principal: PrincipalId,
    call: Schema.NullOr(CallId),
    verdict: AnswerVerdict,
    reach: Reach,
    by: PrincipalId,
  }),
  "decision.expired": kind("space", 365, {
    decision: DecisionId,
    kind: DecisionKind,
    principal: PrincipalId,
    call: Schema.NullOr(CallId),
  }),
  "decision.canceled": kind("space", 365, {
    decision: DecisionId,
    principal: PrincipalId,
    call: Schema.NullOr(CallId),
    reason: Schema.String,
  }),
  "approval.given": kind("concerned", 365, { approval: ApprovalId, principal: PrincipalId, tool: Schema.String }),
  "approval.revoked": kind("concerned", 365, { approval: ApprovalId, principal: PrincipalId, tool: Schema.String }),
  "pause.set": kind("admins", 365, { subject: Schema.String, reason: Schema.String }),
  "pause.lifted": kind("admins", 365, { subject: Schema.String }),
  // `owner`: the agent that owns the server; null: the house does.
  // `program`: what the house runs for it, without secrets; absent for an address.
  "server.added": kind("admins", 365, { ...server, program: Schema.optionalKey(Schema.String) }, (body) => body),
  // A program was run once, to see what it offers: an admin had confirmed exactly this.
  "server.tried": kind("admins", 365, { ...server, program: Schema.String }),
  "server.changed": kind("admins", 365, server),
  "server.removed": kind("admins", 365, server),
  "server.connected": kind("admins", 7, {
    ...server,
    version: Schema.String,
    protocol: Schema.String,
    tools: Schema.Int,
  }),
  "server.disconnected": kind("admins", 7, { ...server, error: Schema.String }),
  "server.tool-held": kind("admins", 365, { ...server, tool: Schema.String, digest: Schema.String }),
  "server.tool-accepted": kind("admins", 365, { ...server, tool: Schema.String, digest: Schema.String }),
  "resource.read": kind("concerned", 90, { ...content, uri: Schema.String }),
  // A client wants to be told when the resource changes.
  "resource.subscribed": kind("concerned", 7, { ...content, uri: Schema.String }),
  "prompt.got": kind("concerned", 90, { ...content, prompt: Schema.String }),
  "completion.got": kind("concerned", 7, { ...content, argument: Schema.String }),
  // A client program has introduced itself over MCP, with the name it gives.
  "client.connected": kind("concerned", 30, {
    principal: PrincipalId,
    client: Schema.String,
    version: Schema.String,
    protocol: Schema.String,
    tools: Schema.Int,
  }),
  "host.declared": kind("admins", 365, { ...host, shared: Schema.Boolean, tools: Schema.Array(Schema.String) }),
  "host.removed": kind("admins", 365, host),
  "host.connected": kind("admins", 7, host),
  "host.disconnected": kind("admins", 7, host),
  "timer.fired": kind("admins", 7, { timer: TimerId, purpose: Schema.String, payload: Schema.Json }),
} as const

export type EventKind = keyof typeof kinds
export type EventBody<K extends EventKind> = Schema.Struct.Type<(typeof kinds)[K]["body"]>

/** The format in which events of a kind are written now. */
export const eventVersion = (kind: EventKind): number => kinds[kind].upgrades.length + 1

/** A stored body in the present format of its kind. */
export const upgradedBody = (kind: EventKind, version: number, body: unknown): unknown => {
  const { upgrades } = kinds[kind]
  if (version > upgrades.length + 1)
    throw new Error(`an event ${kind} has format ${version}; this program knows ${upgrades.length + 1}`)
  return upgrades
    .slice(version - 1)
    .reduce((older, upgrade) => upgrade(older), body as Readonly<Record<string, unknown>>)
}

const event = <const K extends EventKind>(kind: K) =>
  Schema.Struct({
    cursor: Cursor,
    kind: Schema.Literal(kind),
    /** The format of the body: it rises when the shape of a kind changes. */
    version: Schema.Int,
    at: Moment,
    space: Schema.NullOr(Schema.String),
    actor: Schema.NullOr(PrincipalId),
    provenance: Provenance,
    correlationId: CorrelationId,
    body: Schema.Struct(kinds[kind].body),
  })

const all = Object.keys(kinds) as ReadonlyArray<EventKind>

/** By kind, for code that knows which kind it has. */
export const eventSchemas = Object.fromEntries(all.map((one) => [one, event(one)])) as unknown as {
  readonly [K in EventKind]: Schema.Codec<Extract<Event, { readonly kind: K }>, unknown>
}

/** One event as the feed carries it. */
export const Event: Schema.Codec<Event, unknown> = Schema.Union(Object.values(eventSchemas))
export type Event = {
  readonly [K in EventKind]: {
    readonly cursor: Cursor
    readonly kind: K
    readonly version: number
    readonly at: DateTime.Utc
    readonly space: string | null
    readonly actor: PrincipalId | null
    readonly provenance: Provenance
    readonly correlationId: CorrelationId
    readonly body: EventBody<K>
  }
}[EventKind]

/** What a room passes to the journal; the rest is filled in when it is written. */
export type NewEvent = {
  readonly [K in EventKind]: {
    readonly kind: K
    readonly body: EventBody<K>
    readonly space?: string
    /** The actor, if it is not the present caller. */
    readonly actor?: PrincipalId | null
    readonly provenance?: Provenance
  }
}[EventKind]
