/** Who sees what on the feed: pure, so that every stream and every replay asks the same question. */
import { type Event, kinds, type PrincipalId } from "@stoa/contract"

export interface Viewer {
  readonly principal: PrincipalId
  /** May read all events: admins, and whoever was granted it. */
  readonly all: boolean
}

const concerns = (event: Event, principal: PrincipalId): boolean =>
  "principal" in event.body && event.body.principal === principal

export const maySee = (viewer: Viewer, event: Event): boolean => {
  if (viewer.all || event.actor === viewer.principal) return true
  switch (kinds[event.kind].audience) {
    case "admins":
      return false
    case "concerned":
      return concerns(event, viewer.principal)
    // Members of the space: asked of the room that knows them, once there is one.
    case "space":
      return false
  }
}

/** Whether this event may have changed what the viewer may see: then the stream is judged again from its beginning. */
export const changesRights = (event: Event, viewer: Viewer): boolean => {
  switch (event.kind) {
    case "principal.changed":
    case "grant.added":
    case "grant.revoked":
    case "delegation.added":
    case "delegation.revoked":
      return concerns(event, viewer.principal)
    case "house.reloaded":
      return event.body.changed.includes("policies")
    default:
      return false
  }
}
