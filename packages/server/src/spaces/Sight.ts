/**
 * The spaces that a principal may see, kept current from events alone, and which events it sees with them: pure, one
 * decision per event, no query, so that every stream and every replay uses the same rule. `rules.ts` decides, on what
 * the event tells; `Spaces.watchScope` gives what to begin with.
 */
import { type Delta, type Event, kinds, type SpaceKind } from "@stoa/contract"
import { changesRights, isConcerned } from "../access/rights/Concerned.ts"
import type { RuleVerdict, Viewer } from "../access/rights/Viewer.ts"
import { isSeen, type SpaceAccess } from "./rules.ts"

export interface Sight {
  readonly viewer: Viewer
  /** Its rules allow it to read every space: then kind and membership decide, and events tell both. */
  readonly open: boolean
  readonly spaces: Set<string>
}

export const isOpenSight = (viewer: Pick<Viewer, "coverage">): boolean => viewer.coverage("read", "spaces/") === "all"

const allowed: RuleVerdict = { verdict: "allow", rule: "spaces/*" }
const sees = ({ viewer }: Sight, kind: SpaceKind, role: SpaceAccess["role"]): boolean =>
  isSeen({ kind, role, admin: viewer.all, read: allowed })
/** An event that does not tell the kind of a space is judged as of the most closed one. */
const closed: SpaceKind = "private"

/** A sight for somebody who follows events. */
export interface WatchScope extends Sight {
  /** May read all events, as admins and principals with that grant may; but not those of a space that a rule denies. */
  readonly everything: boolean
  /** The spaces that a rule denies. */
  readonly refused: ReadonlySet<string>
}

/** Sees nothing yet. */
export const emptySight = ({ context, principal }: Pick<Viewer, "principal" | "context">): WatchScope => ({
  viewer: {
    principal,
    context,
    all: false,
    judge: () => ({ verdict: "deny", rule: "silence" }),
    coverage: () => "none",
    lasting: false,
  },
  everything: false,
  open: false,
  spaces: new Set(),
  refused: new Set(),
})

/** Whether the events of a space, or those of none, are shown because of where they happened. */
export const mayWatch = ({ everything, refused, spaces }: WatchScope, space: string | null): boolean =>
  everything ? space === null || !refused.has(space) : space !== null && spaces.has(space)

/** Whether a watcher sees an event: by where it happened, or by the audience of its kind. */
export const maySee = (sight: WatchScope, event: Event): boolean => {
  const { id } = sight.viewer.principal
  if (sight.everything && mayWatch(sight, event.space)) return true
  const acted = event.actor === id
  switch (kinds[event.kind].audience) {
    case "admins":
      return acted
    case "concerned":
      return acted || isConcerned(event, id)
    // An actor sees its own events in a space there; after it was removed, it sees only that it was removed.
    case "space":
      return mayWatch(sight, event.space) || isConcerned(event, id)
  }
}

/**
 * Whether a watcher sees a live signal: where it sees the events; and of no space, such as a model's output, its own.
 */
export const maySeeDelta = (sight: WatchScope, { actor, space }: Delta): boolean =>
  mayWatch(sight, space) || (space === null && actor === sight.viewer.principal.id)

/** Before an event is shown: who joins a space sees the event of its joining, and everything after it. */
export const widenSight = (sight: Sight, event: Event): void => {
  if (!sight.open) return
  const { id } = sight.viewer.principal
  if (event.kind === "space.added") {
    const { kind, members, space } = event.body
    if (sees(sight, kind, members.includes(id) ? "member" : undefined)) sight.spaces.add(space)
  }
  if (event.kind === "member.added" && event.body.principal === id && sees(sight, closed, event.body.role))
    sight.spaces.add(event.body.space)
}

/** After an event was shown: who is removed sees that event, and nothing after it. */
export const narrowSight = (sight: Sight, event: Event): void => {
  if (event.kind !== "member.removed" || event.body.principal !== sight.viewer.principal.id) return
  const { open, space } = event.body
  if (!sees(sight, open ? "public" : closed, undefined)) sight.spaces.delete(space)
}

/** Whether a sight has to be loaded again after this event: it shows or hides a space that is judged by its name. */
export const losesSight = ({ open }: Pick<Sight, "open">, event: Event): boolean =>
  !open &&
  (event.kind === "space.added" ||
    event.kind === "space.changed" ||
    event.kind === "member.added" ||
    event.kind === "member.removed")

/** Whether what a watcher may see has to be loaded again before these events are shown. */
export const isStale = (sight: WatchScope, events: ReadonlyArray<Event>): boolean =>
  !sight.viewer.lasting ||
  events.some((event) => changesRights(event, sight.viewer.principal.id) || losesSight(sight, event))
