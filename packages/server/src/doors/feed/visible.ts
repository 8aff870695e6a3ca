/**
 * Who sees what on the feed: pure, so that every stream and every replay uses the same rule. The room `spaces` says
 * which spaces a principal may see; this keeps that set current from the events themselves.
 */
import { type Event, kinds, type PrincipalId } from "@stoa/contract"
import type { Viewer } from "../../access/rights/Viewer.ts"

export interface FeedScope {
  readonly viewer: Viewer
  /** May read all events, as admins and principals with that grant may; but not those of a space that a rule denies. */
  readonly everything: boolean
  /** Its rules let it see every space it is in, and every public one: then events alone tell what it may see next. */
  readonly open: boolean
  readonly spaces: Set<string>
  readonly refused: ReadonlySet<string>
}

export const mayWatch = ({ everything, refused, spaces }: FeedScope, space: string | null): boolean =>
  everything ? space === null || !refused.has(space) : space !== null && spaces.has(space)

/** A principal that joins a space sees the event of its joining, and everything after it. */
export const enter = ({ open, spaces, viewer }: FeedScope, event: Event): void => {
  if (!open) return
  const { all, principal } = viewer
  if (event.kind === "space.added") {
    const { kind, members, space } = event.body
    if (all || kind === "public" || members.includes(principal.id)) spaces.add(space)
  }
  if (event.kind === "member.added" && event.body.principal === principal.id) spaces.add(event.body.space)
}

/**
 * A principal that is removed sees that event, and nothing after it. A public space stays visible: everybody may watch
 * it.
 */
export const leaveBy = ({ spaces, viewer }: FeedScope, event: Event): void => {
  if (
    event.kind === "member.removed" &&
    event.body.principal === viewer.principal.id &&
    !event.body.open &&
    !viewer.all
  )
    spaces.delete(event.body.space)
}

/** Whether an event names a principal: as its subject, or as the person asked to approve. */
const concerns = (event: Event, principal: PrincipalId): boolean =>
  ("principal" in event.body && event.body.principal === principal) ||
  ("approver" in event.body && event.body.approver === principal) ||
  ("approvers" in event.body && (event.body.approvers ?? []).includes(principal)) ||
  // A record is visible to those who may read it.
  ("readers" in event.body && (event.body.public || event.body.readers.includes(principal)))

export const maySee = (sight: FeedScope, event: Event): boolean => {
  const { id } = sight.viewer.principal
  if (sight.everything && mayWatch(sight, event.space)) return true
  const acted = event.actor === id
  switch (kinds[event.kind].audience) {
    case "admins":
      return acted
    case "concerned":
      return acted || concerns(event, id)
    // An actor sees its own events in a space there; after it was removed, it sees only that it was removed.
    case "space":
      return mayWatch(sight, event.space) || concerns(event, id)
  }
}

/** Whether this event may have changed the rules that apply to a principal. */
export const changesRights = (event: Event, principal: PrincipalId): boolean => {
  switch (event.kind) {
    case "principal.changed":
    case "grant.added":
    case "grant.revoked":
    case "delegation.added":
    case "delegation.revoked":
      return concerns(event, principal)
    case "house.reloaded":
      return event.body.changed.includes("policies")
    default:
      return false
  }
}

/** Whether this event may show or hide a space that has to be judged by its name. */
const changesSpaces = (event: Event): boolean =>
  event.kind === "space.added" ||
  event.kind === "space.changed" ||
  event.kind === "member.added" ||
  event.kind === "member.removed"

/** Whether what a principal may see has to be loaded again before these events are shown. */
export const isStale = ({ open, viewer }: FeedScope, events: ReadonlyArray<Event>): boolean =>
  !viewer.lasting ||
  events.some((event) => changesRights(event, viewer.principal.id) || (!open && changesSpaces(event)))
