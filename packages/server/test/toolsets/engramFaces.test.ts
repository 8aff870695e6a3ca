/** Seed 002's endpoint and its 22 tools as they are listed: three contexts, their hints, tags and schemas, on both databases. */
import { assert, layer } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"
import { addressOf, create, holder, type Listed, type Result, rpcAt } from "./engramKit.ts"

const six = ["engram_create", "engram_get", "engram_search", "engram_update", "engram_delete", "engram_list_by_type"]

/** The seed's summary table: name, category, tags. */
const table: ReadonlyArray<readonly [string, "read" | "write" | "idempotent" | "destructive", ReadonlyArray<string>]> =
  [
    ["engram_create", "write", []],
    ["engram_get", "read", []],
    ["engram_search", "read", []],
    ["engram_update", "write", []],
    ["engram_delete", "destructive", []],
    ["engram_list_by_type", "read", []],
    ["user_profile_get", "read", ["hecate.engrams", "hecate.profile"]],
    ["user_profile_update", "idempotent", ["hecate.engrams", "hecate.profile"]],
    ["hecate_new_session", "write", ["hecate.session"]],
    ["hecate_list_sessions", "read", ["hecate.session"]],
    ["hecate_resume_session", "write", ["hecate.session"]],
    ["hecate_delete_session", "destructive", ["hecate.session"]],
    ["hecate_remember", "idempotent", ["hecate.memory"]],
    ["hecate_cleanup", "destructive", ["hecate.management"]],
    ["hecate_pin_engram", "idempotent", ["hecate.management"]],
    ["hecate_unpin_engram", "write", ["hecate.management"]],
    ["hecate_set_model", "write", ["hecate.management"]],
    ["moros_remember", "idempotent", ["moros.memory"]],
    ["moros_cleanup", "destructive", ["moros.management"]],
    ["moros_pin_engram", "idempotent", ["moros.management"]],
    ["moros_unpin_engram", "write", ["moros.management"]],
    ["moros_set_model", "write", ["moros.management"]],
  ]
const hints = {
  read: [true, false, true],
  write: [false, false, false],
  idempotent: [false, false, true],
  destructive: [false, true, false],
}

/** What the seed's tables say of each tool's properties: type, and whether it is required. */
const wallet = { wallet_address: "string!" }
const schemas: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  engram_create: {
    ...wallet,
    engram_type: "string!",
    key: "string!",
    content: "string!",
    tags: "array",
    is_public: "boolean",
  },
  engram_get: { ...wallet, key: "string!" },
  engram_search: {
    wallet_address: "string",
    engram_type: "string",
    tags: "array",
    query: "string",
    limit: "integer",
    offset: "integer",
  },
  engram_update: { id: "string!", content: "string!", tags: "array" },
  engram_delete: { id: "string!" },
  engram_list_by_type: { ...wallet, engram_type: "string!", limit: "integer", offset: "integer" },
  user_profile_get: wallet,
  user_profile_update: { ...wallet, field: "string!", content: "string!" },
  hecate_new_session: wallet,
  hecate_list_sessions: { ...wallet, limit: "integer" },
  hecate_resume_session: { ...wallet, session_id: "string!" },
  hecate_delete_session: { ...wallet, session_id: "string!" },
  hecate_remember: { ...wallet, key: "string!", content: "string!", engram_type: "string" },
  hecate_cleanup: wallet,
  hecate_pin_engram: { id: "string!" },
  hecate_unpin_engram: { id: "string!" },
  hecate_set_model: { query: "string!" },
}

const shapeOf = ({ inputSchema: { properties, required = [] } }: Listed) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      `${String(type)}${required.includes(name) ? "!" : ""}`,
    ]),
  )

