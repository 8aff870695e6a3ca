/**
 * Random histories of memberships, roles, invitations and escalations: nobody outside the electorate may ever answer.
 */
import { assert, describe, it } from "@effect/vitest"
import type { PrincipalId, Role } from "@stoa/contract"
import * as fc from "fast-check"
import { electorate, type DecisionRequest, type ElectorateFacts, type Voter, voters } from "./electorate.ts"

const people = ["ada", "ben", "cid", "dot", "eve"] as const
type Who = (typeof people)[number]
const id = (who: Who) => who as string as PrincipalId

/** One step; each is an event of its own. */
type Step =
  | { readonly do: "let in"; readonly who: Who; readonly by: Who }
  | { readonly do: "put out" | "promote" | "demote" | "leave the house"; readonly who: Who }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("let in" as const), who: fc.constantFrom(...people), by: fc.constantFrom(...people) }),
  fc.record({
    do: fc.constantFrom("put out" as const, "promote" as const, "demote" as const, "leave the house" as const),
    who: fc.constantFrom(...people),
  }),
)

/** The state of the house after these steps. Every membership and every period as an admin has its own number. */
class House {
  clock = 0
  readonly members = new Map<Who, { readonly since: number; readonly by: Who }>()
  readonly admins = new Map<Who, number>()
  readonly gone = new Set<Who>()
  readonly opener: Who
  constructor(opener: Who) {
    this.opener = opener
    this.members.set(opener, { since: 0, by: opener })
  }
  apply(one: Step): void {
    this.clock++
    if (this.gone.has(one.who)) return
    if (one.do === "let in") {
      if (!this.members.has(one.who)) this.members.set(one.who, { since: this.clock, by: one.by })
    } else if (one.do === "put out") this.members.delete(one.who)
    else if (one.do === "demote") this.admins.delete(one.who)
    else if (one.do === "promote") {
      if (!this.admins.has(one.who)) this.admins.set(one.who, this.clock)
    } else {
      this.gone.add(one.who)
      this.members.delete(one.who)
      this.admins.delete(one.who)
    }
  }
  standing(inSpace: boolean, asker: Who): ElectorateFacts {
    const admins = [...this.admins].map(([who, since]) => ({ id: id(who), since }))
    return {
      here: new Set(people.filter((who) => !this.gone.has(who)).map(id)),
      admins,
      holds: (role: Role) => new Set(role === "admin" ? admins.map((one) => one.id) : []),
      kin: new Set([id(asker)]),
      space: inSpace
        ? {
            openedBy: this.opener,
            people: [...this.members].map(([who, { by, since }]) => ({
              id: id(who),
              since,
              letInBy: by,
            })),
          }
        : null,
    }
  }
}

const history = fc.record({
  before: fc.array(step, { maxLength: 14 }),
  after: fc.array(step, { maxLength: 14 }),
  caller: fc.constantFrom(...people),
  opener: fc.constantFrom(...people),
  inSpace: fc.boolean(),
  named: fc.option(fc.uniqueArray(fc.constantFrom(...people), { maxLength: 2 })),
  target: fc.option(fc.constantFrom(...people)),
  escalated: fc.boolean(),
})

describe("who may answer an approval", () => {
  it("G-13 G-15 G-08 over random histories: fixed at asking, only those whose reason still holds, never the caller or whom it chose", () => {
    fc.assert(
      fc.property(history, ({ after, before, caller, escalated, inSpace, named, opener, target }) => {
        const house = new House(opener)
        before.forEach((one) => house.apply(one))
        const question: DecisionRequest = {
          kind: "approval",
          askedBy: id(caller),
          askedAfter: house.clock + 1,
        }
        const fixed: Array<Voter> = [...voters(question, named?.map(id) ?? null, house.standing(inSpace, caller))]
        if (target !== null) fixed.push({ principal: id(target), reason: "escalation" })
        const [members, admins] = [new Map(house.members), new Map(house.admins)]
        const atAsking = electorate({ ...question, escalated: true }, fixed, house.standing(inSpace, caller))
        after.forEach((one) => house.apply(one))
        const may = new Set(electorate({ ...question, escalated }, fixed, house.standing(inSpace, caller)))
        const able = (named ?? []).filter((who) => who !== caller && fixed.some((one) => one.principal === id(who)))
        for (const who of people) {
          // Written differently from the code: the same membership, the same period as an admin, then and now.
          const stillIn = members.has(who) && house.members.get(who) === members.get(who)
          const asMember = inSpace && stillIn && opener !== caller && members.get(who)!.by !== caller
          const asAdmin = admins.has(who) && house.admins.get(who) === admins.get(who)
          const namedThen = fixed.some((one) => one.principal === id(who) && one.reason === "named")
          const namedLeft = able.some(
            (one) => fixed.some((it) => it.principal === id(one) && it.reason === "named") && !house.gone.has(one),
          )
          const expected =
            who !== caller &&
            !house.gone.has(who) &&
            ((escalated && who === target) ||
              (named === null ? asMember || asAdmin : namedThen || (!namedLeft && asAdmin)))
          assert.strictEqual(may.has(id(who)), expected, who)
        }
        assert.isFalse(may.has(id(caller)))
        // Nobody may answer who was not asked, except stand-ins for named people who are gone.
        const asked = new Set([...atAsking, ...fixed.map(({ principal }) => principal)])
        for (const one of may) assert.isTrue(asked.has(one))
      }),
      { numRuns: 5000, seed: 20_261_116 },
    )
  })

  it("an unknown host vouches for nobody; a form is for whoever is there now", () => {
    const question: DecisionRequest = { kind: "approval", askedBy: id("ada"), askedAfter: 9 }
    const member = { id: id("ben"), since: 1, letInBy: null }
    const standing = (openedBy: string | null, letInBy: string | null): ElectorateFacts => ({
      here: new Set(),
      admins: [],
      holds: () => new Set(),
      kin: new Set(["ada", "child"]),
      space: { openedBy, people: [{ ...member, letInBy }] },
    })
    assert.lengthOf(voters(question, null, standing(null, "cid")), 0)
    assert.lengthOf(voters(question, null, standing("cid", null)), 0)
    assert.lengthOf(voters(question, null, standing("ada", "cid")), 0)
    assert.lengthOf(voters(question, null, standing("cid", "ada")), 0)
    // What its child did counts as its own.
    assert.lengthOf(voters(question, null, standing("child", "cid")), 0)
    assert.lengthOf(voters(question, null, standing("cid", "child")), 0)
    assert.lengthOf(voters(question, null, standing("house", "house")), 1)
    assert.lengthOf(voters({ ...question, kind: "form", askedAfter: 0 }, null, standing("ada", "ada")), 1)
  })
})
