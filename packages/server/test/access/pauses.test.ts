/** The kill switch: what is paused makes and takes no calls, what is under way ends, and lifting it brings all back. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
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
  holding,
  httpTool,
  request,
  resumed,
  room,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { everything } from "../servers/serversKit.ts"

const pause = Effect.fnUntraced(function* (subject: string, reason = "a test") {
  const answer = yield* request(yield* admin, "POST", "/pauses", { subject, reason })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
})
const lift = Effect.fnUntraced(function* (subject: string) {
  const answer = yield* request(yield* admin, "DELETE", `/pauses/${encodeURIComponent(subject)}`)
  assert.strictEqual(answer.status, 204, JSON.stringify(answer.body))
})
const listed = Effect.gen(function* () {
  const { items } = (yield* request(yield* admin, "GET", "/pauses")).body as { items: Array<{ subject: string }> }
  return items.map((one) => one.subject)
})

/** An agent with one call that runs, one that waits for a form and one that waits for an approval. */
const underWay = Effect.gen(function* () {
  const [bot, pam] = [yield* someone("agent"), yield* someone()]
  const space = yield* room(pam, bot)
  const stub = yield* holding
  const slow = yield* httpTool(stub.url)
  const form = yield* configure({ executionType: "space" })
  const asks = yield* httpTool(stub.url, { requiresApproval: true })
  const running = told(yield* callTool(bot, slow.name, { wait: 0 })).id
  const { closed } = yield* stub.arrived
  const waits = told(yield* callTool(bot, form.name, { space }))
  const asked = told(yield* callTool(bot, asks.name, { space }))
  return { bot, pam, stub, slow, form, asks, running, closed, waits, asked }
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`pauses on ${store}`, (it) => {
    it.effect("G-12 an agent: its new calls are refused, its running handlers end, its questions are withdrawn", () =>
      Effect.gen(function* () {
        const { asked, bot, closed, form, pam, running, slow, stub, waits } = yield* underWay
        const other = yield* someone("agent")
        const plain = yield* configure()
        yield* pause(`agents/${bot.name}`)
        const refused = yield* callTool(bot, plain.name)
        assert.deepStrictEqual([refused.status, told(refused).tag], [403, "ToolAuthorizationError"])
        assert.match(told(refused).detail ?? "", /is paused/)
        yield* closed
        for (const id of [running, waits.id, asked.id]) {
          const end = yield* settled(bot, id)
          assert.deepStrictEqual([end.state, end.error?.tag], ["canceled", "Canceled"])
          assert.deepStrictEqual(
            (yield* eventsOf(id)).filter((kind) => kind === "call.settled"),
            ["call.settled"],
          )
        }
        for (const { id } of [waits.on!, asked.on!]) {
          assert.strictEqual(told(yield* request(pam, "GET", `/decisions/${id}`)).state, "canceled")
          assert.strictEqual(
            (yield* request(pam, "POST", `/decisions/${id}/answer`, { verdict: "approve" })).status,
            409,
          )
        }
        assert.strictEqual((yield* callTool(other, plain.name)).status, 200)
        // A new name does not set it free.
        const name = fresh("renamed")
        assert.strictEqual((yield* request(yield* admin, "PATCH", `/principals/${bot.id}`, { name })).status, 200)
        assert.strictEqual((yield* callTool(bot, plain.name)).status, 403)
        assert.include(yield* listed, `agents/${name}`)
        yield* lift(`agents/${name}`)
        assert.strictEqual((yield* callTool(bot, plain.name)).status, 200)
        assert.notInclude(yield* listed, `agents/${name}`)
        assert.strictEqual((yield* callTool(bot, form.name, { space: yield* room(pam, bot) })).status, 202)
        assert.strictEqual((yield* callTool(bot, slow.name, { wait: 0 })).status, 202)
        yield* stub.arrived
        assert.lengthOf(stub.seen, 2)
      }),
    )

    it.effect("G-12 an agent with all agents below it, and none beside it", () =>
      Effect.gen(function* () {
        const top = yield* someone("agent")
        const middle = yield* someone("agent")
        const [below, beside] = [yield* underWay, yield* underWay]
        const boss = yield* admin
        for (const [child, parent] of [
          [middle, top],
          [below.bot, middle],
        ] as const)
          assert.strictEqual((yield* request(boss, "PATCH", `/agents/${child.id}`, { parent: parent.id })).status, 200)
        yield* pause(`agents/${top.name}`)
        yield* below.closed
        yield* resumed
        for (const id of [below.running, below.waits.id, below.asked.id])
          assert.strictEqual((yield* callNow(below.bot, id)).state, "canceled")
        for (const { id } of [below.waits.on!, below.asked.on!])
          assert.strictEqual(told(yield* request(below.pam, "GET", `/decisions/${id}`)).state, "canceled")
        assert.strictEqual((yield* callNow(beside.bot, beside.running)).state, "running")
        for (const { id } of [beside.waits, beside.asked])
          assert.strictEqual((yield* callNow(beside.bot, id)).state, "waiting")
        yield* lift(`agents/${top.name}`)
        yield* request(beside.bot, "POST", `/calls/${beside.running}/cancel`)
      }),
    )

    it.effect("G-12 a tool, by any case of its name, for everybody", () =>
      Effect.gen(function* () {
        const { asked, bot, closed, running, slow, waits } = yield* underWay
        yield* pause(`tools/${slow.name.toUpperCase()}`)
        yield* closed
        assert.strictEqual((yield* settled(bot, running)).state, "canceled")
        for (const who of [bot, yield* someone("agent"), yield* admin])
          assert.strictEqual((yield* callTool(who, slow.name)).status, 403)
        // What it is not about goes on.
        yield* resumed
        for (const { id } of [waits, asked]) assert.strictEqual((yield* callNow(bot, id)).state, "waiting")
        yield* lift(`tools/${slow.name}`)
        assert.strictEqual((yield* callTool(bot, slow.name, { wait: 0 })).status, 202)
      }),
    )

    it.effect("G-12 a pause of a tool is told to those who may use it, and to nobody else", () =>
      Effect.gen(function* () {
        const [may, mayNot] = [yield* someone("agent"), yield* someone("agent")]
        const { name } = yield* configure()
        const deny = { principal: mayNot.id, resource: `tools/${name}`, actions: ["execute"], effect: "deny" }
        assert.strictEqual((yield* request(yield* admin, "POST", "/grants", deny)).status, 201)
        const before = yield* callTool(mayNot, name)
        yield* pause(`tools/${name}`)
        assert.match(told(yield* callTool(may, name)).detail ?? "", /is paused/)
        const after = yield* callTool(mayNot, name)
        assert.deepStrictEqual([after.status, after.body], [before.status, before.body])
        yield* lift(`tools/${name}`)
      }),
    )

    it.effect("G-12 everything, for admins too, until it is lifted", () =>
      Effect.gen(function* () {
        const { asked, bot, closed, pam, running, stub, waits } = yield* underWay
        const again = yield* answering()
        const { name } = yield* httpTool(again.url)
        yield* pause("everything", "somebody shouted")
        for (const who of [bot, yield* admin]) assert.strictEqual((yield* callTool(who, name)).status, 403)
        yield* closed
        for (const id of [running, waits.id, asked.id]) assert.strictEqual((yield* settled(bot, id)).state, "canceled")
        assert.strictEqual((yield* request(pam, "GET", "/me")).status, 200)
        // Paused twice is paused once, and the first reason stands.
        const twice = yield* pause("everything", "again")
        assert.strictEqual(twice["reason"], "somebody shouted")
        yield* lift("everything")
        assert.strictEqual((yield* request(yield* admin, "DELETE", "/pauses/everything")).status, 404)
        assert.strictEqual((yield* callTool(bot, name)).status, 200)
        assert.lengthOf(again.seen, 1)
        assert.lengthOf(stub.seen, 1)
      }),
    )

    it.effect("G-12 an MCP server: all of its tools, and none of another's", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const boss = yield* admin
        const [one, two] = ["srv_a", "srvxa"]
        for (const name of [one, two]) {
          const made = yield* request(boss, "POST", "/mcp-servers", { name, ...everything("stdio") })
          assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        }
        const long = (server: string) =>
          Effect.map(
            callTool(bot, encodeURIComponent(`${server}/trigger-long-running-operation`), {
              wait: 0,
              input: { duration: 300, steps: 300 },
            }),
            told,
          )
        const [mine, theirs] = [yield* long(one), yield* long(two)]
        assert.deepStrictEqual([mine.state, theirs.state], ["running", "running"])
        yield* pause(`servers/${one}`)
        assert.strictEqual((yield* settled(bot, mine.id)).state, "canceled")
        yield* resumed
        assert.strictEqual((yield* callNow(bot, theirs.id)).state, "running")
        const echo = (server: string) =>
          callTool(bot, encodeURIComponent(`${server}/echo`), { input: { message: "hi" } })
        // Refused while it is being disconnected, and told why after that.
        assert.strictEqual((yield* echo(one)).status, 403)
        assert.strictEqual((yield* echo(two)).status, 200)
        yield* lift(`servers/${one}`)
        yield* Effect.repeat(echo(one), { until: ({ status }) => status === 200 })
        yield* request(bot, "POST", `/calls/${theirs.id}/cancel`)
      }),
    )

    it.effect("G-12 calls that are on their way while it is pulled do not slip through", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const stub = yield* holding
        const { name } = yield* httpTool(stub.url)
        const sql = yield* SqlClient.SqlClient
        for (let round = 0; round < 6; round++) {
          const all = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: times(20, 60) }), () => callTool(bot, name, { wait: 0 }), {
              concurrency: "unbounded",
            }),
          )
          // So many turns of the event loop, not a time.
          for (let n = 0; n < round * 8; n++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
          yield* pause("everything")
          yield* Fiber.join(all)
          yield* resumed
          assert.lengthOf(yield* sql`SELECT id FROM calls WHERE state IN ('running', 'waiting')`, 0)
          yield* lift("everything")
        }
      }),
    )

    it.effect("G-12 only admins pull it, and only for what there is", () =>
      Effect.gen(function* () {
        const [pam, bot] = [yield* someone(), yield* someone("agent")]
        for (const who of [pam, bot]) {
          assert.strictEqual((yield* request(who, "POST", "/pauses", { subject: "everything" })).status, 403)
          assert.strictEqual((yield* request(who, "DELETE", "/pauses/everything")).status, 403)
          assert.strictEqual((yield* request(who, "GET", "/pauses")).status, 403)
        }
        const boss = yield* ruler()
        for (const subject of ["agents/nobody-of-that-name", "nothing", "agents/", "spaces/x", ""])
          assert.strictEqual((yield* request(boss, "POST", "/pauses", { subject })).status, 400, subject)
        const plain = yield* configure()
        const set = yield* request(boss, "POST", "/pauses", { subject: `tools/${plain.name}` })
        assert.deepInclude(set.body, { subject: `tools/${plain.name}`, by: boss.id })
        assert.strictEqual((yield* callTool(bot, plain.name)).status, 403)
        yield* lift(`tools/${plain.name}`)
      }),
    )
  })
