/** Who may answer and who may see a question: loads what the pure rules of `electorate.ts` need. */
import type { PrincipalId, Role } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../access/identity/Principals.ts"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { type Reason, electorate, type ElectorateFacts, type Voter, voters } from "./electorate.ts"
import { makeInsert } from "../../store/database/dialect/Inserts.ts"
import { isOpen } from "../lifecycle.ts"
import { type DecisionRow, type FullRow, votersIn } from "../rows.ts"
import { SpaceMembers, type SpacePeople } from "./SpaceMembers.ts"

/** At most this many people of a role or a space are asked: those who have been there longest. */
const maxAsked = 1000

/** The order in which the people who may answer are listed. */
const rank = (reason: Reason): number =>
  ["named", "member", "admin", "stand-in"].findIndex((one) => one === reason) +
  (reason.startsWith("escalation") ? 5 : 0)

const inOrder = (a: Voter, b: Voter): number =>
  rank(a.reason) - rank(b.reason) || (a.principal < b.principal ? -1 : a.principal > b.principal ? 1 : 0)

const byName = ({ reason }: Voter): boolean => reason === "named" || reason === "escalation"
const byRole = ({ reason }: Voter): boolean => reason.startsWith("escalation role:")

type Asked = Pick<
  DecisionRow,
  "id" | "kind" | "state" | "askedBy" | "askedAfter" | "approver" | "space" | "escalatedAt"
>

type FullAsked = Asked & Pick<FullRow, "voters">

export interface Approvers {
  readonly named: ReadonlyArray<PrincipalId> | null
  readonly escalation: ReadonlyArray<PrincipalId | `role:${Role}`>
  /** The epoch of rights in which it is asked. */
  readonly epoch: number
}

