/** Secrets as they are set and filled in: which are refused, and the one grammar of placeholders. */
import { assert, describe, it, layer } from "@effect/vitest"
import { hasPlaceholder, placeholdersIn, placeholderText, type SecretName } from "@stoa/contract"
import { Redactor } from "@stoa/tools"
import { Effect, Redacted } from "effect"
import fc from "fast-check"
import { Journal } from "../../src/store/journal/Journal.ts"
import { makeReveal, revealAll } from "../../src/access/secrets/Reveal.ts"
import { Secrets } from "../../src/access/secrets/Secrets.ts"
import { request, admin, callsHouse, stores } from "../calls/callsKit.ts"

describe("placeholders", () => {
  it("S1-22 a text with placeholders is read into its parts, and back", () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,20}$/)
    const part = fc.oneof(
      fc.string().filter((text) => text !== "" && !text.includes("$") && !text.includes("{")),
      fc.record({ from: fc.constantFrom("env" as const, "secret" as const), name }),
    )
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.map((it) => (typeof it === "string" ? it : placeholderText(it))).join("")
        const read = placeholdersIn(text)
        if ("fault" in read) return assert.fail(read.fault)
        assert.strictEqual(
          hasPlaceholder(text),
          parts.some((it) => typeof it !== "string"),
        )
        assert.strictEqual(read.parts.map((it) => (typeof it === "string" ? it : placeholderText(it))).join(""), text)
        assert.deepStrictEqual(
          read.parts.filter((it) => typeof it !== "string"),
          parts.filter((it) => typeof it !== "string"),
        )
      }),
      { seed: 20_261_116 },
    )
  })

  it("S1-22 what opens like a placeholder and is none is a fault that says what to write", () => {
    for (const text of [
      "${",
      "${}",
      "${HOME}",
      "${env:HOME}",
      "${env.}",
      "${env.A B}",
      "${secret.1}",
      "${Secret.A}",
      "x${env.A",
    ]) {
      const read = placeholdersIn(text)
      assert.isTrue("fault" in read && read.fault.endsWith("write ${env.NAME} or ${secret.NAME}"), text)
      // It is never taken for plain text.
      assert.isTrue(hasPlaceholder(text), text)
    }
  })
})

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`secrets on ${store}`, (it) => {
    it.effect("G-17 a secret of fewer than eight characters is refused with a sentence, and nothing is kept", () =>
      Effect.gen(function* () {
        const boss = yield* admin
        for (const value of ["", "x", "hunter2", "  brief7  ", "       \n"]) {
          const refused = yield* request(boss, "PUT", "/secrets/SHORT", { value })
          assert.strictEqual(refused.status, 400, value)
          const body = JSON.stringify(refused.body)
          assert.include(body, "at least 8 characters")
          if (value.trim() !== "" && value !== "x") assert.notInclude(body, value.trim())
        }
        assert.notInclude(JSON.stringify((yield* request(boss, "GET", "/secrets")).body), "SHORT")
        assert.strictEqual((yield* request(boss, "PUT", "/secrets/LONG", { value: "eight878" })).status, 204)
      }),
    )

    it.effect("G-17 a short one that was kept before is not sent, and the sentence says what to do", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        yield* (yield* Journal).transact(secrets.set("OLD" as SecretName, Redacted.make("hunter2")))
        const reveal = yield* makeReveal
        const redactor = new Redactor()
        const why = yield* Effect.flip(reveal({ from: "secret", name: "OLD" }, redactor))
        assert.strictEqual(
          why,
          'The secret "OLD" has fewer than 8 characters and could not be kept out of answers. An operator has to set a longer one.',
        )
        assert.isTrue(redactor.isEmpty)
      }),
    )

    it.effect("headers and variables are revealed together, for one redactor; a fault says which of them it is", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        yield* (yield* Journal).transact(secrets.set("QUAY" as SecretName, Redacted.make("quay-secret")))
        const reveal = yield* makeReveal
        const redactor = new Redactor()
        const texts = { plain: "as it is", key: "Bearer ${secret.QUAY}, ${secret.QUAY}" }
        assert.deepStrictEqual(yield* revealAll(texts, reveal, redactor), {
          plain: "as it is",
          key: "Bearer quay-secret, quay-secret",
        })
        assert.notInclude(redactor.text("it is quay-secret"), "quay-secret")
        const malformed = yield* Effect.flip(revealAll({ fine: "x", key: "${QUAY}" }, reveal, redactor))
        assert.match(malformed, /^key: "\$\{QUAY\}" is not a placeholder/)
        const missing = yield* Effect.flip(revealAll({ key: "${secret.NONE_SUCH}" }, reveal, redactor))
        assert.match(missing, /^The secret "NONE_SUCH" is not set/)
      }),
    )

    it.effect("S1-22 a server's header or variable with a malformed placeholder is refused by its path", () =>
      Effect.gen(function* () {
        const boss = yield* admin
        const url = "http://127.0.0.1:9/mcp"
        for (const [over, path] of [
          [{ url, headers: { "x-key": "${KEY}" } }, "headers"],
          [{ command: "true", env: { KEY: "a ${secret.} b" } }, "env"],
        ] as const) {
          const refused = yield* request(boss, "POST", "/mcp-servers", { name: "odd", ...over })
          assert.strictEqual(refused.status, 400)
          const [issue] = (refused.body as { issues: ReadonlyArray<{ path: string; message: string }> }).issues
          assert.match(issue!.path, new RegExp(`^${path}\\b`))
          assert.include(issue!.message, "write ${env.NAME} or ${secret.NAME}")
        }
      }),
    )
  })
