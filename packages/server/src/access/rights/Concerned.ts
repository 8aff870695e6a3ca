/** Whom an event concerns, and whose rules it may have changed. Pure: the feed and the room `spaces` ask it. */
import type { Event, PrincipalId } from "@stoa/contract"

/** Whether an event names a principal: as its subject, or as the person asked to approve. */
export const isConcerned = (event: Event, principal: PrincipalId): boolean =>
  ("principal" in event.body && event.body.principal === principal) ||
  ("approver" in event.body && event.body.approver === principal) ||
  ("approvers" in event.body && (event.body.approvers ?? []).includes(principal)) ||
  // A record is visible to those who may read it.
  ("readers" in event.body && (event.body.public || event.body.readers.includes(principal)))

/** Whether this event may have changed the rules that apply to a principal. */
export const changesRights = (event: Event, principal: PrincipalId): boolean => {
  switch (event.kind) {
    case "principal.changed":
    case "grant.added":
    case "grant.revoked":
    case "delegation.added":
    case "delegation.revoked":
      return isConcerned(event, principal)
    case "house.reloaded":
      return event.body.changed.includes("policies")
    default:
      return false
  }
}
