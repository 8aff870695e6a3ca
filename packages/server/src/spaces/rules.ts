/**
 * Who may do what in a space: the one table, pure. `Spaces` and `Messages` ask it before they do anything, so that no
 * door has its own rule.
 *
 * Seeing comes first: for somebody who may not see a space, it does not exist. Then the right to write, then who they
 * are in the space, then whether the space allows it.
 */
import type { Member, MemberRole, PrincipalId, Space, SpaceKind, Verdict } from "@stoa/contract"
import type { RuleVerdict, Viewer } from "../access/rights/Viewer.ts"

export interface SpaceAccess {
  readonly kind: SpaceKind
  readonly archived: boolean
  /** Their role in it; undefined for non-members. */
  readonly role: MemberRole | undefined
  /** An admin of spaces. */
  readonly admin: boolean
  /** Whether the message in question is their own. */
  readonly author: boolean
  readonly read: RuleVerdict
  readonly write: RuleVerdict
}

export type Act = keyof typeof demands

export type SpaceVerdict =
  | { readonly is: "yes" }
  | { readonly is: "hidden" }
  | { readonly is: "refused"; readonly rule: string; readonly lacks: "write" | "standing" }
  | { readonly is: "archived" }
  | { readonly is: "dm" }

interface Demand {
  /** Used in the refusal: "you may not <verb> spaces/…". */
  readonly verb: string
  readonly who: (standing: SpaceAccess) => boolean
  /** The rule named to those who are refused. */
  readonly rule: string
  readonly instead: string
  /** It changes nothing that others see, so the right to read is enough. */
  readonly quiet?: true
  readonly whenArchived?: true
  /** The members of a dm never change. */
  readonly notInDm?: true
}

const isMember = ({ role }: SpaceAccess): boolean => role !== undefined
/** Private spaces belong to their members, public ones are open to the house. */
const speaks = (standing: SpaceAccess): boolean => standing.kind === "public" || isMember(standing)
const owns = ({ admin, role }: SpaceAccess): boolean => admin || role === "owner"
const belongs = (standing: SpaceAccess): boolean => standing.admin || isMember(standing)

const members = { rule: "members only", instead: "A member, or an admin, can add you to the space." }
const owner = { rule: "owner only", instead: "Ask its owner, or an admin." }

// An admin manages spaces from outside, but speaks only where it may.
const demands = {
  see: { verb: "read", who: (it) => speaks(it) || it.admin, ...members, quiet: true, whenArchived: true },
  mark: { verb: "mark as read", who: isMember, ...members, quiet: true, whenArchived: true },
  // Whoever stands in a space speaks there: messages and visible calls without a space go to it.
  enter: { verb: "enter", who: isMember, ...members },
  post: { verb: "post to", who: speaks, ...members },
  call: { verb: "call tools in", who: speaks, ...members },
  type: { verb: "type in", who: speaks, ...members },
  react: { verb: "react in", who: speaks, ...members },
  edit: {
    verb: "edit a message of",
    who: (it) => it.author && speaks(it),
    rule: "only the author",
    instead: "Only its author can edit it.",
  },
  remove: {
    verb: "delete a message of",
    who: (it) => owns(it) || (it.author && speaks(it)),
    rule: "only the author or the owner of the space",
    instead: "Its author, the space's owner and admins can delete it.",
  },
  pin: { verb: "pin in", who: (it) => it.admin || speaks(it), ...members },
  topic: { verb: "change", who: belongs, ...members },
  // What affects everybody is for the owner: anybody may join a public space, but must not close it.
  change: { verb: "change", who: owns, ...owner },
  restore: { verb: "change", who: owns, ...owner, whenArchived: true },
  join: { verb: "join", who: (it) => it.kind === "public" || belongs(it), ...members, notInDm: true },
  invite: { verb: "add members to", who: belongs, ...members, notInDm: true },
  leave: { verb: "leave", who: belongs, ...members, notInDm: true },
  expel: { verb: "remove members from", who: owns, ...owner, notInDm: true },
} as const satisfies Record<string, Demand>

export const verbOf = (act: Act): string => demands[act].verb
export const insteadOf = (act: Act): string => demands[act].instead

const yes: SpaceVerdict = { is: "yes" }
const hidden: SpaceVerdict = { is: "hidden" }

export const judgeAct = (act: Act, standing: SpaceAccess): SpaceVerdict => {
  if (standing.read.verdict !== "allow" || !demands.see.who(standing)) return hidden
  const demand: Demand = demands[act]
  if (demand.quiet !== true && standing.write.verdict !== "allow")
    return { is: "refused", rule: standing.write.rule, lacks: "write" }
  if (!demand.who(standing)) return { is: "refused", rule: demand.rule, lacks: "standing" }
  if (demand.notInDm === true && standing.kind === "dm") return { is: "dm" }
  return standing.archived && demand.whenArchived !== true ? { is: "archived" } : yes
}

/**
 * Whether it may be seen: the first question of every other, by itself, for sets of spaces and for what events tell. The
 * verdict on reading may be known beforehand for all of them.
 */
export const isSeen = (standing: Pick<SpaceAccess, "kind" | "role" | "admin" | "read">): boolean =>
  judgeAct("see", { ...standing, archived: false, author: false, write: standing.read }).is === "yes"

const order: ReadonlyArray<Verdict> = ["deny", "ask", "allow"]

/** A rule may name a space by its name or by its id; among all that match, deny wins over ask and ask over allow. */
export const judgeSpace = (
  { judge }: Pick<Viewer, "judge">,
  action: "read" | "write",
  { id, name }: Pick<Space, "id" | "name">,
): RuleVerdict => {
  const said = [judge(action, `spaces/${name}`), judge(action, `spaces/${id}`)]
  const spoken = said.filter(({ rule, verdict }) => verdict !== "deny" || rule !== "silence")
  for (const verdict of order) {
    const decided = spoken.find((one) => one.verdict === verdict)
    if (decided !== undefined) return decided
  }
  return said[0]!
}

/** The parts of a space that rules are matched against. */
export type SpaceIdentity = Pick<Space, "id" | "name" | "kind">

export const accessOf = (
  viewer: Viewer,
  space: SpaceIdentity,
  role: MemberRole | undefined,
  more: { readonly archived?: boolean; readonly author?: boolean } = {},
): SpaceAccess => ({
  kind: space.kind,
  role,
  admin: viewer.all,
  archived: more.archived ?? false,
  author: more.author ?? false,
  read: judgeSpace(viewer, "read", space),
  write: judgeSpace(viewer, "write", space),
})

export const memberOf = (space: Space, principal: PrincipalId): Member | undefined =>
  space.members.find((member) => member.id === principal)
