/** How far an approval reaches: never further than the tool allows, by whatever door it is given, and whenever it was. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { type Caller, Reach, reachesFurther, reachWords, type RiskLevel } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Catalogue } from "../../src/calls/catalogue/Catalogue.ts"
import { optionsOf } from "../../src/decisions/answerOptions.ts"
import type { FullRow } from "../../src/decisions/rows.ts"
import {
  callNow,
  callsHouse,
  callTool,
  config,
  configure,
  offer,
  redefine,
  request,
  resumed,
  rowOf,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { ask as promised, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

/** An agent asks for a call, and an admin may answer. */
const asked = Effect.fnUntraced(function* (who: Someone, tool: string, input: object = { word: "one" }) {
  const answer = yield* callTool(who, tool, { input })
  assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
  return { call: told(answer).id, decision: told(answer).on!.id }
})

const answered = (who: Someone, decision: string, answer: object) =>
  request(who, "POST", `/decisions/${decision}/answer`, answer)

const optionsFor = (who: Someone, decision: string) =>
  Effect.map(request(who, "GET", `/decisions/${decision}`), ({ body }) => body["options"] as { reaches: Array<Reach> })

/** As a house before the rule, or before the tool's author thought of it, has stored it. */
const approvedBefore = Effect.fnUntraced(function* (
  who: Someone,
  boss: Someone,
  tool: string,
  { call, decision }: { readonly call: string; readonly decision: string },
) {
  const sql = yield* SqlClient.SqlClient
  const fingerprint = (yield* rowOf(call))!["fingerprint"] as string
  const id = `apv_${decision.slice(4)}`
  const row = {
    id,
    principal: who.id,
    tool,
    fingerprint,
    decision,
    givenBy: boss.id,
    createdAt: "2026-01-01T00:00:00Z",
  }
  yield* sql`INSERT INTO approvals ${sql.insert(row)}`
})

const policed = {
  ...config,
  policies: [
    { principal: "*", resource: "tools/narrow-*", actions: ["execute"], effect: "ask", approval: { reach: "once" } },
    { principal: "*", resource: "tools/wide-*", actions: ["execute"], effect: "ask", approval: { reach: "always" } },
  ],
}

