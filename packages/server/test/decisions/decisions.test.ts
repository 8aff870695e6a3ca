/** Approvals through the door, on both databases: who is asked, what an answer does, and what never runs unasked. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import {
  admin,
  answering,
  callNow,
  callsHouse,
  callTool,
  eventsOf,
  httpTool,
  redefine,
  request,
  resumed,
  room,
  rowOf,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const decide = (who: Someone, decision: string, answer: object) =>
  request(who, "POST", `/decisions/${decision}/answer`, answer)
const statusOf = <E, R>(answer: Effect.Effect<{ readonly status: number }, E, R>) =>
  Effect.map(answer, (one) => one.status)

/** An agent and a person in a room, a service, and a tool of it that asks first. */
const scene = Effect.fnUntraced(function* (over: object = { requiresApproval: true }) {
  const [bot, pam] = [yield* someone("agent"), yield* someone()]
  const space = yield* room(pam, bot)
  const stub = yield* answering()
  const tool = yield* httpTool(stub.url, over)
  /** Calls it in the room, and gives the call and the question it waits for. */
  const ask = Effect.fnUntraced(function* (body: object = {}) {
    const answer = yield* callTool(bot, tool.name, { space, ...body })
    assert.deepStrictEqual([answer.status, told(answer).state], [202, "waiting"], JSON.stringify(answer.body))
    assert.strictEqual(told(answer).on?.kind, "decision")
    return { call: told(answer).id, decision: told(answer).on!.id }
  })
  return { bot, pam, space, stub, tool, ask }
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`decisions on ${store}`, (it) => {
    it.effect("S4-93 S4-94 S4-95 X-23 risk, flag or policy: it waits, nothing runs, and approved it runs once", () =>
      Effect.gen(function* () {
        for (const over of [
          { riskLevel: "high" },
          { riskLevel: "critical" },
          { riskLevel: "low", requiresApproval: true },
          { riskLevel: "low" },
        ] as const) {
          const { ask, bot, pam, stub, tool } = yield* scene(over)
          if (!("requiresApproval" in over) && over.riskLevel === "low")
            yield* request(yield* admin, "POST", "/grants", {
              principal: bot.id,
              resource: `tools/${tool.name}`,
              actions: ["execute"],
              effect: "ask",
            })
          const { call, decision } = yield* ask({ input: { word: "go" } })
          assert.lengthOf(stub.seen, 0)
          const shown = (yield* request(pam, "GET", `/decisions/${decision}`)).body
          assert.deepInclude(shown as object, {
            kind: "approval",
            state: "open",
            call: { id: call, tool: tool.name, input: { word: "go" }, riskLevel: over.riskLevel },
            askedBy: bot.id,
            people: 1,
            onExpiry: "deny",
          })
          const { mayAnswer } = shown as { mayAnswer: Array<string> }
          assert.include(mayAnswer, pam.id)
          assert.notInclude(mayAnswer, bot.id)
          const answer = yield* decide(pam, decision, { verdict: "approve" })
          assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
          const done = yield* settled(bot, call)
          assert.deepStrictEqual([done.state, done.output], ["done", { said: "yes" }])
          assert.lengthOf(stub.seen, 1)
          assert.deepStrictEqual(JSON.parse(stub.seen[0]!.body), { word: "go" })
          // The line of the call in the space names its question, too.
          const events = (yield* eventsOf(decision)).filter((kind) => !kind.startsWith("message."))
          assert.deepStrictEqual(events, ["decision.asked", "call.waiting", "decision.answered"])
          // The approval was for this call: the next one asks again.
          yield* ask({ input: { word: "go" } })
        }
        const { bot, stub, tool } = yield* scene({ riskLevel: "medium" })
        assert.strictEqual((yield* callTool(bot, tool.name)).status, 200)
        assert.lengthOf(stub.seen, 1)
      }),
    )

    it.effect("S4-94 an approved tool that writes in the house: its effect, its events and its end are one", () =>
      Effect.gen(function* () {
        const [bot, pam] = [yield* someone("agent"), yield* someone()]
        const space = yield* room(pam, bot)
        const boss = yield* admin
        yield* request(boss, "POST", "/grants", {
          principal: bot.id,
          resource: "tools/post_message",
          actions: ["execute"],
          effect: "ask",
        })
        const ask = Effect.fnUntraced(function* (text: string) {
          const answer = told(yield* callTool(bot, "post_message", { input: { space, text } }))
          assert.strictEqual(answer.state, "waiting", JSON.stringify(answer))
          return { call: answer.id, decision: answer.on!.id }
        })
        const said = Effect.map(request(pam, "GET", `/spaces/${space}/messages`), ({ body }) =>
          (body as unknown as { items: ReadonlyArray<{ id: string; text: string }> }).items.filter(
            ({ text }) => text !== "",
          ),
        )
        const good = yield* ask("As agreed.")
        yield* decide(boss, good.decision, { verdict: "approve" })
        assert.strictEqual((yield* settled(bot, good.call)).state, "done")
        const [posted, ...more] = yield* said
        assert.deepStrictEqual([posted!.text, more], ["As agreed.", []])
        assert.include(yield* eventsOf(posted!.id), "message.created")
        // What fails leaves nothing of itself, and is recorded as failed.
        const late = yield* ask("Too late.")
        yield* request(boss, "PATCH", `/spaces/${space}`, { archived: true })
        yield* decide(boss, late.decision, { verdict: "approve" })
        assert.strictEqual((yield* settled(bot, late.call)).state, "failed")
        assert.deepStrictEqual(yield* said, [posted!])
      }),
    )

    it.effect("S4-94 X-23 a no settles the call refused, with the words that came with it, and is read as 200", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub, tool } = yield* scene()
        const { call, decision } = yield* ask()
        assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "deny", note: "not on a Friday" })), 200)
        const done = yield* settled(bot, call)
        assert.deepInclude(done, { state: "refused" })
        assert.strictEqual(done.error?.tag, "ToolAuthorizationError")
        assert.match(done.error!.message, /not approved: not on a Friday$/)
        assert.lengthOf(stub.seen, 0)
        // The auditor reads whose no it was, and not by which role the caller might have called.
        assert.strictEqual(done.rule, `denied by ${pam.name} in ${decision}`)
        yield* Effect.flatMap(Readers, (readers) => readers.receipt("audit"))
        const rows = (yield* request(yield* admin, "GET", `/audit?principal=${bot.id}&limit=100`)).body as {
          items: Array<Record<string, unknown>>
        }
        const row = rows.items.find((one) => one["call"] === call && one["action"] === "tool.execute")!
        assert.deepInclude(row, { result: "denied", rule: `denied by ${pam.name} in ${decision}` })
        // A retry of it is told the same, as 200: it was asked, and the answer was no.
        const key = "the one that is refused"
        const again = told(yield* callTool(bot, tool.name, {}, key))
        yield* decide(yield* admin, again.on!.id, { verdict: "deny" })
        yield* settled(bot, again.id)
        const retried = yield* callTool(bot, tool.name, {}, key)
        assert.deepStrictEqual([retried.status, told(retried).state], [200, "refused"])
      }),
    )

    it.effect("G-13 X-23 unanswered it is a no when its time is over, and an answer after that comes too late", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub } = yield* scene({ requiresApproval: true, approval: { expiresInSeconds: 1 } })
        const { call, decision } = yield* ask()
        const done = yield* settled(bot, call)
        assert.deepStrictEqual([done.state, done.error?.tag], ["refused", "ToolAuthorizationError"])
        assert.match(done.error!.message, /nobody answered in time, so it was refused/)
        assert.deepInclude((yield* request(pam, "GET", `/decisions/${decision}`)).body as object, {
          state: "expired",
          verdict: null,
          mayAnswer: [],
        })
        assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "approve" })), 409)
        yield* resumed
        assert.lengthOf(stub.seen, 0)
        assert.include(yield* eventsOf(decision), "decision.expired")
        // An answered one leaves no timer behind.
        const other = yield* ask()
        yield* decide(pam, other.decision, { verdict: "deny" })
        const sql = yield* SqlClient.SqlClient
        assert.lengthOf(yield* sql`SELECT id FROM timers WHERE key = ${other.decision}`, 0)
      }),
    )

    it.effect(
      "G-13 G-15 a person's call is approved as it is, and only who may call a tool says what it is given",
      () =>
        Effect.gen(function* () {
          const { ask, bot, pam, stub, tool } = yield* scene()
          // In a person's name nothing runs that they have not asked for, not even by an admin's edit.
          const ben = yield* someone()
          const boss = yield* admin
          const theirs = told(yield* callTool(ben, tool.name, { input: { word: "look" } })).on!.id
          const shown = (who: Someone, id: string) =>
            Effect.map(request(who, "GET", `/decisions/${id}`), ({ body }) => body["options"] as { edit: boolean })
          assert.isFalse((yield* shown(boss, theirs)).edit)
          const edited = yield* decide(boss, theirs, { verdict: "approve", input: { word: "mine" } })
          assert.deepStrictEqual([edited.status, told(edited).issues?.[0]?.path], [400, "input"])
          assert.strictEqual(yield* statusOf(decide(boss, theirs, { verdict: "deny" })), 200)
          // Whoever may not call it decides about it, and cannot make it another call.
          const { call, decision } = yield* ask({ input: { word: "look" } })
          assert.isTrue((yield* shown(pam, decision)).edit)
          const deny = { principal: pam.id, resource: `tools/${tool.name}`, actions: ["execute"], effect: "deny" }
          assert.strictEqual((yield* request(boss, "POST", "/grants", deny)).status, 201)
          assert.isFalse((yield* shown(pam, decision)).edit)
          const refused = yield* decide(pam, decision, { verdict: "approve", input: { word: "mine" } })
          assert.strictEqual(refused.status, 403)
          assert.match(told(refused).detail!, /those who may call the tool/)
          assert.lengthOf(stub.seen, 0)
          assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "approve" })), 200)
          assert.deepStrictEqual((yield* settled(bot, call)).input, { word: "look" })
        }),
    )

    it.effect("G-13 G-15 who may not call a tool because of an allow list does not say what it is given", () =>
      Effect.gen(function* () {
        const { ask, bot, pam } = yield* scene()
        const boss = yield* admin
        const { call, decision } = yield* ask({ input: { word: "look" } })
        const may = Effect.map(
          request(pam, "GET", `/decisions/${decision}`),
          ({ body }) => (body["options"] as { edit: boolean }).edit,
        )
        const edit = statusOf(decide(pam, decision, { verdict: "approve", input: { word: "mine" } }))
        const list = "/allow-lists/configured/agent"
        assert.isTrue(yield* may)
        assert.strictEqual(yield* statusOf(request(boss, "PUT", list, { tools: [] })), 200)
        assert.deepStrictEqual([yield* may, yield* edit], [false, 403])
        assert.strictEqual(yield* statusOf(request(boss, "DELETE", list)), 200)
        assert.isTrue(yield* may)
        assert.strictEqual(yield* edit, 200)
        assert.deepStrictEqual((yield* settled(bot, call)).input, { word: "mine" })
      }),
    )

    it.effect("G-13 edited and approved, the edited input is checked, is what runs, and is what the row shows", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub } = yield* scene()
        const { call, decision } = yield* ask({ input: { word: "drop everything" } })
        const bad = yield* decide(pam, decision, { verdict: "approve", input: { word: 7 } })
        assert.deepStrictEqual([bad.status, told(bad).issues?.map((one) => one.path)], [400, ["input.word"]])
        for (const odd of [
          { verdict: "submit", value: 1 },
          { verdict: "approve", value: 1 },
          { verdict: "deny", input: { word: "x" } },
          { verdict: "approve", reach: "run" },
          { verdict: "deny", reach: "always" },
          { verdict: "perhaps" },
        ])
          assert.strictEqual(yield* statusOf(decide(pam, decision, odd)), 400, JSON.stringify(odd))
        assert.strictEqual(told(yield* request(pam, "GET", `/decisions/${decision}`)).state, "open")
        assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "approve", input: { word: "look" } })), 200)
        const done = yield* settled(bot, call)
        assert.deepStrictEqual([done.state, done.input], ["done", { word: "look" }])
        assert.deepStrictEqual(
          stub.seen.map((one) => JSON.parse(one.body) as unknown),
          [{ word: "look" }],
        )
        assert.strictEqual((yield* rowOf(call))?.["input"], '{"word":"look"}')
        const shown = (yield* request(pam, "GET", `/decisions/${decision}`)).body
        assert.deepStrictEqual(
          [shown["value"], (shown["call"] as { input: unknown }).input, shown["answeredBy"]],
          [{ word: "look" }, { word: "drop everything" }, pam.id],
        )
      }),
    )

    it.effect(
      "S1-82 G-13 G-15 who may answer: people of the space and admins; never the caller, an agent or a service",
      () =>
        Effect.gen(function* () {
          const { ask, bot, pam, space, tool } = yield* scene()
          const [outsider, clerk, helper] = [yield* someone(), yield* someone("service"), yield* someone("agent")]
          for (const one of [clerk, helper]) yield* request(pam, "PUT", `/spaces/${space}/members/${one.id}`)
          const { call, decision } = yield* ask()
          const yes = { verdict: "approve" }
          assert.strictEqual(yield* statusOf(decide(bot, decision, yes)), 403)
          assert.strictEqual(yield* statusOf(decide(clerk, decision, yes)), 403)
          assert.strictEqual(yield* statusOf(decide(helper, decision, yes)), 403)
          assert.strictEqual(yield* statusOf(decide(outsider, decision, yes)), 404)
          assert.strictEqual(yield* statusOf(request(outsider, "GET", `/decisions/${decision}`)), 404)
          assert.strictEqual(yield* statusOf(decide(outsider, "dcs_none", yes)), 404)
          assert.strictEqual((yield* callNow(bot, call)).state, "waiting")
          // One who has left the space has no say any more.
          yield* request(pam, "PUT", `/spaces/${space}/members/${outsider.id}`)
          yield* request(pam, "DELETE", `/spaces/${space}/members/${outsider.id}`)
          assert.strictEqual(yield* statusOf(decide(outsider, decision, yes)), 404)
          assert.strictEqual(yield* statusOf(decide(pam, decision, yes)), 200)
          // Not even an admin answers for a call of their own; another admin does.
          const [boss, other] = [yield* ruler(), yield* ruler()]
          const own = told(yield* callTool(boss, tool.name))
          assert.strictEqual(yield* statusOf(decide(boss, own.on!.id, yes)), 403)
          assert.strictEqual(yield* statusOf(decide(other, own.on!.id, yes)), 200)
          // An agent with an admin's rights is still no person.
          const mighty = yield* someone("agent")
          yield* request(yield* admin, "PATCH", `/principals/${mighty.id}`, { roles: ["admin"] })
          assert.strictEqual(yield* statusOf(decide(mighty, (yield* ask()).decision, yes)), 403)
        }),
    )

    it.effect("who may not answer is told by name who may, and never more than five names", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, space } = yield* scene()
        const { decision } = yield* ask()
        const refusal = (id = decision) => Effect.map(decide(bot, id, { verdict: "approve" }), told)
        // The people of the room come first, then the admins.
        const { detail, tag } = yield* refusal()
        assert.strictEqual(tag, "Forbidden")
        assert.match(
          detail!,
          new RegExp(`\\(rule: not by whoever asked\\)\\. It is for ${pam.name}(,| or) .+ to answer\\.$`),
        )
        for (let left = 6; left > 0; left--)
          yield* request(pam, "PUT", `/spaces/${space}/members/${(yield* someone()).id}`)
        // Who came after it was asked has no say in it; in the next one they have.
        assert.strictEqual((yield* refusal()).detail, detail)
        const later = (yield* ask()).decision
        assert.match(
          (yield* refusal(later)).detail!.replace(later, decision),
          /It is for ([^,]+, ){4}[^,]+ or (one|\d+) more to answer\.$/,
        )
        const named = yield* someone()
        const alone = yield* scene({ requiresApproval: true, approval: { approver: named.name } })
        const one = told(yield* decide(alone.pam, (yield* alone.ask()).decision, { verdict: "approve" }))
        assert.isTrue(one.detail!.endsWith(`It is for ${named.name} to answer.`), one.detail)
        const beyond = yield* decide(pam, decision, { verdict: "approve", reach: "always" })
        assert.strictEqual(beyond.status, 403)
        assert.match(
          told(beyond).detail!,
          /Approve this call or this run only, or let an admin or that approver answer\.$/,
        )
        const link = told(yield* request(bot, "POST", `/decisions/${decision}/link`, {}))
        assert.match(link.detail!, /Who may answer is in mayAnswer of the decision\.$/)
        const foreign = told(yield* request(yield* admin, "POST", `/decisions/${decision}/link`, { principal: pam.id }))
        assert.strictEqual(foreign.tag, "Forbidden")
        assert.include(
          foreign.detail!,
          `Only ${pam.name} can ask for this link, under their own token; or the house sends it to the notify address in their people entry`,
        )
      }),
    )

    it.effect("G-13 a named approver is the only one", () =>
      Effect.gen(function* () {
        const named = yield* someone()
        const { ask, bot, pam } = yield* scene({ requiresApproval: true, approval: { approver: named.name } })
        const { call, decision } = yield* ask()
        assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "approve" })), 403)
        assert.strictEqual(yield* statusOf(decide(yield* admin, decision, { verdict: "approve" })), 403)
        const { mayAnswer } = (yield* request(named, "GET", `/decisions/${decision}`)).body as { mayAnswer: unknown }
        assert.deepStrictEqual(mayAnswer, [named.id])
        assert.strictEqual(yield* statusOf(decide(named, decision, { verdict: "approve" })), 200)
        assert.strictEqual((yield* settled(bot, call)).state, "done")
        // Who is named and calls it themselves is answered for by the admins.
        const { tool } = yield* scene({ requiresApproval: true, approval: { approver: named.name } })
        const own = told(yield* callTool(named, tool.name))
        assert.strictEqual(yield* statusOf(decide(named, own.on!.id, { verdict: "approve" })), 403)
        assert.strictEqual(yield* statusOf(decide(yield* admin, own.on!.id, { verdict: "approve" })), 200)
        assert.strictEqual((yield* settled(named, own.id)).state, "done")
        // An agent that is named approves nothing: the admins do.
        const agent = yield* someone("agent")
        const odd = yield* scene({ requiresApproval: true, approval: { approver: agent.name } })
        const pending = yield* odd.ask()
        for (const who of [agent, odd.pam])
          assert.strictEqual(yield* statusOf(decide(who, pending.decision, { verdict: "approve" })), 403)
        assert.strictEqual(yield* statusOf(decide(yield* admin, pending.decision, { verdict: "approve" })), 200)
        // One who has left leaves it to the admins, and not to whoever is in the room.
        const leaver = yield* someone()
        const left = yield* scene({ requiresApproval: true, approval: { approver: leaver.name } })
        const before = yield* left.ask()
        yield* request(yield* admin, "DELETE", `/principals/${leaver.id}`)
        for (const one of [before, yield* left.ask()]) {
          assert.strictEqual(yield* statusOf(decide(left.pam, one.decision, { verdict: "approve" })), 403)
          assert.strictEqual(yield* statusOf(decide(yield* admin, one.decision, { verdict: "approve" })), 200)
        }
      }),
    )

    it.effect("G-13 two people: the second distinct approval closes it, the same one twice does not", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, space, stub } = yield* scene({ requiresApproval: true, approval: { people: 2 } })
        const jim = yield* someone()
        yield* request(pam, "PUT", `/spaces/${space}/members/${jim.id}`)
        const { call, decision } = yield* ask()
        const yes = { verdict: "approve" }
        for (const more of [{ reach: "always" }, { input: { word: "other" } }])
          assert.strictEqual(yield* statusOf(decide(pam, decision, { ...yes, ...more })), 400)
        for (let n = 0; n < 2; n++) {
          const one = yield* decide(pam, decision, yes)
          assert.deepStrictEqual([one.status, told(one).state], [200, "open"])
          assert.deepStrictEqual((one.body as { approvals: unknown }).approvals, [pam.id])
        }
        yield* resumed
        assert.lengthOf(stub.seen, 0)
        const two = yield* decide(jim, decision, yes)
        assert.deepStrictEqual([two.status, told(two).state], [200, "answered"])
        assert.strictEqual((yield* settled(bot, call)).state, "done")
        // Two at once are one after the other, and both count.
        const many = yield* Effect.forEach(Array.from({ length: 10 }), () => ask())
        const answers = yield* Effect.forEach(
          many.flatMap((both) => [pam, jim].map((who) => decide(who, both.decision, yes))),
          (answer) => answer,
          { concurrency: "unbounded" },
        )
        assert.lengthOf(
          answers.filter((one) => told(one).state === "answered"),
          10,
        )
        for (const both of many) assert.strictEqual((yield* settled(bot, both.call)).state, "done")
        // One no is enough, and one who has left counts no more.
        const denied = yield* ask()
        yield* decide(pam, denied.decision, yes)
        yield* decide(jim, denied.decision, { verdict: "deny" })
        assert.strictEqual((yield* settled(bot, denied.call)).state, "refused")
        assert.strictEqual(yield* statusOf(decide(yield* admin, denied.decision, yes)), 409)
        assert.deepStrictEqual(
          (yield* eventsOf(denied.decision)).filter((kind) => kind.startsWith("decision.")),
          ["decision.asked", "decision.approved", "decision.answered"],
        )
        const closed = yield* ask()
        yield* decide(jim, closed.decision, { verdict: "deny" })
        assert.strictEqual(yield* statusOf(decide(pam, closed.decision, yes)), 409)
        const third = yield* ask()
        yield* decide(jim, third.decision, yes)
        yield* request(pam, "DELETE", `/spaces/${space}/members/${jim.id}`)
        assert.strictEqual(told(yield* decide(pam, third.decision, yes)).state, "open")
        assert.strictEqual(told(yield* decide(yield* admin, third.decision, yes)).state, "answered")
        assert.strictEqual((yield* settled(bot, third.call)).state, "done")
        assert.lengthOf(stub.seen, 12)
      }),
    )

    it.effect("G-13 from now on: for this principal, this tool as it was, until it is taken back", () =>
      Effect.gen(function* () {
        const { ask, bot, pam: member, space, stub, tool } = yield* scene()
        // A member may say yes to this one; what holds everywhere is an admin's to say.
        const pam = yield* ruler()
        const other = yield* someone("agent")
        yield* request(member, "PUT", `/spaces/${space}/members/${other.id}`)
        const { call, decision } = yield* ask()
        assert.strictEqual(yield* statusOf(decide(member, decision, { verdict: "approve", reach: "always" })), 403)
        assert.strictEqual(yield* statusOf(decide(pam, decision, { verdict: "approve", reach: "always" })), 200)
        yield* settled(bot, call)
        const free = yield* callTool(bot, tool.name, { input: { word: "again" } })
        assert.deepStrictEqual([free.status, told(free).state], [200, "done"])
        assert.match(told(free).rule ?? "", /^approval:apv_/)
        assert.lengthOf(stub.seen, 2)
        assert.strictEqual((yield* callTool(other, tool.name, { space })).status, 202)
        const listed = (yield* request(pam, "GET", "/approvals")).body as { items: Array<Record<string, string>> }
        const [approval] = listed.items.filter((one) => one["tool"] === tool.name)
        assert.deepInclude(approval!, { principal: bot.id, givenBy: pam.id, decision })
        assert.strictEqual(yield* statusOf(request(other, "DELETE", `/approvals/${approval!["id"]}`)), 404)
        // Another description makes another tool, and so does another address.
        yield* redefine(tool, { description: "Does something else." })
        assert.strictEqual((yield* callTool(bot, tool.name)).status, 202)
        yield* redefine(tool, { execution: { url: `${stub.url}/elsewhere`, method: "POST" } })
        assert.strictEqual((yield* callTool(bot, tool.name)).status, 202)
        yield* redefine(tool, {})
        assert.strictEqual((yield* callTool(bot, tool.name)).status, 200)
        assert.strictEqual(yield* statusOf(request(pam, "DELETE", `/approvals/${approval!["id"]}`)), 204)
        assert.strictEqual((yield* callTool(bot, tool.name)).status, 202)
        assert.strictEqual(yield* statusOf(request(pam, "DELETE", `/approvals/${approval!["id"]}`)), 404)
      }),
    )

    it.effect("G-13 an open approval tells who may answer it what the answer may contain: what is then accepted", () =>
      Effect.gen(function* () {
        const ada = yield* ruler()
        const named = yield* someone()
        const optionsFor = (who: Someone, decision: string) =>
          Effect.map(request(who, "GET", `/decisions/${decision}`), ({ body }) => body["options"])
        const { ask, bot, pam } = yield* scene()
        const one = (yield* ask()).decision
        // No run asks, so none is offered.
        assert.deepStrictEqual(yield* optionsFor(pam, one), { edit: true, reaches: ["once"] })
        assert.deepStrictEqual(yield* optionsFor(ada, one), { edit: true, reaches: ["once", "always"] })
        assert.isUndefined(yield* optionsFor(bot, one))
        const listed = yield* request(pam, "GET", "/decisions?state=open&for=me")
        const { items } = listed.body as unknown as { items: ReadonlyArray<{ id: string; options: unknown }> }
        assert.deepStrictEqual(items.find(({ id }) => id === one)?.options, { edit: true, reaches: ["once"] })
        yield* decide(pam, one, { verdict: "deny" })
        assert.isUndefined(yield* optionsFor(pam, one))

        const forNamed = yield* scene({ requiresApproval: true, approval: { approver: named.name } })
        const two = (yield* forNamed.ask()).decision
        assert.deepStrictEqual(yield* optionsFor(named, two), { edit: true, reaches: ["once", "always"] })
        assert.isUndefined(yield* optionsFor(ada, two))
        assert.strictEqual(yield* statusOf(decide(named, two, { verdict: "approve", reach: "always" })), 200)

        const forBoth = yield* scene({ requiresApproval: true, approval: { people: 2 } })
        const three = (yield* forBoth.ask()).decision
        assert.deepStrictEqual(yield* optionsFor(ada, three), { edit: false, reaches: ["once"] })
      }),
    )
  })
