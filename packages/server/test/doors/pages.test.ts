/** Every page the house serves has one strict policy, and is made of files the house serves. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"

const directives = (policy: string) => new Map(policy.split("; ").map((one) => [one.split(" ")[0]!, one] as const))

layer(house({ store: "sqlite", config: roomy }), { excludeTestServices: true, timeout: 30_000 })("pages", (it) => {
  it.effect(
    "no page allows anything inline, from elsewhere or in a frame; its scripts and styles are served as files",
    () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        for (const path of ["/", "/docs"]) {
          const answer = yield* ask(() => raw(path))
          const text = yield* ask(() => answer.text())
          assert.match(answer.headers.get("content-type")!, /^text\/html/)
          const [policy = "", ...more] = (answer.headers.get("content-security-policy") ?? "").split(", ")
          assert.deepStrictEqual(more, ["frame-src http://*:*/cards/ https://*:*/cards/"])
          assert.notMatch(policy, /unsafe-|\*|https?:/)
          const said = directives(policy)
          assert.strictEqual(said.get("default-src"), "default-src 'none'")
          assert.strictEqual(said.get("script-src"), "script-src 'self'")
          assert.strictEqual(said.get("style-src"), "style-src 'self'")
          assert.strictEqual(said.get("frame-ancestors"), "frame-ancestors 'none'")
          assert.strictEqual(said.get("base-uri"), "base-uri 'none'")
          assert.strictEqual(answer.headers.get("referrer-policy"), "no-referrer")
          assert.strictEqual(answer.headers.get("cross-origin-opener-policy"), "same-origin")
          const files = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file]) => file!)
          assert.isAbove(files.length, 0)
          for (const file of [...files, "/assets/decision.css"]) {
            const asset = yield* ask(() => raw(file))
            assert.strictEqual(asset.status, 200, file)
            assert.match(asset.headers.get("content-type")!, /^(?:text\/(?:javascript|css)|image\/svg)/)
            assert.strictEqual(asset.headers.get("x-content-type-options"), "nosniff")
          }
        }
        for (const odd of ["/assets/index.html", "/assets/..%2Findex.js", "/assets/x.js", "/assets/package.json"])
          assert.strictEqual((yield* ask(() => raw(odd))).status, 404, odd)
      }),
  )
})