for (const store of stores)
  layer(callsHouse({ store, config: policed }), { excludeTestServices: true, timeout: 60_000 })(
    `how far an approval reaches, on ${store}`,
    (it) => {
      it.effect("G-13 a tool that is approved call by call offers no more, and no door takes more", () =>
        Effect.gen(function* () {
          const [boss, bot] = [yield* ruler(), yield* someone("agent")]
          const own = yield* offer("none", () => Effect.succeed({}), {
            requiresApproval: true,
            approval: { reach: "once" },
          })
          const configured = yield* configure({ requiresApproval: true, approval: { reach: "once" } })
          for (const tool of [own, configured.name]) {
            const { call, decision } = yield* asked(bot, tool)
            assert.deepStrictEqual((yield* optionsFor(boss, decision)).reaches, ["once"])
            const link = yield* request(boss, "POST", `/decisions/${decision}/link`, {})
            const { raw } = yield* Guest
            const byLink = (answer: object) =>
              promised(() =>
                raw(new URL((link.body as { url: string }).url).pathname, {
                  method: "POST",
                  headers: { "content-type": "application/json" },
                  body: JSON.stringify(answer),
                }),
              )
            for (const reach of ["run", "always"]) {
              const yes = { verdict: "approve", reach }
              const byDoor = yield* answered(boss, decision, yes)
              assert.deepStrictEqual([byDoor.status, told(byDoor).issues?.map(({ path }) => path)], [400, ["reach"]])
              const byTool = told(yield* callTool(boss, "answer_decision", { input: { decision, ...yes } }))
              assert.strictEqual(byTool.state, "failed", JSON.stringify(byTool))
              assert.strictEqual((yield* byLink(yes)).status, 400)
            }
            assert.strictEqual((yield* callNow(bot, call)).state, "waiting")
            assert.strictEqual((yield* byLink({ verdict: "approve" })).status, 200)
            assert.strictEqual((yield* settled(bot, call)).state, "done")
            // The same call again is another call.
            yield* asked(bot, tool)
          }
        }),
      )

      it.effect("G-13 an approval from before the rule covers nothing any more, and a question from then is once", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [boss, bot] = [yield* ruler(), yield* someone("agent")]
          const tool = yield* offer("none", () => Effect.succeed({}), {
            requiresApproval: true,
            approval: { reach: "once" },
          })
          const first = yield* asked(bot, tool)
          yield* approvedBefore(bot, boss, tool, first)
          yield* asked(bot, tool)
          // A dry run says the same.
          const dry = yield* request(bot, "POST", `/tools/${tool}/call`, { input: {}, dryRun: true })
          assert.deepInclude(dry.body as object, { verdict: "ask", asks: true })

          // Where the tool allows it, the same row covers the next call.
          const { name } = yield* configure({ requiresApproval: true })
          const usual = yield* asked(bot, name)
          yield* approvedBefore(bot, boss, name, usual)
          assert.strictEqual((yield* callTool(bot, name, { input: { word: "two" } })).status, 200)

          const old = yield* configure({ requiresApproval: true })
          const open = yield* asked(bot, old.name)
          assert.deepStrictEqual((yield* optionsFor(boss, open.decision)).reaches, ["once", "always"])
          // What the migration says of a question that was open then.
          yield* sql`UPDATE decisions SET max_reach = 'once' WHERE id = ${open.decision}`
          assert.deepStrictEqual((yield* optionsFor(boss, open.decision)).reaches, ["once"])
          assert.strictEqual(
            (yield* answered(boss, open.decision, { verdict: "approve", reach: "always" })).status,
            400,
          )
        }),
      )

      it.effect(
        "G-13 a critical tool is approved call by call unless its author says otherwise, and the rule may change",
        () =>
          Effect.gen(function* () {
            const [boss, bot] = [yield* ruler(), yield* someone("agent")]
            const critical = yield* configure({ riskLevel: "critical" })
            const one = yield* asked(bot, critical.name)
            assert.deepStrictEqual((yield* optionsFor(boss, one.decision)).reaches, ["once"])
            const chosen = yield* configure({ riskLevel: "critical", approval: { reach: "always" } })
            const two = yield* asked(bot, chosen.name)
            assert.deepStrictEqual((yield* optionsFor(boss, two.decision)).reaches, ["once", "always"])
            assert.strictEqual(
              (yield* answered(boss, two.decision, { verdict: "approve", reach: "always" })).status,
              200,
            )
            yield* settled(bot, two.call)
            assert.strictEqual((yield* callTool(bot, chosen.name, { input: {} })).status, 200)
            yield* redefine(chosen, { approval: { reach: "once" } })
            yield* asked(bot, chosen.name)
            yield* resumed
          }),
      )

      it.effect("G-13 of a policy and a tool, the one that reaches less far counts", () =>
        Effect.gen(function* () {
          const [boss, bot] = [yield* ruler(), yield* someone("agent")]
          const own = "0123456789abcdef"[Math.floor(Math.random() * 16)]!
          const rows = [
            ["narrow-plain", {}, ["once"]],
            ["narrow-told", { approval: { reach: "always" } }, ["once"]],
            ["wide-plain", {}, ["once", "always"]],
            ["wide-told", { approval: { reach: "once" } }, ["once"]],
          ] as const
          for (const [name, over, reaches] of rows) {
            const tool = yield* configure({ name: `${name}${own}`, ...over })
            const { decision } = yield* asked(bot, tool.name)
            assert.deepStrictEqual((yield* optionsFor(boss, decision)).reaches, [...reaches], name)
          }
        }),
      )

      it.effect(
        "G-13 every tool of the house that sends, merges or permits says so, and so does each that always asks",
        () =>
          Effect.gen(function* () {
            const boss = yield* ruler()
            const caller: Caller["Service"] = yield* (yield* Tokens).callerNow(boss.id, "agent")
            const every = yield* (yield* Catalogue).every(caller)
            const built = every.filter(({ set }) => set !== "configured" && set !== "upstream")
            const once = built
              .filter((one) => one.traits.approval?.reach === "once")
              .map(({ tool }) => tool.definition.name)
            for (const { set, tool } of built)
              if (tool.definition.requiresApproval && set !== "skills") assert.include(once, tool.definition.name)
            for (const name of ["send_message", "send_reply", "post_message", "broadcast", "apply_work", "allow_use"])
              assert.include(once, name)
          }),
      )

      it.effect("G-13 an answer that names the digest of what was shown is refused for anything else", () =>
        Effect.gen(function* () {
          const [boss, bot] = [yield* ruler(), yield* someone("agent")]
          const { name } = yield* configure({ requiresApproval: true })
          const [one, two] = [yield* asked(bot, name), yield* asked(bot, name, { word: "two" })]
          const shown = (yield* request(boss, "GET", `/decisions/${one.decision}`)).body
          const yes = { verdict: "approve", inputDigest: shown["inputDigest"] }
          const other = yield* answered(boss, two.decision, yes)
          assert.deepStrictEqual([other.status, told(other).issues?.map(({ path }) => path)], [400, ["inputDigest"]])
          assert.strictEqual((yield* callNow(bot, two.call)).state, "waiting")
          assert.strictEqual((yield* answered(boss, one.decision, yes)).status, 200)
          assert.strictEqual((yield* settled(bot, one.call)).state, "done")
        }),
      )
      it.effect("G-13 what a part of an id may mean is listed, open or closed, and only to those who see it", () =>
        Effect.gen(function* () {
          const [boss, bot, stranger] = [yield* ruler(), yield* someone("agent"), yield* someone()]
          const { name } = yield* configure({ requiresApproval: true })
          const [one, two] = [yield* asked(bot, name), yield* asked(bot, name, { word: "two" })]
          assert.strictEqual((yield* answered(boss, one.decision, { verdict: "deny" })).status, 200)
          let length = 0
          while (one.decision[length] === two.decision[length]) length++
          const listed = (who: Someone, begins: string) =>
            Effect.map(request(who, "GET", `/decisions?begins=${begins}&limit=100`), ({ body }) =>
              (body as unknown as { items: ReadonlyArray<{ id: string }> }).items.map(({ id }) => id),
            )
          assert.includeMembers(yield* listed(boss, one.decision.slice(0, length)), [one.decision, two.decision])
          // Others of the same moment may begin so too; the second does not.
          const apart = yield* listed(boss, one.decision.slice(0, length + 1))
          assert.include(apart, one.decision)
          assert.notInclude(apart, two.decision)
          assert.deepStrictEqual(yield* listed(boss, one.decision), [one.decision])
          assert.deepStrictEqual(yield* listed(boss, two.decision), [two.decision])
          assert.deepStrictEqual(yield* listed(stranger, two.decision), [])
          assert.strictEqual((yield* request(boss, "GET", "/decisions?begins=dcs_%25")).status, 400)
        }),
      )

      it.effect("G-15 an MCP client reads in words what each reach would cover", () =>
        Effect.gen(function* () {
          const [boss, bot] = [yield* ruler(), yield* someone("agent")]
          const { name } = yield* configure({ requiresApproval: true })
          const { decision } = yield* asked(bot, name)
          const listed = told(yield* callTool(boss, "list_decisions", { input: { limit: 100 } }))
          assert.strictEqual(listed.state, "done")
          const { items } = listed.output as { items: ReadonlyArray<{ id: string; covers: Record<string, string> }> }
          const { covers } = items.find(({ id }) => id === decision)!
          assert.match(covers["always"]!, /every call of .* with any input, by agent/)
        }),
      )
    },
  )

describe("what an approval may contain", () => {
  const risks: ReadonlyArray<RiskLevel> = ["low", "critical"]
  test("G-13 nothing that reaches further than its question is ever offered, and each reach says what it covers", () => {
    for (const maxReach of Reach.literals)
      for (const run of [null, "run_1"])
        for (const people of [1, 2])
          for (const byLink of [true, false])
            for (const riskLevel of risks) {
              const row = {
                kind: "approval",
                call: "call_1",
                tool: "t",
                input: "{}",
                fingerprint: "f",
                asker: "agent a",
                maxReach,
                run,
                people,
                riskLevel,
              } as unknown as FullRow
              const { reaches } = optionsOf(row, { byLink, mayAlways: true, mayCall: true })
              assert.isFalse(reaches.some((one) => reachesFurther(one, maxReach)))
              assert.include(reaches, "once")
            }
    const asking = { asker: { name: "Scout", kind: "agent" }, call: { tool: "mail", input: {} } }
    assert.match(reachWords(asking, "once"), /this input/)
    assert.match(reachWords(asking, "run"), /every call of `mail`, with any input, by every agent of this run/)
    assert.match(reachWords(asking, "always"), /with any input, by agent `Scout`, in every space/)
  })
})
