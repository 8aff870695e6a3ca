/** A refusal is audited as `denied` through whichever door it came, and says what refused it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import {
  callsHouse,
  callTool,
  configure,
  request,
  room,
  ruler,
  settled as callSettled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"

const audited = Effect.fnUntraced(function* (principal: string) {
  yield* (yield* Readers).receipt("audit")
  const { admin } = yield* Guest
  return (yield* ask(() => admin.audit.list({ principal, limit: 100 }))).items
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 30_000 })(`refusals on ${store}`, (it) => {
    it.effect("S4-103 a call that is done is a success in the audit, and one that fails a failure", () =>
      Effect.gen(function* () {
        const bot = yield* someone("agent")
        const compute = (expression: string) =>
          configure({ executionType: "gateway", execution: { operation: "evaluate", expression } })
        const [good, bad] = [yield* compute("1 + 1"), yield* compute("{{input.missing}} + 1")]
        const states = []
        for (const { name } of [good, bad]) states.push(told(yield* callTool(bot, name)).state)
        assert.deepStrictEqual(states, ["done", "failed"])
        assert.deepStrictEqual(
          (yield* audited(bot.id)).map(({ action, resource, result }) => [action, resource, result]).toReversed(),
          [
            ["tool.execute", `tools/${good.name}`, "success"],
            ["tool.execute", `tools/${bad.name}`, "failure"],
          ],
        )
      }),
    )

    it.effect("S4-103 S3-53 a refused post is denied over HTTP and over MCP alike, with the rule that refused it", () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        const bot = yield* someone("agent")
        const name = fresh("closed")
        yield* ask(() => admin.spaces.add({ name, kind: "public" }))
        yield* ask(() =>
          admin.grants.add({ principal: bot.id, resource: `spaces/${name}`, actions: ["write"], effect: "deny" }),
        )
        const overHttp = yield* request(bot, "POST", `/spaces/${name}/messages`, { text: "hi" })
        assert.strictEqual(overHttp.status, 403)
        const call = (tool: string, args: object, meta: object = {}) =>
          ask(() => newRequest(`${url}/mcp`, bot.token, "tools/call", { name: tool, arguments: args }, { meta }))
        const posted = yield* call("post_message", { space: name, text: "hi" })
        assert.isTrue(posted.body.result.isError)
        // An error is JSON with a sentence, as every answer is.
        const { error } = JSON.parse(posted.body.result.content[0].text) as { error: Record<string, string> }
        assert.strictEqual(error["tag"], "ToolAuthorizationError")
        assert.include(error["message"], name)
        // A space one may not call tools in, a tool that is hidden, and one that is not there.
        const hidden = fresh("hidden")
        yield* ask(() => admin.spaces.add({ name: hidden, kind: "private" }))
        yield* call("whoami", {}, { "stoa/space": hidden })
        yield* ask(() =>
          admin.grants.add({ principal: bot.id, resource: "tools/react", actions: ["execute"], effect: "deny" }),
        )
        assert.strictEqual((yield* call("react", {})).body.error.code, -32_602)
        assert.strictEqual((yield* call("no_such_tool", {})).body.error.code, -32_602)
        const rows = yield* audited(bot.id)
        const denied = rows.filter((row) => row.result === "denied").map((row) => row.resource)
        assert.sameMembers(denied, [`spaces/${name}`, "tools/post_message", "tools/react", "tools/no_such_tool"])
        const post = rows.find((row) => row.resource === "tools/post_message")!
        assert.match(post.rule!, /^grant:/)
      }),
    )

    it.effect(
      "S4-103 a space that is refused as a resource of MCP is denied as over HTTP, and answered as unknown",
      () =>
        Effect.gen(function* () {
          const { admin, url } = yield* Guest
          const bot = yield* someone("agent")
          const space = yield* ask(() => admin.spaces.add({ name: fresh("shut"), kind: "public" }))
          const mcp = (method: string, params: Record<string, unknown>) =>
            ask(() => newRequest(`${url}/mcp`, bot.token, method, params))
          const uri = `stoa://spaces/${space.id}`
          assert.isUndefined((yield* mcp("resources/read", { uri })).body.error)
          // Whoever may read spaces, and asks for one that there is not, is refused nothing.
          yield* mcp("resources/read", { uri: "stoa://spaces/spc_none" })
          assert.deepStrictEqual(yield* audited(bot.id), [])
          const rule = { resource: "spaces/*", actions: ["read"], effect: "deny" } as const
          yield* ask(() => admin.grants.add({ principal: bot.id, ...rule }))
          assert.strictEqual((yield* request(bot, "GET", `/spaces/${space.id}`)).status, 403)
          assert.strictEqual((yield* mcp("resources/read", { uri })).body.error.code, -32_602)
          assert.strictEqual((yield* request(bot, "GET", "/spaces")).status, 403)
          assert.deepStrictEqual((yield* mcp("resources/list", {})).body.result.resources, [])
          const rows = (yield* audited(bot.id)).map((row) => [
            row.action,
            row.resource,
            row.result,
            row.rule?.slice(0, 6),
          ])
          const denied = (resource: string) => ["read", resource, "denied", "grant:"]
          const [one, all] = [denied(`spaces/${space.id}`), denied("spaces/*")]
          assert.deepStrictEqual(rows.toReversed(), [one, one, all, all])
        }),
    )

    it.effect("S4-103 S4-30 what is refused at a decision's link is denied, with whose link it was", () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        const [bot, ada] = [yield* someone("agent"), yield* ruler()]
        const { name } = yield* configure({ requiresApproval: true })
        const { on } = told(yield* callTool(bot, name))
        const made = yield* request(ada, "POST", `/decisions/${on!.id}/link`, {})
        const { pathname } = new URL((made.body as { url: string }).url)
        const at = (path: string, init: RequestInit = {}) =>
          Effect.map(
            ask(() => raw(path, init)),
            ({ status }) => status,
          )
        const post = { method: "POST" }
        const json = { ...post, headers: { "content-type": "application/json" }, body: '{"verdict":"approve"}' }
        assert.strictEqual(yield* at(pathname), 200)
        assert.deepStrictEqual(yield* audited(ada.id), [], "looking is no refusal")
        // She rules no longer, so it is not asked of her any more.
        yield* ask(() => admin.principals.change(ada.id, { roles: ["member"] }))
        assert.strictEqual(yield* at(pathname), 404)
        assert.strictEqual(yield* at(`${pathname}/approve`, post), 404)
        assert.strictEqual(yield* at(pathname, json), 404)
        const rows = (yield* audited(ada.id)).map(({ action, resource, result, rule }) => [
          action,
          resource,
          result,
          rule,
        ])
        const denied = (action: string) => [action, `decisions/${on!.id}`, "denied", "not asked"]
        assert.deepStrictEqual(rows.toReversed(), [denied("read"), denied("answer"), denied("answer")])
        // A signature that is not ours is a wrong guess, and nobody's.
        const forged = pathname.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
        assert.strictEqual(yield* at(`${forged}/approve`, post), 404)
        yield* (yield* Readers).receipt("audit")
        const { items } = yield* ask(() => admin.audit.list({ result: "denied", limit: 1 }))
        assert.deepInclude(items[0], { principal: null, action: "authenticate", resource: "decisions" })
        let last = 0
        for (let guess = 0; guess < 40 && last !== 429; guess++) last = yield* at(forged)
        assert.strictEqual(last, 429, "guesses are counted")
      }),
    )

    it.effect("S4-28 the audit row of a call says in which space it was made and how long it took", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const bot = yield* someone("agent")
        const space = yield* ask(() => admin.spaces.add({ name: fresh("room"), kind: "public", members: [bot.id] }))
        const { name } = yield* configure({})
        told(yield* callTool(bot, name, { space: space.id }))
        told(yield* callTool(bot, name))
        const rows = (yield* audited(bot.id)).filter((row) => row.action === "tool.execute")
        assert.deepStrictEqual(
          rows.map((row) => row.space),
          [undefined, space.id],
        )
        for (const row of rows) {
          assert.isAtLeast(row.durationMs!, 0)
          assert.isBelow(row.durationMs!, 30_000)
        }
        // As long as the call says itself: from when it was made to when it was settled, a person's pause included.
        const slow = yield* configure({ requiresApproval: true })
        const { id, on } = told(yield* callTool(bot, slow.name))
        yield* ask(() => admin.decisions.answer(on!.id, { verdict: "approve" }))
        yield* callSettled(bot, id)
        const { createdAt, settledAt } = yield* ask(() => admin.calls.get(id))
        const took = Date.parse(settledAt!) - Date.parse(createdAt)
        const [row] = (yield* audited(bot.id)).filter((one) => one.resource === `tools/${slow.name}`)
        assert.isAbove(took, 0)
        assert.strictEqual(row!.durationMs, took)
        const { findings } = yield* ask(() => admin.house.doctor())
        assert.strictEqual(findings.find(({ check }) => check === "audit")?.state, "ok")
      }),
    )

    it.effect("G-13 the audit of a person's no names the person, and not the rule that let it be asked", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const bot = yield* someone("agent")
        const person = yield* ask(() => admin.principals.add({ kind: "person", name: fresh("Nora"), roles: ["admin"] }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: person.id }))
        const { name } = yield* configure({ requiresApproval: true })
        const call = told(yield* callTool(bot, name))
        const { on } = call as { readonly on?: { readonly id: string } }
        yield* ask(() => as(token).decisions.answer(on!.id, { verdict: "deny" }))
        yield* callSettled(bot, call.id)
        const rows = yield* audited(bot.id).pipe(
          Effect.map((all) => all.filter((one) => one.resource === `tools/${name}`)),
          Effect.repeat({ until: (found) => found.length > 0 }),
        )
        const row = rows[0]!
        assert.strictEqual(row.result, "denied")
        assert.match(row.rule!, new RegExp(`^denied by ${person.name} in dcs_`))
      }),
    )

    it.effect("G-13 a declined form is audited under the name of the person who said no, and its caller reads it", () =>
      Effect.gen(function* () {
        const [bot, pam] = [yield* someone("agent"), yield* someone()]
        const space = yield* room(pam, bot)
        const { name } = yield* configure({ executionType: "space", execution: {} })
        const call = told(yield* callTool(bot, name, { space, input: { word: "go" } }))
        const answer = { verdict: "deny", note: "not today" }
        assert.strictEqual((yield* request(pam, "POST", `/decisions/${call.on!.id}/answer`, answer)).status, 200)
        const end = yield* callSettled(bot, call.id)
        assert.strictEqual(end.error?.message, `"${name}" was declined by ${pam.name}: not today`)
        const rows = yield* audited(bot.id).pipe(
          Effect.map((all) => all.filter((one) => one.resource === `tools/${name}`)),
          Effect.repeat({ until: (found) => found.length > 0 }),
        )
        assert.deepInclude(rows[0], { result: "failure", rule: `declined by ${pam.name} in ${call.on!.id}` })
      }),
    )
  })
