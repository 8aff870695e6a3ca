/** Seed 002's context `internal`: an admin has all 22 tools of the table, and each does what it says. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"
import { addressOf, rpcAt } from "./engramKit.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`internal on ${store}`, (it) => {
    it.effect("S2-01 S2-02 X-53 an admin, whose context is internal, calls every one of the 22 at once", () =>
      Effect.gen(function* () {
        const { admin, adminToken, url } = yield* Guest
        yield* ask(() =>
          admin.principals.add({ kind: "person", name: "root", roles: ["admin"], wallet: addressOf("root") }),
        )
        const { context, token } = yield* ask(() => admin.tokens.add({ principal: "root" }))
        assert.strictEqual(context, "internal")
        const mine = { wallet_address: addressOf("root") }
        const refused: Array<string> = []
        const call = Effect.fnUntraced(function* (name: string, args: object) {
          const { error, result } = yield* rpcAt(`${url}/mcp/jsonrpc`, token, "tools/call", { name, arguments: args })
          const text = error?.message ?? result!.content[0]!.text
          if (error !== undefined || result!.isError === true || text.includes('"waiting"'))
            refused.push(`${name}: ${text}`)
          return (text.startsWith("{") ? JSON.parse(text) : {}) as { id: string; session_id: string }
        })
        const { id } = yield* call("engram_create", { ...mine, engram_type: "knowledge", key: "a", content: "1" })
        yield* call("engram_get", { ...mine, key: "a" })
        yield* call("engram_search", mine)
        yield* call("engram_update", { id, content: "2" })
        yield* call("engram_list_by_type", { ...mine, engram_type: "knowledge" })
        yield* call("user_profile_update", { ...mine, field: "base", content: "1" })
        yield* call("user_profile_get", mine)
        const { session_id } = yield* call("hecate_new_session", mine)
        yield* call("hecate_list_sessions", mine)
        yield* call("hecate_resume_session", { ...mine, session_id })
        for (const name of ["hecate", "moros"]) {
          yield* call(`${name}_remember`, { ...mine, key: `r.${name}`, content: "x" })
          yield* call(`${name}_pin_engram`, { id })
          yield* call(`${name}_unpin_engram`, { id })
          yield* call(`${name}_set_model`, { query: "default" })
          yield* call(`${name}_cleanup`, mine)
        }
        yield* call("hecate_delete_session", { ...mine, session_id })
        yield* call("engram_delete", { id })
        assert.deepStrictEqual(refused, [])
        const { result } = yield* rpcAt(`${url}/mcp/jsonrpc`, adminToken, "tools/list", {})
        assert.lengthOf(result!.tools, 22)
      }),
    )
  })
