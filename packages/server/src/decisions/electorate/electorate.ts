/**
 * Who may answer: pure. People, and never the one who asked. Those the tool or a policy names; the admins where none of
 * those can; where nobody is named, the people of the call's space and the admins. Who asks does not choose: of a space
 * those count who were there before the call was made, unless the caller, or an agent of its own, opened it or let them in.
 *
 * Of an approval the list is fixed when it is asked, with the reason of each, and asked again when it is answered: who has
 * lost that reason since is out, and a reason gained since is none. A form is data and no approval: its list is today's.
 */
import type { DecisionKind, PrincipalId, Role } from "@stoa/contract"
import type { SpacePeople } from "./SpaceMembers.ts"

/** `stand-in`: an admin, where none of those who are named can answer. `escalation`: once nobody answered for a while. */
export type Reason = "named" | "admin" | "member" | "stand-in" | "escalation" | `escalation role:${Role}`

export interface Voter {
  readonly principal: PrincipalId
  readonly reason: Reason
}

/** What the house knows at a moment. */
export interface ElectorateFacts {
  /** The people among those who are named, or to whom it escalates, who are here. */
  readonly here: ReadonlySet<PrincipalId>
  readonly admins: ReadonlyArray<{ readonly id: PrincipalId; readonly since: string }>
  /** The asker, the agents of its tree and those it owns: whom one of them let in, the asker may have chosen. */
  readonly kin: ReadonlySet<string>
  /** Of the space it was asked in; null, where there is none. */
  readonly space: SpacePeople | null
  /** Those who hold a role. */
  readonly holds: (role: Role) => ReadonlySet<PrincipalId>
}

export interface DecisionRequest {
  readonly kind: DecisionKind
  readonly askedBy: PrincipalId
  /** When the call was made. */
  readonly askedAt: string
}

/** The people of the call's space whom its caller did not choose. */
const unchosen = ({ askedAt }: DecisionRequest, { kin, space }: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  space === null || space.openedBy === null || kin.has(space.openedBy)
    ? []
    : space.people
        .filter(({ letInBy, since }) => letInBy !== null && !kin.has(letInBy) && since <= askedAt)
        .map(({ id }) => id)

const adminsOf = ({ askedAt, kind }: DecisionRequest, { admins }: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  admins.filter(({ since }) => kind !== "approval" || since <= askedAt).map(({ id }) => id)

const membersOf = (question: DecisionRequest, standing: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  question.kind === "approval" ? unchosen(question, standing) : (standing.space?.people ?? []).map(({ id }) => id)

/** Who is asked. `named` is null where nobody is; where somebody is and cannot answer, the admins are. */
export const voters = (
  question: DecisionRequest,
  named: ReadonlyArray<PrincipalId> | null,
  standing: ElectorateFacts,
): ReadonlyArray<Voter> => {
  const as = (reason: Reason) => (principal: PrincipalId) => ({ principal, reason })
  const admins = adminsOf(question, standing)
  const able = named?.filter((one) => one !== question.askedBy && standing.here.has(one)) ?? []
  const first =
    named === null
      ? [...membersOf(question, standing).map(as("member")), ...admins.map(as("admin"))]
      : able.length === 0
        ? admins.map(as("admin"))
        : [...able.map(as("named")), ...admins.map(as("stand-in"))]
  return first.filter(({ principal }) => principal !== question.askedBy)
}

/** Whose reason still holds, in the order in which they are asked; each once. */
export const electorate = (
  question: DecisionRequest & { readonly escalated: boolean },
  fixed: ReadonlyArray<Voter>,
  standing: ElectorateFacts,
): ReadonlyArray<PrincipalId> => {
  const admins = new Set(adminsOf(question, standing))
  const members = new Set(membersOf(question, standing))
  const named = fixed.some(({ principal, reason }) => reason === "named" && standing.here.has(principal))
  const holds = ({ principal, reason }: Voter): boolean => {
    switch (reason) {
      case "named":
        return standing.here.has(principal)
      case "member":
        return members.has(principal)
      case "admin":
        return admins.has(principal)
      case "stand-in":
        return !named && admins.has(principal)
      case "escalation":
        return question.escalated && standing.here.has(principal)
      default:
        return question.escalated && standing.holds(reason.slice("escalation role:".length) as Role).has(principal)
    }
  }
  const able = fixed.filter((one) => one.principal !== question.askedBy && holds(one))
  return [...new Set(able.map(({ principal }) => principal))]
}