export const makeEligibility = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const principals = yield* Principals
  const members = yield* SpaceMembers
  const insertVoters = makeInsert<Voter & { readonly decision: string }>(sql, "decision_voters", [
    "decision",
    "principal",
    "reason",
  ])

  /** An agent's superiors, the agents below it or them, and the agents that a principal owns; each including itself. */
  const kinOf = Effect.fnUntraced(function* (one: PrincipalId) {
    const rows = yield* Effect.orDie(sql<{ id: string }>`WITH RECURSIVE up (id) AS (
        SELECT CAST(${one} AS TEXT) AS id
        UNION SELECT a.parent FROM agents a JOIN up ON a.principal = up.id WHERE a.parent IS NOT NULL),
      first (id) AS (SELECT id FROM up UNION SELECT id FROM principals WHERE owner = ${one} AND kind = 'agent'),
      branch (id) AS (SELECT id FROM first UNION SELECT a.principal FROM agents a JOIN branch ON a.parent = branch.id)
      SELECT id FROM branch`)
    return new Set(rows.map(({ id }) => id))
  })

  // Admins change only with the epoch. A question may store one who is about to be none: answers are judged anew.
  let known: { readonly epoch: number; readonly admins: ElectorateFacts["admins"] } | undefined
  const adminsAt = (epoch: number): Effect.Effect<ElectorateFacts["admins"]> =>
    known?.epoch === epoch
      ? Effect.succeed(known.admins)
      : Effect.map(principals.admins, (admins) => {
          known = { epoch, admins }
          return admins
        })

  /** What the house knows now about all who might answer one of these. */
  const factsFor = Effect.fnUntraced(function* (
    asked: ReadonlyArray<Asked>,
    known: ReadonlyArray<Voter>,
    admins: ElectorateFacts["admins"],
  ) {
    const spaces = new Map<string, SpacePeople>()
    for (const { space } of asked)
      if (space !== null && !spaces.has(space)) spaces.set(space, yield* members.peopleOf(space))
    const ids = [...new Set(known.filter((one) => byName(one) || byRole(one)).map(({ principal }) => principal))]
    const people = yield* principals.peopleOf(ids)
    const here = new Set(people.map(({ id }) => id))
    const holds = (role: Role) => new Set(people.filter(({ roles }) => roles.includes(role)).map(({ id }) => id))
    const kin = new Map<string, ReadonlySet<string>>()
    for (const { askedBy, space } of asked)
      if (!kin.has(askedBy)) kin.set(askedBy, space === null ? new Set([askedBy]) : yield* kinOf(askedBy))
    return ({ askedBy, space }: Asked): ElectorateFacts => ({
      here,
      holds,
      admins,
      kin: kin.get(askedBy)!,
      space: space === null ? null : spaces.get(space)!,
    })
  })

  /** Who may answer each of these now. Nobody, if it is closed. */
  const mayAnswer = Effect.fnUntraced(function* (rows: ReadonlyArray<FullAsked>) {
    const asked = rows.filter(({ state }) => isOpen(state))
    if (asked.length === 0) return new Map<string, ReadonlyArray<PrincipalId>>()
    const fixed = new Map(asked.map((one) => [one.id, votersIn(one).toSorted(inOrder)]))
    const standing = yield* factsFor(asked, [...fixed.values()].flat(), yield* principals.admins)
    return new Map(
      asked.map((one) => {
        const stored = fixed.get(one.id)!
        const named = stored.filter(({ reason }) => reason === "named").map(({ principal }) => principal)
        const all =
          one.kind === "approval"
            ? stored
            : [
                ...voters(one, one.approver === null ? null : named, standing(one)),
                ...stored.filter(({ reason }) => reason.startsWith("escalation")),
              ]
        return [one.id, electorate({ ...one, escalated: one.escalatedAt !== null }, all, standing(one))] as const
      }),
    )
  })

  /**
   * Stores with the question who may answer it, and returns who may now. For a form only the named people are fixed:
   * everybody else is determined when it is answered.
   */
  const fix = Effect.fnUntraced(function* (asked: Asked, { epoch, escalation, named }: Approvers) {
    const targets: Array<Voter> = []
    for (const whom of escalation)
      if (whom.startsWith("role:"))
        for (const principal of yield* principals.peopleIn(whom.slice(5) as Role, maxAsked))
          targets.push({ principal, reason: `escalation ${whom as `role:${Role}`}` })
      else targets.push({ principal: whom as PrincipalId, reason: "escalation" })
    const names = (named ?? []).map((principal) => ({ principal, reason: "named" as const }))
    const standing = (yield* factsFor([asked], [...names, ...targets], yield* adminsAt(epoch)))(asked)
    const able = voters(asked, named, standing)
    const first = asked.kind === "approval" ? able : names
    const all = [...first.slice(0, maxAsked), ...targets.slice(0, maxAsked)].filter(
      ({ principal }) => principal !== asked.askedBy,
    )
    const rows = [...new Map(all.map((one) => [`${one.principal} ${one.reason}`, one])).values()]
    if (rows.length > 0) yield* Effect.orDie(insertVoters.run(rows.map((one) => ({ decision: asked.id, ...one }))))
    return electorate({ ...asked, escalated: false }, able, standing)
  })

  /** Members see a question through their space: once it is closed, their rows are not needed. */
  const release = (id: string) =>
    Effect.orDie(sql`DELETE FROM decision_voters WHERE decision = ${id} AND reason = 'member'`)

  /** The people it has escalated to, or will. */
  const targetsOf = (one: FullAsked): ReadonlyArray<PrincipalId> =>
    votersIn(one)
      .toSorted(inOrder)
      .filter(({ reason }) => reason.startsWith("escalation"))
      .map(({ principal }) => principal)

  /** The questions a principal may see: its own, those put to it by name, those of its spaces. */
  const seen = Effect.fnUntraced(function* (reader: Pick<Viewer, "principal" | "context">) {
    const me = reader.principal.id
    const spaces = yield* members.spacesOf(reader)
    const there = spaces.length === 0 ? sql`1 = 0` : sql.in("space", spaces)
    return sql`(asked_by = ${me} OR approver = ${me} OR answered_by = ${me} OR ${there} OR EXISTS (
      SELECT 1 FROM decision_voters v WHERE v.decision = decisions.id AND v.principal = ${me} AND (v.reason = 'named'
        OR (escalated_at IS NOT NULL AND (v.reason = 'escalation' OR (v.reason LIKE 'escalation role:%'
          AND (SELECT roles FROM principals WHERE id = ${me}) LIKE '%"' || substr(v.reason, 17) || '"%'))))))`
  })

  return { mayAnswer, fix, release, targetsOf, seen }
})