interface Rpc {
  readonly id: number
  readonly result: {
    readonly tools: ReadonlyArray<{ readonly name: string; readonly annotations?: unknown }>
    readonly content: ReadonlyArray<{ readonly text: string }>
  }
}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`the face of engrams on ${store}`, (it) => {
    it.effect(
      "S2-01 S2-02 S2-03 S2-04 S2-06 S2-07 X-53 three contexts, three lists: six for agents, none at the crossroads, 22 inside",
      () =>
        Effect.gen(function* () {
          for (const name of ["Hecate", "Moros"])
            assert.sameMembers(
              [...(yield* (yield* holder(name, { context: "agent", wallet: addressOf(`${name}1`) })).names)],
              six,
            )
          assert.deepStrictEqual(yield* (yield* holder("outside", { context: "crossroads" })).names, [])
          const inside = yield* (yield* holder("inside")).names
          assert.lengthOf(inside, 22)
          assert.sameMembers(
            [...inside],
            table.map(([name]) => name),
          )
          const { admin, url } = yield* Guest
          const nobody = yield* rpcAt(`${url}/mcp/jsonrpc`, undefined, "tools/list", {})
          assert.deepStrictEqual(nobody.result!.tools, [])
          // Inside is only where an admin has said so: a token of which nothing is said is an agent's, and nobody lets
          // themselves in.
          const plain = yield* ask(() => admin.tokens.add({ principal: "inside" }))
          const listed = (yield* rpcAt(`${url}/mcp/jsonrpc`, plain.token, "tools/list", {})).result!.tools
          assert.sameMembers(
            listed.map(({ name }) => name),
            six,
          )
          const own = connect({ url, token: plain.token })
          const refusal = yield* Effect.flip(ask(() => own.tokens.add({ principal: "inside", context: "internal" })))
          assert.strictEqual((refusal as { readonly status: number }).status, 403)
        }),
    )

    it.effect(
      "S2-05 a tool outside the list cannot be called either: nothing is deleted, and it is booked as denied",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const who = yield* holder("Cleaner")
          const sessions = []
          for (let at = 0; at < 8; at++)
            sessions.push(yield* who.done("hecate_new_session", { wallet_address: who.wallet }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: "Cleaner", context: "agent" }))
          const { url } = yield* Guest
          const { error } = yield* rpcAt(`${url}/mcp/jsonrpc`, token, "tools/call", {
            name: "hecate_cleanup",
            arguments: { wallet_address: who.wallet },
          })
          assert.strictEqual(error?.code, -32602)
          const left = yield* who.done("hecate_list_sessions", { wallet_address: who.wallet })
          assert.strictEqual(left.count, sessions.length)
          const { items } = yield* ask(() => admin.audit.list({ principal: "Cleaner", result: "denied" }))
          assert.isTrue(items.some(({ resource }) => resource.includes("hecate_cleanup")))
        }),
    )

    it.effect(
      "S2-15 S2-34 S2-44 S2-46 S2-50 S2-57 S2-58 S2-62 S2-63 S2-64 S2-65 S2-66 S2-67 S2-68 22 rows: the three hints said in full, the tags, the schemas",
      () =>
        Effect.gen(function* () {
          const who = yield* holder("reader1")
          const { result } = yield* who.rpc("tools/list", {})
          const listed = new Map(result!.tools.map((tool) => [tool.name, tool]))
          for (const [name, category, tags] of table) {
            const tool = listed.get(name)
            if (tool === undefined) return assert.fail(name)
            const { annotations } = tool
            assert.deepStrictEqual(
              [annotations["readOnlyHint"], annotations["destructiveHint"], annotations["idempotentHint"]],
              hints[category],
              name,
            )
            assert.deepStrictEqual(tool.tags ?? [], tags, name)
            const like = name.replace("moros_", "hecate_")
            assert.deepStrictEqual(shapeOf(tool), schemas[like]!, name)
            if (like !== name) assert.deepStrictEqual(tool.inputSchema, listed.get(like)!.inputSchema, name)
          }
          const types = ["persona", "preference", "strategy", "knowledge", "compliance"]
          assert.deepStrictEqual(listed.get("engram_create")!.inputSchema.properties["engram_type"]!["enum"], types)
          assert.deepStrictEqual(listed.get("hecate_remember")!.inputSchema.properties["engram_type"]!["enum"], [
            "persona",
            "preference",
            "knowledge",
          ])
        }),
    )

    it.effect("S2-68 a hint decides nothing: a tool that says it only reads is refused like any other", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const who = yield* holder("hinted", { context: "agent" })
        yield* ask(() =>
          admin.grants.add({ principal: "hinted", resource: "tools/engram_get", actions: ["execute"], effect: "deny" }),
        )
        assert.notInclude([...(yield* who.names)], "engram_get")
        const { error } = yield* who.call("engram_get", { wallet_address: who.wallet, key: "a" })
        assert.strictEqual(error?.code, -32602)
      }),
    )

    it.effect("S2-69 a client of 2024-11-05 lists and calls them, without hints", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const who = yield* holder("old", { context: "agent" })
        const [tools, called] = yield* ask(async () => {
          const send = async (body: object, session?: string) =>
            fetch(`${url}/mcp/jsonrpc`, {
              method: "POST",
              headers: {
                "content-type": "application/json",
                accept: "application/json, text/event-stream",
                authorization: `Bearer ${who.token}`,
                ...(session === undefined ? {} : { "mcp-session-id": session }),
              },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
            })
          const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "old", version: "1" } }
          const hello = await send({ method: "initialize", params })
          const session = hello.headers.get("mcp-session-id")!
          const list = (await (await send({ method: "tools/list", params: {} }, session)).json()) as Rpc
          const call = { name: "engram_get", arguments: { wallet_address: who.wallet, key: "none" } }
          return [
            list.result.tools,
            (await (await send({ method: "tools/call", params: call }, session)).json()) as Rpc,
          ] as const
        })
        assert.sameMembers(
          tools.map(({ name }) => name),
          six,
        )
        assert.isTrue(tools.every((tool) => !("annotations" in tool)))
        assert.include(called.result.content[0]!.text, '"found":false')
      }),
    )

    it.effect(
      "S2-71 S2-72 X-59 the two documented requests, verbatim but for the host; both addresses give the same bytes",
      () =>
        Effect.gen(function* () {
          const { url } = yield* Guest
          const who = yield* holder("verbatim", { context: "agent", wallet: "0x1234..." })
          yield* create(who, "trading.risk_tolerance", {
            content: '{"level": "medium", "max_position": 0.1}',
            tags: ["trading", "risk"],
          })
          const send = (path: string, body: string) =>
            ask(async () => {
              const headers = { "content-type": "application/json", authorization: `Bearer ${who.token}` }
              return (await fetch(`${url}${path}`, { method: "POST", headers, body })).text()
            })
          const list = '{\n    "jsonrpc": "2.0",\n    "id": 1,\n    "method": "tools/list",\n    "params": {}\n  }'
          const call = `{
          "jsonrpc": "2.0",
          "id": 2,
          "method": "tools/call",
          "params": {
            "name": "engram_search",
            "arguments": {
              "wallet_address": "0x1234...",
              "engram_type": "preference"
            }
          }
        }`
          const listed = yield* send("/mcp/jsonrpc", list)
          assert.deepStrictEqual(
            (JSON.parse(listed) as Rpc).result.tools.map(({ name }) => name).toSorted(),
            six.toSorted(),
          )
          assert.strictEqual(yield* send("/mcp/engrams", list), listed)
          const called = JSON.parse(yield* send("/mcp/jsonrpc", call)) as Rpc
          assert.strictEqual(called.id, 2)
          const found = JSON.parse(called.result.content[0]!.text) as Result
          assert.deepStrictEqual([found.count, found.engrams[0]?.key], [1, "trading.risk_tolerance"])
          assert.strictEqual(yield* send("/mcp/engrams", call), yield* send("/mcp/jsonrpc", call))
        }),
    )

    it.effect("X-59 seed 002's address shows engrams alone, whatever toolsets the principal has", () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        const wallet = addressOf("stoic")
        yield* ask(() => admin.principals.add({ kind: "agent", name: "stoic", toolsets: ["stoa"], wallet }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: "stoic" }))
        const { result } = yield* rpcAt(`${url}/mcp/jsonrpc`, token, "tools/list", {})
        assert.sameMembers(
          result!.tools.map(({ name }) => name),
          six,
        )
      }),
    )

    it.effect("S2-80 an agent without a wallet has none of the 22, at no door, until it has one or is lent one", () =>
      Effect.gen(function* () {
        const { admin, url } = yield* Guest
        const poor = yield* ask(() => admin.principals.add({ kind: "agent", name: "pauper", toolsets: ["engrams"] }))
        const owner = yield* holder("lender80")
        const { token } = yield* ask(() => admin.tokens.add({ principal: poor.id, context: "internal" }))
        const client = connect({ url, token })
        const listed = Effect.fnUntraced(function* () {
          const counts: Array<number> = []
          for (const path of ["/mcp/jsonrpc", "/mcp/engrams", "/mcp"]) {
            const { result } = yield* rpcAt(`${url}${path}`, token, "tools/list", {})
            counts.push(result!.tools.filter(({ name }) => /^(engram|user|hecate|moros)_/.test(name)).length)
          }
          const { items } = yield* ask(() => client.tools.list({ limit: 100 }))
          return [...counts, items.filter(({ name }) => /^(engram|user|hecate|moros)_/.test(name)).length]
        })
        const none = [0, 0, 0, 0]
        assert.deepStrictEqual(yield* listed(), none)
        for (const name of ["engram_create", "engram_delete", "hecate_set_model"]) {
          const { error } = yield* rpcAt(`${url}/mcp/jsonrpc`, token, "tools/call", { name, arguments: {} })
          assert.strictEqual(error?.code, -32602, name)
          const refused = yield* Effect.flip(ask(() => client.tools.call(name, { input: {} })))
          assert.strictEqual((refused as { readonly status?: number }).status, 404, name)
        }
        const loan = yield* ask(() =>
          owner.stoa.delegations.add({
            to: poor.id,
            resource: `wallets/${owner.wallet}`,
            actions: ["read"],
            reason: "r",
          }),
        )
        assert.deepStrictEqual(yield* listed(), [22, 22, 22, 22])
        yield* ask(() => owner.stoa.delegations.revoke(loan.id))
        assert.deepStrictEqual(yield* listed(), none)
        yield* ask(() => admin.principals.change(poor.id, { wallet: addressOf("pauper") }))
        assert.deepStrictEqual(yield* listed(), [22, 22, 22, 22])
      }),
    )
  })
