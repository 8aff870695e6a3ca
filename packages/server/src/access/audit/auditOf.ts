/** What the audit trail records of an event, and how its hash chain is built. Pure, so that anybody can verify it. */
import { hash } from "node:crypto"
import { type AuditResult, type Event, type EventBody, type EventKind, kinds } from "@stoa/contract"

export interface TrailEntry {
  readonly principal: string | null
  readonly action: string
  readonly resource: string
  readonly result: AuditResult
  readonly rule?: string
  readonly call?: string
  readonly space?: string
  readonly durationMs?: number
}

/** The row by which the trail records that an operator has accepted what it reports about itself. */
export const acceptEntry = { action: "accept", resource: "findings/audit" } as const

/** Not audited: content of spaces, for their members, or a step of something that is audited when it ends. */
const passedOver = [
  "message.created",
  "message.changed",
  "message.settled",
  "message.edited",
  "message.pinned",
  "reaction.added",
  "reaction.removed",
  "space.read",
  "call.received",
  "call.waiting",
  "decision.asked",
  "timer.fired",
  "client.connected",
  "run.queued",
  "run.started",
  "run.stepped",
  "run.waiting",
  "run.resumed",
  "run.entered",
] as const satisfies ReadonlyArray<EventKind>

/** A hidden tool answers like an unknown one: a call of either counts as denied. */
const refusals: ReadonlyArray<string> = ["ToolAuthorizationError", "ToolNotFoundError"]

/** The kinds the audit reads. */
export const auditedKinds = (Object.keys(kinds) as ReadonlyArray<EventKind>).filter(
  (kind) => !(passedOver as ReadonlyArray<EventKind>).includes(kind),
)

