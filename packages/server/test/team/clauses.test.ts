/** Seed 003 clause by clause, where it takes no process: identity, roles, moves, envelopes, filters, the journal. */
import { assert, layer } from "@effect/vitest"
import { toolNames } from "@stoa/contract"
import { Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { ended, stores } from "../runs/runsKit.ts"
import { fresh, listen, type Someone, statusOf } from "../spaces/spacesGuests.ts"
import { failure, family, inbox, type Json, outside, programmed, teamHouse, use } from "./teamKit.ts"

const listed = (who: Someone) =>
  Effect.map(
    ask(() => who.client.tools.list()),
    ({ items }) => items.map(({ name }) => name),
  )

interface Answer {
  readonly result: {
    readonly isError?: boolean
    readonly structuredContent: Json
    readonly content: readonly [{ readonly text: string }]
  }
  readonly error: { readonly code: number; readonly message: string }
}

/** A message of the protocol at the house's door, as one of no session. */
const mcp = Effect.fnUntraced(function* (who: Someone, message: object, headers: Record<string, string> = {}) {
  const { raw } = yield* Guest
  const answer = yield* ask(() =>
    raw("/mcp", {
      method: "POST",
      headers: {
        authorization: `Bearer ${who.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    }),
  )
  const text = yield* ask(() => answer.text())
  const line = text.split("\n").find((one) => one.startsWith("data: {")) ?? `data: ${text}`
  return JSON.parse(line.slice("data: ".length)) as Answer
})
const errorOf = ({ result }: Answer) =>
  (JSON.parse(result.content[0].text) as { readonly error: { readonly tag: string; readonly message: string } }).error
const toolCall = (name: string, input: Json, more: Json = {}) => ({
  method: "tools/call",
  params: { name, arguments: input, ...more },
})

for (const store of stores)
  layer(teamHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`clauses of a team on ${store}`, (it) => {
    it.effect(
      "S3-03 S3-04 S3-06 X-27 one server, many at once: each acts as itself, and a forged id changes nothing",
      () =>
        Effect.gen(function* () {
          const { kid, one, root, three, two } = yield* family
          const all = [root, one, two, three, kid]
          const seen = yield* Effect.forEach(all.concat(all), (who) => use(who, "whoami"), { concurrency: "unbounded" })
          assert.deepStrictEqual(
            seen.map(({ name }) => name),
            all.concat(all).map(({ name }) => name),
          )
          // In the arguments, in what a client may say beside them, and as a session that is another's.
          assert.strictEqual(
            yield* statusOf(() => one.client.tools.call("whoami", { input: { agent_id: two.id, session_id: two.id } })),
            400,
          )
          for (const forged of [
            yield* mcp(one, toolCall("whoami", {}, { _meta: { "stoa/agent": two.id, agentId: two.id } })),
            yield* mcp(one, toolCall("whoami", {}), { "x-agent": two.name, "stoa-agent": two.id }),
          ])
            assert.strictEqual(forged.result.structuredContent["name"], one.name)
          const sent = yield* use(one, "send_message", { recipient: two.name, text: "as myself", sync: false })
          assert.deepStrictEqual(
            (yield* inbox(two)).map(({ from, message_id }) => [from, message_id]),
            [[one.name, sent["message_id"]]],
          )
        }),
    )

    it.effect("S3-37 mail is from a name: an agent's own, USER for a human, system for the house", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { one, root } = yield* family
        yield* use(one, "send_message", { recipient: root.name, text: "from a child", sync: false })
        yield* ask(() => admin.agents.say(root.name, { text: "from a person" }))
        const failing = yield* programmed({
          parent: root.name,
          toolsets: ["team"],
          thinker: { command: ["/bin/false"] },
        })
        yield* use(root, "send_message", { recipient: failing.name, text: "fail", sync: false })
        yield* ended(failing)
        const found = yield* inbox(root)
        assert.deepStrictEqual(
          found.map(({ from }) => from),
          [one.name, "USER", "system"],
        )
        assert.match(found[2]!["text"]!, new RegExp(`The turn of ${failing.name} failed`))
      }),
    )

    it.effect("S3-44 a role is a label: a reviewer has the tools of a worker, and what they do", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { one, root, two } = yield* family
        yield* ask(() => admin.agents.change(one.id, { role: "reviewer" }))
        assert.deepStrictEqual(yield* listed(one), yield* listed(two))
        assert.strictEqual((yield* use(one, "whoami"))["role"], "reviewer")
        const name = fresh("new")
        const did = [
          yield* use(one, "spawn_agent", { name, instructions: "Work." }),
          yield* use(one, "send_message", { recipient: root.name, text: "up" }),
          yield* use(one, "send_message", { recipient: two.name, text: "beside", sync: false }),
          yield* use(one, "broadcast", { text: "all" }),
          yield* use(one, "inspect_agent", { name }),
          yield* use(one, "stop_agent", { name, remove: true }),
          yield* use(one, "complete", { result: "done" }),
        ]
        assert.deepStrictEqual(
          did.map((answer) => answer["status"] ?? answer["state"]),
          ["created", "sent", "sent", "sent", "idle", "removed", "completed"],
        )
        assert.deepInclude(yield* use(two, "send_message", { recipient: one.name, text: "back", sync: false }), {
          status: "sent",
        })
      }),
    )

    it.effect("S3-54 an agent has its session, parent, children, role and state; who has left does nothing more", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { kid, one, root } = yield* family
        const shown = (who: { readonly id: string }) =>
          Effect.map(
            ask(() => admin.agents.tree()),
            ({ items }) => items.find(({ id }) => id === who.id),
          )
        assert.deepInclude((yield* shown(one))!, {
          name: one.name,
          parent: root.id,
          children: [kid.id],
          role: "worker",
          state: "idle",
          depth: 1,
          session: null,
        })
        const agent = yield* ask(() => admin.agents.get(one.id))
        assert.deepInclude(agent, { id: one.id, persona: null, thinker: { kind: "model" } })
        yield* ask(() => admin.agents.stop(kid.id, { remove: true }))
        assert.isUndefined(yield* shown(kid))
        assert.strictEqual((yield* ask(() => admin.agents.inspect(kid.id))).agent.state, "terminated")
        // From terminated there is no way back, and nobody works for it or writes to it.
        assert.strictEqual(yield* statusOf(() => kid.client.tools.call("whoami", { input: {} })), 401)
        assert.strictEqual(yield* statusOf(() => admin.agents.change(kid.id, { role: "reviewer" })), 409)
        assert.strictEqual(
          yield* statusOf(() => admin.agents.spawn(kid.id, { name: fresh("x"), instructions: "Work." })),
          409,
        )
        assert.match(yield* failure(one, "send_message", { recipient: kid.name, text: "x" }), /one hop|no agent|left/i)
      }),
    )

    it.effect("S3-56 a team is the children of one parent: it is another after a move", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { kid, one, root, three, two } = yield* family
        const near = (who: Someone) =>
          Effect.map(use(who, "list_team"), (team) =>
            (["children", "siblings"] as const).map((key) =>
              (team[key] as ReadonlyArray<Json>).map(({ name }) => name as string),
            ),
          )
        assert.deepStrictEqual(yield* near(two), [[], [one.name, three.name]])
        yield* ask(() => admin.agents.change(kid.id, { parent: root.id }))
        yield* ask(() => admin.agents.change(three.id, { parent: two.id }))
        assert.deepStrictEqual(yield* near(two), [[three.name], [one.name, kid.name]])
        assert.deepStrictEqual(yield* near(kid), [[], [one.name, two.name]])
        assert.match(yield* failure(kid, "send_message", { recipient: three.name, text: "x" }), /one hop/)
        assert.strictEqual(yield* statusOf(() => admin.agents.change(root.id, { parent: kid.id })), 400)
      }),
    )

    it.effect("S3-64 an envelope is written and read back: id, time, sender, recipient, reply_to, kind, text", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { one, root, two } = yield* family
        const asked = yield* use(root, "send_message", { recipient: one.name, text: "How?", timeout_seconds: 600 })
        const answer = yield* use(one, "send_message", { recipient: root.name, text: "So." })
        const noted = yield* use(one, "send_message", { recipient: two.name, text: "Note.", sync: false })
        const cast = yield* use(one, "broadcast", { text: "All." })
        yield* (yield* Readers).receipt("runs")
        const of = Effect.fnUntraced(function* (sent: Json, agent: Someone) {
          const [row] = yield* sql<{ author: string; agent: string; text: string; at: string; mail: string }>`SELECT
            author, agent, text, at, mail FROM triggers WHERE message = ${`msg_${String(sent["message_id"])}`}
            AND agent = ${agent.id}`
          const { at, mail, ...rest } = row!
          const { id, kind, replyTo } = JSON.parse(mail) as { id: string; kind: string; replyTo: string | null }
          assert.isNotNaN(Date.parse(at))
          return { ...rest, kind, replyTo: replyTo ?? null, id }
        })
        const rows = [yield* of(asked, one), yield* of(answer, root), yield* of(noted, two), yield* of(cast, two)]
        assert.deepStrictEqual(
          rows.map((row) => [row.author, row.agent, row.text, row.kind, row.replyTo]),
          [
            [root.id, one.id, "How?", "request", null],
            [one.id, root.id, "So.", "response", `msg_${String(asked["message_id"])}`],
            [one.id, two.id, "Note.", "notification", null],
            [one.id, two.id, "All.", "multicast", null],
          ],
        )
        assert.strictEqual(new Set(rows.map((row) => row.id)).size, 4)
        // How long it may take is kept with what waits for it.
        const [wait] = yield* sql<{ openedAt: string; deadlineAt: string }>`SELECT opened_at, deadline_at FROM waits
          WHERE message = ${`msg_${String(asked["message_id"])}`}`
        assert.strictEqual(Date.parse(wait!.deadlineAt) - Date.parse(wait!.openedAt), 600_000)
      }),
    )

    it.effect(
      "S3-53 S3-68 S3-73 what fails says so as JSON: unknown, invalid, a method that is none; tools beyond five",
      () =>
        Effect.gen(function* () {
          const { one } = yield* family
          const unknown = yield* mcp(one, toolCall("send_message", { recipient: "nobody-here", text: "x" }))
          assert.isTrue(unknown.result.isError)
          assert.match(errorOf(unknown).message, /nobody-here/)
          const invalid = yield* mcp(one, toolCall("send_message", { recipient: 5, text: "x" }))
          assert.isTrue(invalid.result.isError)
          assert.strictEqual(errorOf(invalid).tag, "ToolValidationError")
          assert.strictEqual((yield* mcp(one, { method: "agent/spawn" })).error.code, -32601)
          assert.strictEqual((yield* mcp(one, toolCall("poke", {}))).error.code, -32602)
          for (const name of ["complete", "list_team", "whoami", "stop_agent"]) assert.include(yield* listed(one), name)
        }),
    )

    it.effect(
      "X-28 each filter takes a tool away, from the list and from who calls it: toolset, list, grant, parents",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { one, root } = yield* family
          const has = (tool: string) => Effect.map(listed(one), (names) => names.includes(tool))
          const calls = (tool: string, input: Json = {}) =>
            Effect.map(
              Effect.exit(ask(() => one.client.tools.call(tool, { input: input as never }))),
              ({ _tag }) => _tag,
            )
          assert.isTrue(yield* has("whoami"))
          assert.strictEqual(yield* calls("whoami"), "Success")
          const gone = Effect.gen(function* () {
            assert.isFalse(yield* has("whoami"))
            assert.strictEqual(yield* calls("whoami"), "Failure")
          })
          yield* ask(() => admin.principals.change(one.id, { toolsets: ["office"] }))
          yield* gone
          yield* ask(() => admin.principals.change(one.id, { toolsets: ["team"] }))
          yield* ask(() =>
            admin.allowLists.set("team", "agent", { tools: toolNames.team.filter((name) => name !== "whoami") }),
          )
          yield* gone
          yield* ask(() => admin.allowLists.reset("team", "agent"))
          const rule = { resource: "tools/whoami", actions: ["execute" as const], effect: "deny" as const }
          for (const principal of [one.id, root.id]) {
            const grant = (yield* ask(() => admin.grants.add({ principal, ...rule }))) as { readonly id: string }
            yield* gone
            yield* ask(() => admin.grants.revoke(grant.id))
            assert.isTrue(yield* has("whoami"))
          }
          yield* ask(() => admin.pauses.set({ subject: `agents/${root.name}`, reason: "a test" }))
          assert.strictEqual(yield* calls("whoami"), "Failure")
          yield* ask(() => admin.pauses.lift(`agents/${root.name}`))
          assert.strictEqual(yield* calls("whoami"), "Success")
        }),
    )

    it.effect("X-45 X-48 mail is in the journal before anybody reads it, as message.enqueued on the team's face", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { adminToken } = yield* Guest
          const { one, root } = yield* family
          const frames = (yield* listen({ token: adminToken }, { path: "/events?names=team" })).frames
          const sent = yield* use(root, "send_message", { recipient: one.name, text: "for the log", sync: false })
          // The event has the id that the team's tools give it.
          const id = String(sent["message_id"])
          for (;;) {
            const { data, event } = (yield* Queue.take(frames)) as unknown as {
              readonly event?: string
              readonly data?: { readonly kind: string; readonly body: { readonly message: { readonly id: string } } }
            }
            assert.notStrictEqual(event, "message.created")
            if (event === "message.enqueued" && data!.body.message.id === id) {
              assert.strictEqual(data!.kind, "message.created")
              break
            }
          }
          assert.strictEqual((yield* inbox(one)).length, 1)
        }),
      ),
    )

    it.effect("S3-78 the tree can be told from the journal alone, and calls are in it with what came of them", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const sql = yield* SqlClient.SqlClient
        const { kid, one, root, two } = yield* family
        yield* use(two, "spawn_agent", { name: fresh("made"), instructions: "Work." })
        yield* ask(() => admin.agents.change(kid.id, { parent: two.id }))
        yield* use(root, "inspect_agent", { name: one.name })
        // One that waits first, so that what was asked and what came of it are told apart.
        const execution = { operation: "evaluate" as const, expression: "1 + 1" }
        const tool = fresh("sum")
        const inputSchema = { type: "object", properties: {} }
        const asked = { name: tool, description: "Adds.", inputSchema, executionType: "gateway", execution } as const
        yield* ask(() => admin.tools.add({ ...asked, visibility: "hidden", requiresApproval: true }))
        const held = yield* ask(() => two.client.tools.call(tool, { input: {}, wait: 0 }))
        yield* ask(() => two.client.calls.cancel((held as { readonly id: string }).id))
        yield* ask(() => admin.agents.stop(one.id, { remove: true }))
        const events = yield* sql<{ kind: string; body: string }>`SELECT kind, body FROM journal ORDER BY cursor`
        const parents = new Map<string, string | null>()
        const calls = new Map<string, string>()
        const invoked = new Map<string, string>()
        for (const { body, kind } of events) {
          const said = JSON.parse(body) as Readonly<Record<string, string>>
          if (kind === "principal.added" && said["kind"] === "agent") parents.set(said["principal"]!, null)
          if (kind === "principal.changed" && "parent" in said) parents.set(said["principal"]!, said["parent"] ?? null)
          if (kind === "principal.retired") parents.delete(said["principal"]!)
          // What is recorded only with its end tells of both at once.
          if (kind === "call.received" || "whole" in said) invoked.set(said["call"]!, said["tool"]!)
          // A call is told of before what came of it.
          if (kind === "call.settled") {
            assert.isTrue(invoked.has(said["call"]!), said["call"])
            calls.set(said["call"]!, said["state"]!)
          }
        }
        const { items } = yield* ask(() => admin.agents.tree())
        assert.deepStrictEqual(
          new Map([...parents].toSorted()),
          new Map(items.map(({ id, parent }) => [id, parent] as const).toSorted()),
        )
        const rows = yield* sql<{ id: string; state: string; tool: string }>`SELECT id, state, tool FROM calls`
        assert.isNotEmpty(rows)
        for (const { id, state, tool } of rows) assert.deepStrictEqual([invoked.get(id), calls.get(id)], [tool, state])
      }),
    )

    it.effect(
      "S3-46 a child that cannot be made is not there; one whose program does not start is told of at once",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const root = yield* outside()
          const lead = yield* programmed({
            parent: root.name,
            toolsets: ["team"],
            thinker: { children: { broken: { program: "command", command: ["/no/such/program"] } } },
          })
          const wanted = { name: fresh("child"), instructions: "Work." }
          assert.strictEqual(yield* statusOf(() => admin.agents.spawn(lead.id, { ...wanted, program: "none" })), 400)
          assert.strictEqual(yield* statusOf(() => admin.agents.get(wanted.name)), 404)
          yield* ask(() => admin.agents.change(lead.id, { autoWake: false }))
          const child = yield* ask(() => admin.agents.spawn(lead.id, { ...wanted, program: "broken" }))
          const [run] = yield* ended(child)
          // S3-07: it fails at once, and does not hang.
          assert.match(run!.failure!, /There is no program \/no\/such\/program that can be started here/)
          const sql = yield* SqlClient.SqlClient
          yield* (yield* Readers).receipt("runs")
          const rows = yield* sql<{ text: string }>`SELECT text FROM triggers WHERE agent = ${lead.id}`
          assert.match(rows[0]!.text, new RegExp(`The turn of ${child.name} failed: There is no program`))
        }),
    )
  })

layer(teamHouse({ store: "sqlite" }), { excludeTestServices: true, timeout: 60_000 })("a tree as it comes", (it) => {
  it.effect("S3-45 a tree has twenty levels where nobody has said how many", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const spawn = (parent: string) =>
        ask(() => admin.agents.spawn(parent, { name: fresh("child"), instructions: "Work." }))
      let lowest = (yield* outside()).id as string
      for (let level = 2; level <= 20; level++) lowest = (yield* spawn(lowest)).id
      const refused = (yield* Effect.flip(spawn(lowest))) as Error
      assert.match(refused.message, /at most 20 levels/)
    }),
  )
})

layer(teamHouse({ store: "sqlite", env: { STOA_TEAM_DEPTH: "3", STOA_TEAM_WIDTH: "2", STOA_TEAM_AGENTS: "4" } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("a bounded tree", (it) => {
  it.effect("S3-45 G-06 a tree is as deep, wide and large as the house allows, and says which bound it met", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const root = yield* outside()
      const spawn = (parent: string) =>
        ask(() => admin.agents.spawn(parent, { name: fresh("child"), instructions: "Work." }))
      const refusal = (parent: string) => Effect.map(Effect.flip(spawn(parent)), (error) => (error as Error).message)
      const one = yield* spawn(root.id)
      const two = yield* spawn(one.id)
      assert.match(yield* refusal(two.id), /at most 3 levels/)
      yield* spawn(root.id)
      assert.match(yield* refusal(root.id), /at most 2 children/)
      assert.match(yield* refusal(one.id), /at most 4 agents/)
    }),
  )
})
