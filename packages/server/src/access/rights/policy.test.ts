import { assert, describe, it } from "@effect/vitest"
import { Action, Role } from "@stoa/contract"
import { DateTime } from "effect"
import fc from "fast-check"
import {
  covers,
  defaultRoles,
  fits,
  judge,
  mayDelegate,
  reachesBeyond,
  type Rule,
  rulesOfPolicies,
  rulesOfRoles,
} from "./policy.ts"

const now = DateTime.makeUnsafe("2026-11-15T12:00:00Z")
const later = DateTime.add(now, { hours: 1 })
const earlier = DateTime.subtract(now, { hours: 1 })
const rule = (over: Partial<Rule>): Rule => ({
  name: "test",
  resource: "tools/*",
  actions: ["execute"],
  effect: "allow",
  expiresAt: null,
  ...over,
})

describe("judge", () => {
  it("S4-98 resource patterns, the five actions, expiry, and admin implying all: the matrix", () => {
    const actions = Action.literals
    for (const held of actions)
      for (const asked of actions) {
        const expected = held === asked || held === "admin" ? "allow" : "deny"
        assert.strictEqual(
          judge([rule({ actions: [held] })], asked, "tools/x", now, "agent").verdict,
          expected,
          `${held} ${asked}`,
        )
      }
    assert.strictEqual(judge([rule({ expiresAt: later })], "execute", "tools/x", now, "agent").verdict, "allow")
    assert.strictEqual(judge([rule({ expiresAt: now })], "execute", "tools/x", now, "agent").verdict, "deny")
    assert.strictEqual(judge([rule({ expiresAt: earlier })], "execute", "tools/x", now, "agent").verdict, "deny")
    const table: ReadonlyArray<readonly [pattern: string, resource: string, fits: boolean]> = [
      ["tools/*", "tools/web-search", true],
      ["tools/*", "tools/a/b", true],
      ["tools/basic/*", "tools/web-search", false],
      ["tools/*", "toolsets/x", false],
      ["*", "anything/at/all", true],
      ["tools/web-search", "tools/web-search", true],
      ["tools/web-search", "tools/web-searches", false],
      ["*/read", "files/read", true],
      ["a*b*c", "a1b2c", true],
      ["a*b*c", "acb", false],
      ["aa*aa", "aaa", false],
    ]
    for (const [pattern, resource, expected] of table)
      assert.strictEqual(fits(pattern, resource), expected, `${pattern} ${resource}`)
  })

  it("says which rule decided: deny over ask over allow, silence denies", () => {
    const rules = [rule({ name: "a" }), rule({ name: "b", effect: "ask" }), rule({ name: "c", effect: "deny" })]
    assert.deepStrictEqual(judge(rules, "execute", "tools/x", now, "agent"), { verdict: "deny", rule: "c" })
    assert.deepStrictEqual(judge(rules.slice(0, 2), "execute", "tools/x", now, "agent"), { verdict: "ask", rule: "b" })
    assert.deepStrictEqual(judge(rules.slice(0, 1), "execute", "tools/x", now, "agent"), {
      verdict: "allow",
      rule: "a",
    })
    assert.deepStrictEqual(judge([], "execute", "tools/x", now, "agent"), { verdict: "deny", rule: "silence" })
  })

  it("S4-99 agent-basic may run basic tools and not web-search; agent-standard may run both", () => {
    const may = (role: Role, tool: string) =>
      judge(rulesOfRoles([role]), "execute", `tools/${tool}`, now, "agent").verdict
    assert.strictEqual(may("agent-basic", "basic/echo"), "allow")
    assert.strictEqual(may("agent-basic", "web-search"), "deny")
    for (const role of ["agent-standard", "agent-privileged", "orchestrator"] as const)
      assert.strictEqual(may(role, "web-search"), "allow", role)
    for (const role of ["guest"] as const) assert.strictEqual(may(role, "basic/echo"), "deny", role)
    const orchestrates = (role: Role) => judge(rulesOfRoles([role]), "execute", "agents/pam", now, "agent").verdict
    assert.strictEqual(orchestrates("orchestrator"), "allow")
    assert.strictEqual(orchestrates("agent-privileged"), "deny")
  })

  it("S4-100 a new agent has a role by which it can run a low-risk tool; a new service can do nothing but be itself", () => {
    assert.deepStrictEqual(defaultRoles.agent, ["agent-standard"])
    assert.strictEqual(
      judge(rulesOfRoles(defaultRoles.agent), "execute", "tools/web-search", now, "agent").verdict,
      "allow",
    )
    assert.strictEqual(
      judge(rulesOfRoles(defaultRoles.service), "execute", "tools/web-search", now, "agent").verdict,
      "deny",
    )
    assert.strictEqual(judge(rulesOfRoles(defaultRoles.service), "read", "self/tokens", now, "agent").verdict, "allow")
  })

  it("no role but admin reaches the house's own affairs", () => {
    for (const role of Role.literals.filter((one) => one !== "admin"))
      for (const resource of [
        "secrets/x",
        "audit",
        "house/backup",
        "grants/x",
        "allow-lists/office/agent",
        "tokens/x",
        "events/*",
      ])
        for (const action of Action.literals)
          assert.strictEqual(
            judge(rulesOfRoles([role]), action, resource, now, "agent").verdict,
            "deny",
            `${role} ${action} ${resource}`,
          )
  })

  it("applies the file's policies to names, roles and everybody", () => {
    const principal = { name: "Pam", roles: ["agent-standard" as const] }
    const policy = (whom: string) => ({
      principal: whom,
      resource: "tools/x",
      actions: ["execute" as const],
      effect: "deny" as const,
    })
    assert.deepStrictEqual(
      rulesOfPolicies(
        [policy("pam"), policy("role:agent-standard"), policy("*"), policy("jim"), policy("role:admin")],
        principal,
      ).map((one) => one.name),
      ["policy:0", "policy:1", "policy:2"],
    )
  })

  it("S4-101 only what the giver has can be handed on, in whole", () => {
    const rules = [rule({ resource: "tools/search/*", actions: ["read", "execute"] })]
    const may = (resource: string, ...actions: ReadonlyArray<Action>) =>
      mayDelegate(rules, { resource, actions }, now, "agent") !== undefined
    assert.isTrue(may("tools/search/web", "execute"))
    assert.isTrue(may("tools/search/*", "read", "execute"))
    assert.isFalse(may("tools/*", "execute"))
    assert.isFalse(may("tools/search/web", "execute", "delete"))
    assert.isFalse(
      mayDelegate([rule({ effect: "ask" })], { resource: "tools/x", actions: ["execute"] }, now, "agent") !== undefined,
    )
    assert.isFalse(
      mayDelegate([rule({}), rule({ effect: "deny" })], { resource: "tools/x", actions: ["execute"] }, now, "agent") !==
        undefined,
    )
    assert.isFalse(
      mayDelegate([rule({ expiresAt: earlier })], { resource: "tools/x", actions: ["execute"] }, now, "agent") !==
        undefined,
    )
  })

  const segment = fc.stringMatching(/^[a-c/]{0,4}$/)
  const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("*"))

  it("fits is what the pattern as a regular expression says", () => {
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[a-c/]{0,8}$/), (one, text) => {
        const expression = new RegExp(
          `^${one
            .split("*")
            .map((part) => part.replace(/[/]/g, "\\/"))
            .join(".*")}$`,
        )
        assert.strictEqual(fits(one, text), expression.test(text))
      }),
      { numRuns: 2000 },
    )
  })

  it("a wider pattern fits whatever a narrower one fits", () => {
    const texts = [0, 1, 2, 3, 4, 5].flatMap((length) =>
      Array.from({ length: 2 ** length }, (_, bits) =>
        bits.toString(2).padStart(length, "0").replaceAll("0", "a").replaceAll("1", "b"),
      ).map((text) => text.slice(0, length)),
    )
    const small = fc.stringMatching(/^[ab*]{0,4}$/)
    let covered = 0
    fc.assert(
      fc.property(small, small, (wide, narrow) => {
        if (!covers(wide, narrow)) return
        covered++
        for (const text of texts) if (fits(narrow, text)) assert.isTrue(fits(wide, text), `${wide} ${narrow} ${text}`)
      }),
      { numRuns: 3000 },
    )
    assert.isAbove(covered, 100)
  })

  it("adding a deny never allows more, and adding an allow never denies more", () => {
    const anyRule = fc.record({
      name: fc.constant("r"),
      resource: pattern,
      actions: fc.array(fc.constantFrom(...Action.literals), { minLength: 1, maxLength: 3 }),
      effect: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
      expiresAt: fc.constantFrom(null, earlier, later),
    })
    const rank = { deny: 0, ask: 1, allow: 2 }
    fc.assert(
      fc.property(
        fc.array(anyRule, { maxLength: 6 }),
        anyRule,
        fc.constantFrom(...Action.literals),
        fc.stringMatching(/^[a-c/]{0,6}$/),
        (rules, extra, action, text) => {
          const before = rank[judge(rules, action, text, now, "agent").verdict]
          const withDeny = rank[judge([...rules, { ...extra, effect: "deny" }], action, text, now, "agent").verdict]
          assert.isAtMost(withDeny, before)
          const judged = judge(rules, action, text, now, "agent")
          const withAllow = judge([...rules, { ...extra, effect: "allow" }], action, text, now, "agent")
          if (judged.rule !== "silence") assert.strictEqual(withAllow.verdict, judged.verdict)
        },
      ),
    )
  })

  const context = fc.constantFrom("crossroads" as const, "agent" as const, "internal" as const)
  const ownRule = fc.record({
    name: fc.constant("own"),
    resource: fc.constantFrom("*", "tools/*", "tools/a", "tools/b/*", "tools/*/c", "spaces/*"),
    actions: fc.subarray([...Action.literals], { minLength: 1 }),
    effect: fc.constantFrom("allow" as const, "allow" as const, "ask" as const, "deny" as const),
    expiresAt: fc.constantFrom(null, null, earlier, later),
  })
  const lentRule = fc.record({
    name: fc.constant("lent"),
    resource: fc.constantFrom("*", "tools/*", "tools/a", "spaces/*"),
    actions: fc.subarray([...Action.literals], { minLength: 1 }),
    effect: fc.constant("allow" as const),
    expiresAt: fc.constantFrom(later, earlier),
    lentBy: fc.array(ownRule, { maxLength: 4 }),
    context,
  })
  const resources = ["tools/a", "tools/b/c", "tools/x/c", "spaces/s", "grants/g", "self/tokens"]
  const rank = { deny: 0, ask: 1, allow: 2 }

  it("S4-101 lending only adds: whatever is lent, the receiver has at least what it had, and at most what was lent beside it", () => {
    fc.assert(
      fc.property(
        fc.array(ownRule, { maxLength: 4 }),
        fc.array(lentRule, { minLength: 1, maxLength: 3 }),
        context,
        (own, lent, at) => {
          for (const action of Action.literals)
            for (const resource of resources) {
              const before = judge(own, action, resource, now, at)
              const after = judge([...own, ...lent], action, resource, now, at)
              assert.isAtLeast(rank[after.verdict], rank[before.verdict])
              if (before.rule !== "silence") assert.deepStrictEqual(after, before)
              if (rank[after.verdict] === rank[before.verdict]) continue
              // A new right is one that a giver has, and only for tokens that are trusted no further than the giver's.
              const givers = lent.filter(
                (one) =>
                  fits(one.resource, resource) &&
                  rank[judge(one.lentBy, action, resource, now, at).verdict] >= rank[after.verdict],
              )
              const order = ["crossroads", "agent", "internal"]
              assert.isTrue(givers.some((one) => order.indexOf(at) <= order.indexOf(one.context)))
            }
        },
      ),
      { numRuns: 3000 },
    )
  })

  it("S4-101 a lender's own ask travels with what was lent and with nothing else", () => {
    const careful = [rule({ resource: "tools/*" }), rule({ resource: "tools/*", effect: "ask", name: "policy" })]
    const lent = rule({ name: "loan", resource: "tools/*", lentBy: careful, context: "agent", expiresAt: later })
    const admin = rulesOfRoles(["admin"])
    assert.deepStrictEqual(judge([...admin, lent], "execute", "tools/x", now, "agent"), {
      verdict: "allow",
      rule: "role:admin",
    })
    assert.deepStrictEqual(judge([lent], "execute", "tools/x", now, "agent"), { verdict: "ask", rule: "loan" })
    assert.deepStrictEqual(judge([lent], "execute", "spaces/x", now, "agent"), { verdict: "deny", rule: "silence" })
    assert.deepStrictEqual(judge([lent], "execute", "tools/x", now, "internal"), { verdict: "deny", rule: "silence" })
  })

  it("what does not reach beyond some rules is allowed nothing that they do not allow", () => {
    let within = 0
    const rules = fc.array(ownRule, { maxLength: 4 })
    fc.assert(
      fc.property(rules, rules, context, (those, these, at) => {
        assert.isFalse(reachesBeyond(these, these, now, at))
        if (reachesBeyond(those, these, now, at)) return
        within++
        for (const action of Action.literals)
          for (const resource of resources)
            assert.isAtMost(
              rank[judge(those, action, resource, now, at).verdict],
              rank[judge(these, action, resource, now, at).verdict],
              `${action} ${resource}`,
            )
      }),
      { numRuns: 5000 },
    )
    assert.isAbove(within, 200)
  })
})
