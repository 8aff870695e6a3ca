/** Answers that come at once, late, by a link, or after things have changed: one counts, and what runs is what was approved. */
import { assert, layer } from "@effect/vitest"
import type { CallId } from "@stoa/contract"
import { Effect } from "effect"
import { times } from "../../../../test/long.ts"
import { SqlClient } from "effect/sql"
import {
  admin,
  answering,
  callNow,
  callsHouse,
  callTool,
  configure,
  eventsOf,
  httpTool,
  redefine,
  offer,
  request,
  resumed,
  room,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { Calls } from "../../src/calls/Calls.ts"
import type { Traits } from "../../src/calls/catalogue/Traits.ts"
import { type HandlerCall, type HouseHandler, PendingResult } from "../../src/calls/road/Handler.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask as promised, Guest } from "../house.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"

const decide = (who: Someone, decision: string, answer: object = { verdict: "approve" }) =>
  request(who, "POST", `/decisions/${decision}/answer`, answer)

/** A page behind a link, as a browser asks for it. */
const visit = Effect.fnUntraced(function* (url: string, init: RequestInit = {}) {
  const { raw } = yield* Guest
  const answer = yield* promised(() => raw(new URL(url).pathname, init))
  return { status: answer.status, text: yield* promised(() => answer.text()), headers: answer.headers }
})

const scene = Effect.fnUntraced(function* (over: object = {}) {
  const [bot, pam] = [yield* someone("agent"), yield* someone()]
  const space = yield* room(pam, bot)
  const stub = yield* answering()
  const tool = yield* httpTool(stub.url, { requiresApproval: true, ...over })
  const ask = Effect.fnUntraced(function* (body: object = {}) {
    const answer = yield* callTool(bot, tool.name, { space, ...body })
    assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
    return { call: told(answer).id, decision: told(answer).on!.id }
  })
  return { bot, pam, space, stub, tool, ask }
})

/** A tool of the test's own that writes in the house, and asks first. */
const storing = Effect.fnUntraced(function* (handler: HouseHandler, traits: Partial<Traits> = {}) {
  const name = yield* offer("store", handler, { requiresApproval: true, ...traits })
  const [bot, boss] = [yield* someone("agent"), yield* ruler()]
  const { id, on } = told(yield* callTool(bot, name))
  return { bot, call: id, approve: Effect.andThen(decide(boss, on!.id), resumed) }
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 120_000 })(`answers on ${store}`, (it) => {
    it.effect(
      "S4-118 G-13 X-23 judged again when it runs: what was lost, retired or changed meanwhile does not run",
      () =>
        Effect.gen(function* () {
          const boss = yield* admin
          type Scene = Effect.Success<ReturnType<typeof scene>>
          const changes: Record<string, (at: Scene) => Effect.Effect<unknown, never, Guest>> = {
            "a grant that denies": ({ bot, tool }) =>
              request(boss, "POST", "/grants", {
                principal: bot.id,
                resource: `tools/${tool.name}`,
                actions: ["execute"],
                effect: "deny",
              }),
            "another role": ({ bot }) => request(boss, "PATCH", `/principals/${bot.id}`, { roles: ["guest"] }),
            "an agent that has left": ({ bot }) => request(boss, "DELETE", `/principals/${bot.id}`),
            "a tool that is gone": ({ tool }) => request(boss, "DELETE", `/tools/${tool.name}`),
            "another description": ({ tool }) => redefine(tool, { description: "Deletes everything." }),
            "another schema": ({ tool }) =>
              redefine(tool, { inputSchema: { type: "object", properties: { word: { type: ["string", "null"] } } } }),
            "another address": ({ stub, tool }) =>
              redefine(tool, { execution: { url: `${stub.url}/other`, method: "POST" } }),
            "another header": ({ stub, tool }) =>
              redefine(tool, { execution: { url: `${stub.url}/do`, method: "POST", headers: { "x-all": "yes" } } }),
            "other approvers": ({ pam, tool }) => redefine(tool, { approval: { approver: pam.id } }),
          }
          for (const [what, change] of Object.entries(changes)) {
            const at = yield* scene()
            const { call, decision } = yield* at.ask({ input: { word: "now" } })
            yield* change(at)
            assert.strictEqual((yield* decide(at.pam, decision)).status, 200, what)
            yield* resumed
            const seen = told(yield* request(boss, "GET", `/calls/${call}`))
            assert.strictEqual(seen.state, "refused", what)
            assert.include(["ToolAuthorizationError", "ToolNotFoundError"], seen.error?.tag, what)
            assert.lengthOf(at.stub.seen, 0, what)
          }
          // A change that is none leaves it alone.
          const at = yield* scene()
          const { call, decision } = yield* at.ask()
          yield* redefine(at.tool, {})
          yield* decide(at.pam, decision)
          assert.strictEqual((yield* settled(at.bot, call)).state, "done")
        }),
    )

    it.effect(
      "G-13 a signed link shows and changes nothing when it is opened, and answers as its person when pressed",
      () =>
        Effect.gen(function* () {
          const { ask, bot, pam, stub, tool } = yield* scene()
          const { call, decision } = yield* ask({ input: { word: "<img src=x onerror=alert(1)>" } })
          const made = yield* request(pam, "POST", `/decisions/${decision}/link`, {})
          assert.strictEqual(made.status, 201, JSON.stringify(made.body))
          const { url } = made.body as { url: string }
          for (let n = 0; n < 3; n++) {
            const page = yield* visit(url)
            assert.strictEqual(page.status, 200)
            assert.include(page.text, tool.name)
            assert.notInclude(page.text, "<img")
            const policy = page.headers.get("content-security-policy") ?? ""
            assert.match(
              policy,
              /^default-src 'none'; script-src 'self'; style-src 'self'; [^*]*form-action 'self'; frame-ancestors 'none'/,
            )
            assert.notInclude(policy, "unsafe")
            // Files of the house alone, and nothing inline.
            assert.notMatch(page.text, /<script(?![^>]*\ssrc="\/)/)
            assert.strictEqual(page.headers.get("cache-control"), "no-store")
          }
          assert.strictEqual(told(yield* request(pam, "GET", `/decisions/${decision}`)).state, "open")
          const last = url.at(-1) === "0" ? "1" : "0"
          const other = yield* ask()
          const swapped = url.replace(
            decision.slice(4).replaceAll("-", ""),
            other.decision.slice(4).replaceAll("-", ""),
          )
          assert.notStrictEqual(swapped, url)
          for (const bad of [
            url.slice(0, -1),
            `${url.slice(0, -1)}${last}`,
            `${url}0`,
            url.toUpperCase().replace("HTTP", "http"),
            swapped,
          ]) {
            assert.strictEqual((yield* visit(bad)).status, 404, bad)
            assert.strictEqual((yield* visit(`${bad}/approve`, { method: "POST" })).status, 404)
          }
          assert.strictEqual((yield* visit(`${url}/perhaps`, { method: "POST" })).status, 404)
          assert.strictEqual((yield* visit(`${url}/approve`)).status, 404)
          const pressed = yield* visit(`${url}/approve`, { method: "POST" })
          assert.strictEqual(pressed.status, 200, pressed.text)
          assert.strictEqual((yield* settled(bot, call)).state, "done")
          const shown = (yield* request(pam, "GET", `/decisions/${decision}`)).body
          assert.deepInclude(shown as object, { answeredBy: pam.id, verdict: "approve" })
          for (const verdict of ["approve", "deny"])
            assert.strictEqual((yield* visit(`${url}/${verdict}`, { method: "POST" })).status, 409)
          // A used link shows nothing: neither what was asked nor how it was answered.
          const used = yield* visit(url)
          assert.strictEqual(used.status, 404)
          for (const word of [tool.name, "answered", "approve", "img"]) assert.notInclude(used.text, word)
          const again = yield* visit(`${url}/deny`, { method: "POST" })
          for (const word of [tool.name, "answered", "approve", "img"]) assert.notInclude(again.text, word)
          assert.lengthOf(stub.seen, 1)
        }),
    )

    it.effect("G-13 a link is made for those who may answer, and is worth nothing once they may not", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, space, stub } = yield* scene()
        const [jim, boss, stranger] = [yield* someone(), yield* ruler(), yield* someone()]
        yield* request(pam, "PUT", `/spaces/${space}/members/${jim.id}`)
        const { call, decision } = yield* ask()
        const link = (who: Someone, principal?: string) =>
          request(who, "POST", `/decisions/${decision}/link`, principal === undefined ? {} : { principal })
        assert.strictEqual((yield* link(bot)).status, 403)
        assert.strictEqual((yield* link(stranger)).status, 404)
        assert.strictEqual((yield* link(pam, jim.id)).status, 403)
        assert.strictEqual((yield* link(boss, stranger.id)).status, 403)
        assert.strictEqual((yield* link(boss, bot.id)).status, 403)
        // Not even an admin makes one for somebody else; each for themselves, under their own token.
        assert.strictEqual((yield* link(boss, jim.id)).status, 403)
        assert.strictEqual((yield* link(boss)).status, 201)
        const made = yield* link(jim, jim.id)
        assert.strictEqual(made.status, 201)
        const { url } = made.body as { url: string }
        yield* request(pam, "DELETE", `/spaces/${space}/members/${jim.id}`)
        assert.strictEqual((yield* visit(url)).status, 404)
        assert.include([403, 404], (yield* visit(`${url}/approve`, { method: "POST" })).status)
        // Let in again, he is a member who came after the call: rights gained since do not count.
        yield* request(pam, "PUT", `/spaces/${space}/members/${jim.id}`)
        assert.strictEqual((yield* visit(url)).status, 404)
        assert.strictEqual((yield* link(jim)).status, 403)
        assert.strictEqual((yield* decide(jim, decision)).status, 403)
        yield* request(yield* admin, "DELETE", `/principals/${jim.id}`)
        assert.include([403, 404], (yield* visit(`${url}/approve`, { method: "POST" })).status)
        yield* resumed
        assert.lengthOf(stub.seen, 0)
        assert.strictEqual(told(yield* request(bot, "GET", `/calls/${call}`)).state, "waiting")
      }),
    )

    it.effect("G-22 the same key several times at once: it runs once, and is paid for once", () =>
      Effect.gen(function* () {
        const { bot, stub, tool } = yield* scene({ price: 0.5, requiresApproval: false })
        const answers = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => callTool(bot, tool.name, { input: { word: "once" } }, "one key"),
          { concurrency: "unbounded" },
        )
        assert.strictEqual(new Set(answers.map((one) => told(one).id)).size, 1)
        assert.lengthOf(stub.seen, 1)
        const sql = yield* SqlClient.SqlClient
        const paid = yield* sql<{ micros: number }>`SELECT cost_micros AS micros FROM spend WHERE agent = ${bot.id}`
        assert.deepStrictEqual(
          paid.map(({ micros }) => micros),
          [500_000],
        )
      }),
    )

    it.effect("S4-118 G-22 resumed several times at once, as after a crash: it runs once, and is paid for once", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub } = yield* scene({ price: 0.5 })
        const calls = yield* Calls
        const sql = yield* SqlClient.SqlClient
        const { call, decision } = yield* ask()
        // Answered behind the reader's back, so that all of these find it waiting.
        yield* sql`UPDATE decisions SET state = 'answered', verdict = 'approve', answered_by = ${pam.id}
          WHERE id = ${decision}`
        yield* Effect.forEach(Array.from({ length: 8 }), () => calls.resume(call as CallId, decision), {
          concurrency: "unbounded",
        })
        assert.strictEqual((yield* settled(bot, call)).state, "done")
        assert.lengthOf(stub.seen, 1)
        const paid = yield* sql<{ micros: number }>`SELECT cost_micros AS micros FROM spend WHERE agent = ${bot.id}`
        assert.deepStrictEqual(
          paid.map(({ micros }) => micros),
          [500_000],
        )
      }),
    )

    it.effect("S4-94 what an approved tool wrote in the house is committed with the end of its call", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const seen: Array<unknown> = []
        const { approve, bot, call } = yield* storing((_, { id }) => {
          const now = sql<{ state: string }>`SELECT state FROM calls WHERE id = ${id}`
          return Effect.orDie(sql.afterCommit(Effect.map(Effect.orDie(now), ([row]) => seen.push(row!.state))))
        })
        yield* approve
        assert.strictEqual((yield* settled(bot, call)).state, "done")
        assert.deepStrictEqual(seen, ["done"])
      }),
    )

    it.effect("S4-94 an approved tool that writes in the house and waits then is waited for, and gets its result", () =>
      Effect.gen(function* () {
        const { approve, bot, call } = yield* storing(() => Effect.succeed(new PendingResult("callback", 60_000)))
        yield* approve
        assert.deepInclude(yield* callNow(bot, call), { state: "waiting", on: { kind: "callback", id: call } })
        const { finish } = yield* Calls
        yield* (yield* Journal).transact(finish(call, { step: "finish", output: "later" }))
        assert.deepInclude(yield* settled(bot, call), { state: "done", output: "later" })
      }),
    )

    it.effect("S4-94 an approved tool that writes in the house is paid for with what it writes, or not run", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ran: Array<string> = []
        const run = (_: unknown, { id }: HandlerCall) => Effect.sync(() => void ran.push(id))
        const paid = (bot: Someone) =>
          Effect.map(sql<{ micros: number }>`SELECT cost_micros AS micros FROM spend WHERE agent = ${bot.id}`, (rows) =>
            rows.map(({ micros }) => micros),
          )
        const one = yield* storing(run, { priceMicros: 500_000 })
        yield* one.approve
        assert.strictEqual((yield* settled(one.bot, one.call)).state, "done")
        assert.deepStrictEqual(yield* paid(one.bot), [500_000])
        const poor = yield* storing(run, { priceMicros: 500_000 })
        yield* request(yield* admin, "PATCH", `/agents/${poor.bot.id}`, { limits: { perDay: { cost: 0.1 } } })
        yield* poor.approve
        const refused = yield* settled(poor.bot, poor.call)
        assert.deepInclude(refused, { state: "refused" })
        assert.match(refused.error!.message, /costs 0.5 USD, and was not run/)
        assert.deepStrictEqual([yield* paid(poor.bot), ran], [[], [one.call]])
      }),
    )

    it.effect("G-13 G-22 50 answers at once: one closes it, 49 are refused, and it runs once", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, space, stub } = yield* scene()
        const people = yield* Effect.forEach(Array.from({ length: 5 }), () => someone())
        for (const one of people) yield* request(pam, "PUT", `/spaces/${space}/members/${one.id}`)
        const { call, decision } = yield* ask()
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          (n) => decide(people[n % 5]!, decision, { verdict: n % 3 === 0 ? "deny" : "approve" }),
          { concurrency: "unbounded" },
        )
        const tally = answers.map((one) => one.status).toSorted((a, b) => a - b)
        assert.deepStrictEqual(tally, [200, ...Array.from({ length: 49 }, () => 409)])
        const won = answers.find((one) => one.status === 200)!.body as { verdict: string; answeredBy: string }
        const done = yield* settled(bot, call)
        assert.strictEqual(done.state, won.verdict === "approve" ? "done" : "refused")
        assert.lengthOf(stub.seen, won.verdict === "approve" ? 1 : 0)
        const sql = yield* SqlClient.SqlClient
        const told =
          yield* sql`SELECT kind FROM journal WHERE kind = 'decision.answered' AND body LIKE ${`%${decision}%`}`
        assert.lengthOf(told, 1)
        // All for it: then it has run exactly once.
        const second = yield* ask()
        yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          (n) => decide(people[n % 5]!, second.decision),
          {
            concurrency: "unbounded",
          },
        )
        assert.strictEqual((yield* settled(bot, second.call)).state, "done")
        yield* resumed
        assert.lengthOf(stub.seen, won.verdict === "approve" ? 2 : 1)
      }),
    )

    it.effect("S1-81 G-13 answers at once to 50 different questions are all kept", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub } = yield* scene()
        const asked = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, n) => n),
          (n) => ask({ input: { word: `n${n}` } }),
          {
            concurrency: "unbounded",
          },
        )
        const answers = yield* Effect.forEach(
          asked,
          ({ decision }, n) =>
            decide(pam, decision, n % 2 === 0 ? { verdict: "approve" } : { verdict: "deny", note: `no ${n}` }),
          { concurrency: "unbounded" },
        )
        for (const one of answers) assert.strictEqual(one.status, 200)
        const ends = yield* Effect.forEach(asked, ({ call }) => settled(bot, call), { concurrency: "unbounded" })
        ends.forEach((end, n) => {
          assert.strictEqual(end.state, n % 2 === 0 ? "done" : "refused")
          if (n % 2 === 1) assert.match(end.error!.message, new RegExp(`: no ${n}$`))
        })
        const words = stub.seen.map((one) => (JSON.parse(one.body) as { word: string }).word)
        assert.deepStrictEqual(words.toSorted(), Array.from({ length: 25 }, (_, n) => `n${n * 2}`).toSorted())
      }),
    )

    it.effect("G-22 X-44 approved and canceled at once: it ends one way, once", () =>
      Effect.gen(function* () {
        const { ask, bot, pam, stub } = yield* scene()
        const asked = yield* Effect.forEach(Array.from({ length: 40 }), () => ask(), { concurrency: "unbounded" })
        yield* Effect.forEach(
          asked.flatMap(({ call, decision }, n) => {
            const both = [
              Effect.asVoid(decide(pam, decision)),
              Effect.asVoid(request(bot, "POST", `/calls/${call}/cancel`)),
            ]
            return n % 2 === 0 ? both : both.toReversed()
          }),
          (one) => one,
          { concurrency: "unbounded" },
        )
        yield* resumed
        const ends = yield* Effect.forEach(asked, ({ call }) => settled(bot, call), { concurrency: "unbounded" })
        for (const [n, { call }] of asked.entries()) {
          assert.include(["done", "canceled"], ends[n]!.state)
          assert.lengthOf(
            (yield* eventsOf(call)).filter((kind) => kind === "call.settled"),
            1,
          )
        }
        assert.isAtLeast(stub.seen.length, ends.filter((one) => one.state === "done").length)
        assert.isAtMost(stub.seen.length, 40)
      }),
    )

    it.effect("G-13 X-30 one sees what one may: a model of memberships agrees with lists and lookups", () =>
      Effect.gen(function* () {
        let seed = 20_260_727
        const random = (n: number) =>
          Math.floor(((seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648) * n)
        const boss = yield* ruler()
        const people = yield* Effect.forEach(Array.from({ length: 6 }), () => someone())
        const bots = yield* Effect.forEach(Array.from({ length: 3 }), () => someone("agent"))
        const { name } = yield* configure({ requiresApproval: true })
        const named = yield* configure({ requiresApproval: true, approval: { approver: people[5]!.id } })
        const rooms: Array<{ id: string; members: Set<string> }> = []
        for (let n = 0; n < 5; n++) {
          const members = [...people, ...bots].filter(() => random(2) === 0)
          const inside = [boss, ...members]
          const id = yield* room(boss, ...members)
          rooms.push({ id, members: new Set(inside.map((one) => one.id)) })
        }
        const asked: Array<{ id: string; by: string; room: number | null; approver: string | null }> = []
        for (let n = 0; n < 40; n++) {
          const bot = bots[random(3)]!
          const at = random(6)
          const there = at === 5 || !rooms[at]!.members.has(bot.id) ? null : at
          const approver = random(4) === 0 ? people[5]!.id : null
          const body = there === null ? {} : { space: rooms[there]!.id }
          const answer = yield* callTool(bot, approver === null ? name : named.name, body)
          asked.push({ id: told(answer).on!.id, by: bot.id, room: there, approver })
        }
        for (let n = 0; n < 12; n++) {
          const { id, members } = rooms[random(5)]!
          const who = people[random(6)]!
          const out = members.delete(who.id)
          if (!out) members.add(who.id)
          yield* request(boss, out ? "DELETE" : "PUT", `/spaces/${id}/members/${who.id}`)
        }
        for (const who of [...people, ...bots, boss, yield* someone()]) {
          const may = asked.filter(
            (one) =>
              who === boss ||
              one.by === who.id ||
              one.approver === who.id ||
              (one.room !== null && rooms[one.room]!.members.has(who.id)),
          )
          const { items } = (yield* request(who, "GET", "/decisions?limit=100&state=open")).body as {
            items: Array<{ id: string }>
          }
          const ours = items.map((one) => one.id).filter((id) => asked.some((one) => one.id === id))
          assert.deepStrictEqual(ours.toSorted(), may.map((one) => one.id).toSorted())
          for (const { id } of asked)
            assert.strictEqual(
              (yield* request(who, "GET", `/decisions/${id}`)).status,
              may.some((one) => one.id === id) ? 200 : 404,
            )
        }
      }),
    )

    it.effect(
      "G-13 hundreds of open decisions are listed page by page, each of them once",
      () =>
        Effect.gen(function* () {
          const [bot, pam] = [yield* someone("agent"), yield* someone()]
          const space = yield* room(pam, bot)
          const { name } = yield* configure({ requiresApproval: true })
          // Many at once, but no load test: how long a thousand of them wait for a connection is another question.
          const batch = Effect.forEach(Array.from({ length: 50 }), () => callTool(bot, name, { space }), {
            concurrency: "unbounded",
          })
          const made = (yield* Effect.forEach(Array.from({ length: times(5, 20) }), () => batch)).flat()
          const ids = made.map((one) => told(one).on!.id).toSorted()
          const seen: Array<string> = []
          let next: string | null = null
          do {
            const cursor: string = next === null ? "" : `&cursor=${next}`
            const page = (yield* request(pam, "GET", `/decisions?state=open&limit=100${cursor}`)).body as {
              items: Array<{ id: string }>
              next: string | null
            }
            seen.push(...page.items.map((one) => one.id))
            next = page.next
          } while (next !== null)
          assert.deepStrictEqual(seen, ids)
        }),
      120_000,
    )
  })
