/** Who may read a file, as the room decides it for every door. */
import { assert, layer } from "@effect/vitest"
import type { FileId } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { makeOwnFiles } from "../../src/calls/OwnFiles.ts"
import { someone, type Someone } from "../spaces/spacesGuests.ts"
import { admin, answering, callsHouse, callTool, httpTool, request, stores, told } from "./callsKit.ts"

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 30_000 })(`own files on ${store}`, (it) => {
    it.effect("G-30 a result's file is its caller's while no rule speaks; what a rule says comes first", () =>
      Effect.gen(function* () {
        const { read } = yield* makeOwnFiles
        const tokens = yield* Tokens
        const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
        const big = JSON.stringify({ text: `${"x".repeat(70_000)} of ${bot.id}` })
        const stub = yield* answering(big)
        const { name } = yield* httpTool(stub.url)
        const file = told(yield* callTool(bot, name)).outputFile!.file as FileId
        const by = (who: Someone) =>
          Effect.flatMap(tokens.authenticate(who.token), (caller) =>
            Effect.match(read(file, caller), {
              onSuccess: (bytes) => Buffer.from(bytes).toString(),
              onFailure: (error) => (error._tag === "Forbidden" ? `${error.resource} ${error.rule}` : error._tag),
            }),
          )
        const rule = (who: Someone, effect: "allow" | "deny") =>
          Effect.gen(function* () {
            const grant = { principal: who.id, resource: `files/${file}`, actions: ["read"], effect }
            const made = yield* request(yield* admin, "POST", "/grants", grant)
            assert.strictEqual(made.status, 201, JSON.stringify(made.body))
            return `grant:${told(made).id}`
          })
        assert.strictEqual(yield* by(bot), big)
        assert.strictEqual(yield* by(other), `files/${file} silence`)
        yield* rule(other, "allow")
        assert.strictEqual(yield* by(other), big)
        // Not even its own caller reads what a rule denies.
        assert.strictEqual(yield* by(bot), big)
        const denied = yield* rule(bot, "deny")
        assert.strictEqual(yield* by(bot), `files/${file} ${denied}`)
      }).pipe(Effect.scoped),
    )
  })
