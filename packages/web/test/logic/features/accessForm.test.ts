/** What may be changed about a judgement: only what can be done, said as it is. */
import { describe, expect, it } from "vitest"
import { longestDelegation } from "../../../../server/src/access/rights/policy.ts"
import { longestLendingPeriod, millisOf, type Period } from "../../../src/parts/form/periods.logic.ts"
import {
  millisAskedFor,
  effectOf,
  revocableRule,
  periodsFor,
  defaultPeriod,
  changeKindsFor,
} from "../../../src/features/rights/accessForm.logic.ts"

const asked = { who: "scout", action: "execute", resource: "tools/mail" }
const list = { toolset: "configured", context: "agent", named: true }

describe("a judgement changed from where it is read", () => {
  it("one lends to others, puts on a list what it lacks, and takes off what it names itself", () => {
    expect(changeKindsFor(true, true, undefined)).toEqual(["allow", "ask", "deny"])
    expect(changeKindsFor(false, true, undefined)).toEqual(["allow", "ask", "deny", "lend"])
    expect(changeKindsFor(true, false, { ...list, named: false })).toContain("list")
    expect(changeKindsFor(true, true, list)).toContain("unlist")
    // It has it by `*`: then it cannot lose it alone.
    expect(changeKindsFor(true, true, { ...list, named: false })).toEqual(["allow", "ask", "deny"])
  })

  it("what is given ends with the sign-in at the latest, what holds back may stay; the usual span can be chosen", () => {
    expect(periodsFor("allow")).not.toContain("ever")
    // The house's own limit.
    for (const period of periodsFor("lend"))
      expect(millisOf(period as Period)).toBeLessThanOrEqual(longestDelegation.hours * 3_600_000)
    expect(millisOf(longestLendingPeriod)).toBe(longestDelegation.hours * 3_600_000)
    expect(periodsFor("deny")).toContain("ever")
    // A loan of a day is the longest there is: the house's clock says when it ends.
    expect([millisAskedFor("lend", "day"), millisAskedFor("allow", "most"), millisAskedFor("deny", "ever")]).toEqual(
      Array.from({ length: 3 }, () => undefined),
    )
    expect(millisAskedFor("lend", "hour")).toBe(3_600_000)
    for (const kind of ["allow", "ask", "deny", "lend"] as const)
      expect(periodsFor(kind)).toContain(defaultPeriod(kind))
  })

  it("the effect names who, what and for how long; a list names itself and whom it is for", () => {
    expect(effectOf("deny", asked, "ever")).toMatch(/^scout may not execute tools\/mail until it is revoked/)
    expect(effectOf("lend", asked, "hour")).toMatch(/^scout may execute tools\/mail for an hour/)
    expect(effectOf("unlist", asked, "ever", list)).toMatch(
      /^The allow list configured\/agent no longer has mail: .*agent/,
    )
  })

  it("a grant and a loan can be taken back; roles, policies and silence cannot", () => {
    expect(revocableRule("grant:gnt_1")).toEqual({ kind: "grant", id: "gnt_1" })
    expect(revocableRule("delegation:dlg_1")).toEqual({ kind: "delegation", id: "dlg_1" })
    for (const name of ["role:admin", "policy:2", "silence", "own wallet"]) expect(revocableRule(name)).toBeUndefined()
  })
})
