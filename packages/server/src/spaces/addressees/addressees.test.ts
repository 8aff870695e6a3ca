/** Which agents a message is for: every policy with the same message, and properties that hold for all of them. */
import { assert, describe, it } from "@effect/vitest"
import type { PrincipalId, TriggerRule } from "@stoa/contract"
import fc from "fast-check"
import { addresseesOf, readsMentions, type NewPost } from "./addressees.ts"

const one = (id: string, kind: "person" | "agent" | "service" = "agent") => ({ id: id as PrincipalId, kind })
const [michael, toby] = [one("michael", "person"), one("toby", "person")]
const [pam, jim, dwight] = [one("pam"), one("jim"), one("dwight")]
const bot = one("bot", "service")
const id = (...all: ReadonlyArray<{ readonly id: PrincipalId }>) => all.map((it) => it.id)

const all = [michael, toby, pam, jim, dwight, bot]
const said = (over: Partial<NewPost>): NewPost => ({
  trigger: "mention",
  author: michael,
  members: all,
  mentions: [],
  thread: [],
  ...over,
})
const policies: ReadonlyArray<TriggerRule> = ["dm", "mention", "human-all", "team-edge"]

describe("trigger", () => {
  it("X-03 four policies, one message: nobody, the mentioned, all agents, nobody", () => {
    const found = policies.map((trigger) => addresseesOf(said({ trigger, mentions: id(jim, toby) })))
    assert.deepStrictEqual(found, [[], id(jim), id(pam, jim, dwight), []])
  })

  it("X-03 between two, dm and mention agree: the other one", () => {
    for (const trigger of ["dm", "mention"] as const) {
      assert.deepStrictEqual(addresseesOf(said({ trigger, members: [michael, pam] })), id(pam))
      assert.deepStrictEqual(addresseesOf(said({ trigger, author: pam, members: [pam, jim] })), id(jim))
      assert.deepStrictEqual(addresseesOf(said({ trigger, author: pam, members: [michael, pam] })), [])
    }
  })

  it("S1-95 a third member ends the rule of two, and its leaving brings it back", () => {
    assert.deepStrictEqual(addresseesOf(said({ members: [michael, pam] })), id(pam))
    assert.deepStrictEqual(addresseesOf(said({ members: [michael, pam, toby] })), [])
    assert.deepStrictEqual(addresseesOf(said({ members: [michael, pam, toby], mentions: id(pam) })), id(pam))
    // Whoever says it, and wherever: an agent and a service too, and in a thread of others.
    for (const author of [michael, jim, bot]) {
      const two = { author, members: [author, pam] }
      assert.deepStrictEqual(addresseesOf(said(two)), id(pam), author.id)
      assert.deepStrictEqual(addresseesOf(said({ ...two, thread: id(toby), mentions: id(toby) })), id(pam), author.id)
      for (const third of [toby, dwight, bot].filter((one) => one.id !== author.id))
        assert.deepStrictEqual(addresseesOf(said({ author, members: [author, pam, third] })), [], third.id)
    }
  })

  it("S1-93 each agent that is mentioned, never the author, never a person", () => {
    assert.deepStrictEqual(addresseesOf(said({ mentions: id(jim, pam) })), id(pam, jim))
    assert.deepStrictEqual(addresseesOf(said({ author: pam, mentions: id(pam, toby) })), [])
  })

  it("S0-60 a person's post is for every agent; in a thread, for those of the thread", () => {
    const trigger = "human-all"
    assert.deepStrictEqual(addresseesOf(said({ trigger })), id(pam, jim, dwight))
    assert.deepStrictEqual(addresseesOf(said({ trigger, thread: id(pam, toby, dwight) })), id(pam, dwight))
    assert.deepStrictEqual(addresseesOf(said({ trigger, thread: id(toby) })), [])
  })

  it("S0-61 an agent's or a service's post is for nobody where people address all", () => {
    assert.deepStrictEqual(addresseesOf(said({ trigger: "human-all", author: pam })), [])
    assert.deepStrictEqual(addresseesOf(said({ trigger: "human-all", author: bot, thread: id(pam) })), [])
    // The same post of a person is for all; and between two, an agent's is for the other.
    assert.deepStrictEqual(addresseesOf(said({ trigger: "human-all" })), id(pam, jim, dwight))
    assert.deepStrictEqual(addresseesOf(said({ trigger: "dm", author: pam, members: [pam, jim] })), id(jim))
    // Among many, names have to be named.
    assert.deepStrictEqual(addresseesOf(said({ trigger: "mention", author: pam })), [])
  })

  it("X-04 mentions are read where the policy is mention, and nowhere else", () => {
    assert.deepStrictEqual(policies.filter(readsMentions), ["mention"])
    for (const trigger of ["dm", "human-all", "team-edge"] as const)
      assert.deepStrictEqual(
        addresseesOf(said({ trigger, mentions: id(jim) })),
        addresseesOf(said({ trigger, mentions: [] })),
      )
  })

  it("whatever is said, it is for agents that are members and did not say it, each once", () => {
    const someone = fc.constantFrom(...all)
    const some = fc.uniqueArray(someone, { selector: (it) => it.id })
    fc.assert(
      fc.property(
        fc.record({
          trigger: fc.constantFrom(...policies),
          author: someone,
          members: some,
          mentions: some.map((found) => id(...found)),
          thread: some.map((found) => id(...found)),
        }),
        (what) => {
          const found = addresseesOf(what)
          assert.strictEqual(new Set(found).size, found.length)
          for (const it of found) {
            assert.notStrictEqual(it, what.author.id)
            assert.strictEqual(what.members.find((member) => member.id === it)?.kind, "agent")
          }
        },
      ),
      { numRuns: 2000, seed: 3 },
    )
  })
})