/** Covers all kinds: a new kind does not compile until somebody decides what is audited of it. */
export const auditOf = (event: Event): TrailEntry | undefined => {
  const done = (action: string, resource: string): TrailEntry => ({
    principal: event.actor,
    action,
    resource,
    result: "success",
  })
  const used = (
    action: string,
    resource: string,
    { error, principal, rule }: EventBody<"resource.read" | "resource.subscribed" | "prompt.got" | "completion.got">,
  ): TrailEntry => ({
    principal,
    action,
    resource,
    result: error === null ? "success" : error.tag === "ToolAuthorizationError" ? "denied" : "failure",
    rule,
  })
  /** Somebody may act on the memory of another who let them: then it says for whom. */
  const for_ = (entry: TrailEntry, { principal }: { readonly principal: string }): TrailEntry =>
    event.actor === null || event.actor === principal ? entry : { ...entry, rule: `acting for ${principal}` }
  switch (event.kind) {
    case "house.started":
      return done("start", "house")
    case "house.accepted":
      return done(acceptEntry.action, `findings/${event.body.check}`)
    case "house.backed-up":
      return {
        ...done(event.body.withKey ? "back up with the key" : "back up", "house"),
        ...(event.body.complete ? {} : { result: "failure" as const }),
      }
    case "house.reloaded":
      return done("reload", `configuration/${event.body.file}`)
    case "demo.changed":
      return event.body.step === null ? done(`demo ${event.body.state}`, "house") : undefined
    case "principal.added":
      return done("add", `principals/${event.body.name}`)
    case "principal.changed":
      return done(`change ${event.body.changes.join(", ")}`, `principals/${event.body.principal}`)
    case "principal.retired":
      return done("retire", `principals/${event.body.name}`)
    case "token.issued":
      return done("issue", `tokens/${event.body.token}`)
    case "token.revoked":
      return done("revoke", `tokens/${event.body.token}`)
    case "grant.added":
      return done(`${event.body.effect} ${event.body.actions.join(", ")}`, event.body.resource)
    case "grant.revoked":
      return done("revoke", `grants/${event.body.grant}`)
    case "delegation.added":
      return done(`delegate ${event.body.actions.join(", ")}`, event.body.resource)
    case "delegation.revoked":
      return done("revoke", `delegations/${event.body.delegation}`)
    case "allow-list.changed":
      return done("change", `allow-lists/${event.body.toolset}/${event.body.context}`)
    case "secret.set":
      return done("set", `secrets/${event.body.name}`)
    case "secret.removed":
      return done("remove", `secrets/${event.body.name}`)
    case "access.denied": {
      const { action, principal, resource, rule } = event.body
      return { principal, action, resource, result: "denied", rule }
    }
    case "space.added":
      return done("open", `spaces/${event.body.name}`)
    case "space.changed":
      return done(`change ${event.body.changes.join(", ")}`, `spaces/${event.body.space}`)
    case "member.added":
      return done("let in", `spaces/${event.body.space}/members/${event.body.principal}`)
    case "member.removed":
      return done("put out", `spaces/${event.body.space}/members/${event.body.principal}`)
    case "message.deleted":
      return done("delete", `messages/${event.body.message}`)
    // Messages are for the members of the space, not for the auditor.
    case "message.created":
    case "message.changed":
    case "message.settled":
    case "message.edited":
    case "message.pinned":
    case "reaction.added":
    case "reaction.removed":
    case "space.read":
      return undefined
    case "memory.written":
      return for_(done("write", `memory/${event.body.record}@${event.body.version}`), event.body)
    case "memory.deleted":
      return for_(
        done(event.body.permanent ? "erase" : "delete", `memory/${event.body.record}@${event.body.version}`),
        event.body,
      )
    case "memory.erased":
      return done("erase", `memory of ${event.body.principal}`)
    case "memory.shared":
      return done(
        event.body.right === null ? "unshare" : `share to ${event.body.right}`,
        `memory/${event.body.record}/shares/${event.body.reader}`,
      )
    case "memory.answered":
      return done(event.body.taken ? "take" : "decline", `memory/${event.body.record}/shares/${event.body.reader}`)
    case "tool.added":
      return done("add", `tools/${event.body.tool}`)
    case "tool.changed":
      return done("change", `tools/${event.body.tool}`)
    case "tool.removed":
      return done("remove", `tools/${event.body.tool}`)
    // One row per call: how it ended, in every case (S4-28).
    case "call.settled": {
      const { call, durationMs, error, principal, rule, space = null, state, tool } = event.body
      const denied = error !== null && refusals.includes(error.tag)
      const result = state === "done" ? "success" : denied ? "denied" : "failure"
      return {
        principal,
        action: "tool.execute",
        resource: `tools/${tool}`,
        result,
        call,
        durationMs,
        ...(rule === null ? {} : { rule }),
        ...(space === null ? {} : { space }),
      }
    }
    case "call.received":
    case "call.waiting":
    case "decision.asked":
      return undefined
    // Who approved what is what an auditor looks for (G-13).
    case "decision.approved":
      return done("approve", `decisions/${event.body.decision}`)
    case "decision.answered": {
      const { by, call, decision, verdict } = event.body
      return {
        principal: by,
        action: verdict,
        resource: `decisions/${decision}`,
        result: "success",
        ...(call === null ? {} : { call }),
      }
    }
    case "decision.escalated":
      return done("escalate", `decisions/${event.body.decision}`)
    case "decision.expired":
      return done("expire", `decisions/${event.body.decision}`)
    case "decision.canceled":
      return done("cancel", `decisions/${event.body.decision}`)
    case "approval.given":
      return done("approve from now on", `tools/${event.body.tool}`)
    case "approval.revoked":
      return done("revoke approval", `tools/${event.body.tool}`)
    case "pause.set":
      return done("pause", event.body.subject)
    case "pause.lifted":
      return done("let go on", event.body.subject)
    case "server.added":
      return done("add", `servers/${event.body.server}`)
    case "server.tried":
      return done("run", `servers/${event.body.server}/programs/${event.body.program}`)
    case "server.changed":
      return done("change", `servers/${event.body.server}`)
    case "server.removed":
      return done("remove", `servers/${event.body.server}`)
    case "server.tool-held":
      return done("hold", `tools/${event.body.server}/${event.body.tool}`)
    case "server.tool-accepted":
      return done("accept", `tools/${event.body.server}/${event.body.tool}`)
    // Other requests to a server are audited like calls of its tools.
    case "resource.read":
      return used("resource.read", `servers/${event.body.server}/resources/${event.body.uri}`, event.body)
    case "resource.subscribed":
      return used("resource.subscribe", `servers/${event.body.server}/resources/${event.body.uri}`, event.body)
    case "prompt.got":
      return used("prompt.get", `servers/${event.body.server}/prompts/${event.body.prompt}`, event.body)
    case "completion.got":
      return used("completion.get", `servers/${event.body.server}/completions/${event.body.argument}`, event.body)
    // Servers come and go by themselves.
    case "server.connected":
    case "server.disconnected":
      return undefined
    case "client.connected":
      return undefined
    case "host.declared":
      return done("declare", `hosts/${event.body.name}`)
    case "host.removed":
      return done("remove", `hosts/${event.body.name}`)
    // How a run ended, and for whom. Its actions are calls, each with its own row.
    case "run.ended": {
      const { principal, run, state, stop } = event.body
      return {
        principal,
        action: `run ${stop}`,
        resource: `runs/${run}`,
        result: state === "completed" ? "success" : "failure",
        ...(event.space === null ? {} : { space: event.space }),
      }
    }
    case "run.queued":
    case "run.started":
    case "run.stepped":
    case "run.waiting":
    case "run.resumed":
    case "run.entered":
      return undefined
    case "run.retried":
      return done("retry", `runs/${event.body.of}`)
    case "host.connected":
    case "host.disconnected":
      return undefined
    // Timers are internal; what they trigger is audited as what it is.
    case "timer.fired":
      return undefined
    default:
      return event satisfies never
  }
}

export interface ChainRow extends TrailEntry {
  readonly seq: number
  readonly at: string
  readonly correlationId: string
}

/** Each row's hash covers the previous one: changing, removing or inserting a row breaks every later hash. */
export const hashOfRow = (before: string, row: ChainRow): string =>
  hash(
    "sha256",
    JSON.stringify([
      before,
      row.seq,
      row.at,
      row.principal,
      row.action,
      row.resource,
      row.result,
      row.rule ?? null,
      row.call ?? null,
      row.correlationId,
      // Older rows have no such columns, and hashes without them.
      ...(row.space == null && row.durationMs == null ? [] : [row.space ?? null, row.durationMs ?? null]),
    ]),
    "hex",
  )
