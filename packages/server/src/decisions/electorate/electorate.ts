/**
 * Who may answer: pure. Only people, and never the asker: those whom the tool or a policy names; if none of them can, the
 * admins; if nobody is named, the people of the call's space and the admins. The asker must not choose who answers: of a
 * space, only people count who were members before the question was asked, and nobody counts whom the asker or one of
 * its agents added, or if one of them opened the space. Before and after are told by the order of events, never by
 * clocks.
 *
 * For an approval the list is fixed when it is asked, with each person's reason, and checked again when it is answered:
 * people who have lost that reason are out, and a reason gained later does not count. A form is data and no approval:
 * its list is the present one.
 */
import type { DecisionKind, PrincipalId, Role } from "@stoa/contract"
import type { SpacePeople } from "./SpaceMembers.ts"

/** `stand-in`: an admin, if none of the named people can answer. `escalation`: after nobody answered for a while. */
export type Reason = "named" | "admin" | "member" | "stand-in" | "escalation" | `escalation role:${Role}`

export interface Voter {
  readonly principal: PrincipalId
  readonly reason: Reason
}

/** What the house knows at a moment. */
export interface ElectorateFacts {
  /** The active people among those who are named, or to whom it escalates. */
  readonly here: ReadonlySet<PrincipalId>
  readonly admins: ReadonlyArray<{ readonly id: PrincipalId; readonly since: number }>
  /** The asker, the agents of its tree and those it owns: the asker may have chosen people whom one of them let in. */
  readonly kin: ReadonlySet<string>
  /** The people of the space it was asked in; null if there is none. */
  readonly space: SpacePeople | null
  /** The people with a role. */
  readonly holds: (role: Role) => ReadonlySet<PrincipalId>
}

export interface DecisionRequest {
  readonly kind: DecisionKind
  readonly askedBy: PrincipalId
  /** The newest event of the journal when it was asked: what came before has a smaller number. */
  readonly askedAfter: number
}

/** The people of the call's space whom its caller did not choose. */
const unchosen = ({ askedAfter }: DecisionRequest, { kin, space }: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  space === null || space.openedBy === null || kin.has(space.openedBy)
    ? []
    : space.people
        .filter(({ letInBy, since }) => letInBy !== null && !kin.has(letInBy) && since < askedAfter)
        .map(({ id }) => id)

const adminsOf = ({ askedAfter, kind }: DecisionRequest, { admins }: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  admins.filter(({ since }) => kind !== "approval" || since < askedAfter).map(({ id }) => id)

const membersOf = (question: DecisionRequest, standing: ElectorateFacts): ReadonlyArray<PrincipalId> =>
  question.kind === "approval" ? unchosen(question, standing) : (standing.space?.people ?? []).map(({ id }) => id)

/** Who is asked. `named` is null if nobody is named; if none of the named can answer, the admins are asked. */
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

/** Those whose reason is still valid, in the order of asking; each once. */
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
