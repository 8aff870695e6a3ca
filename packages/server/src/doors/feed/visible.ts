/**
 * Who sees what on the feed: pure, so that every stream and every replay uses the same rule. The events of which spaces a
 * principal may see is said by the room `spaces`, at the start and after each event (`spaces/Sight.ts`).
 */
import { type Event, kinds, type PrincipalId } from "@stoa/contract"
import { losesSight, mayWatch, type WatchScope } from "../../spaces/Sight.ts"

/** Whether an event names a principal: as its subject, or as the person asked to approve. */
const concerns = (event: Event, principal: PrincipalId): boolean =>
  ("principal" in event.body && event.body.principal === principal) ||
  ("approver" in event.body && event.body.approver === principal) ||
  ("approvers" in event.body && (event.body.approvers ?? []).includes(principal)) ||
  // A record is visible to those who may read it.
  ("readers" in event.body && (event.body.public || event.body.readers.includes(principal)))

export const maySee = (sight: WatchScope, event: Event): boolean => {
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

/** Whether what a principal may see has to be loaded again before these events are shown. */
export const isStale = (sight: WatchScope, events: ReadonlyArray<Event>): boolean =>
  !sight.viewer.lasting ||
  events.some((event) => changesRights(event, sight.viewer.principal.id) || losesSight(sight, event))
