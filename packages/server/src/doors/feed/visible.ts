/** Who sees what on the feed: pure, so that every stream and every replay asks the same question. */
import { type Event, kinds, type PrincipalId } from "@stoa/contract"

export interface Viewer {
  readonly principal: PrincipalId
  /** May read all events: admins, and whoever was granted it. */
  readonly all: boolean
  /** Spaces it may watch now: its own and the public ones. Kept current by the events themselves. */
  readonly spaces: Set<string>
}

export const mayWatch = (viewer: Viewer, space: string | null): boolean =>
  viewer.all || (space !== null && viewer.spaces.has(space))

/** Whoever comes in sees the event of their coming, and everything after it. */
export const enter = (viewer: Viewer, event: Event): void => {
  if (event.kind === "space.added" && (event.body.kind === "public" || event.body.members.includes(viewer.principal)))
    viewer.spaces.add(event.body.space)
  if (event.kind === "member.added" && event.body.principal === viewer.principal) viewer.spaces.add(event.body.space)
}

/** Whoever is put out sees that, and nothing after it. A public space cannot be left: everybody may watch it. */
export const leaveBy = (viewer: Viewer, event: Event): void => {
  if (event.kind === "member.removed" && event.body.principal === viewer.principal && !event.body.open)
    viewer.spaces.delete(event.body.space)
}

/** Whom an event names: the one it is about, and the one who is asked to approve. */
const concerns = (event: Event, principal: PrincipalId): boolean =>
  ("principal" in event.body && event.body.principal === principal) ||
  ("approver" in event.body && event.body.approver === principal) ||
  // A record is seen by those who may read it.
  ("readers" in event.body && (event.body.public || event.body.readers.includes(principal)))

export const maySee = (viewer: Viewer, event: Event): boolean => {
  if (viewer.all) return true
  const acted = event.actor === viewer.principal
  switch (kinds[event.kind].audience) {
    case "admins":
      return acted
    case "concerned":
      return acted || concerns(event, viewer.principal)
    // What one did in a space is seen there; whoever was put out of it sees no more than that it was.
    case "space":
      return mayWatch(viewer, event.space) || concerns(event, viewer.principal)
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
