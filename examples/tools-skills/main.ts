/** The built-in skills without a server: foreign code, the way out, and files. Asserts each step. */
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  builtinSkills,
  CurrentEgressPolicy,
  CurrentToolsConfig,
  defaultEgressPolicy,
  defaultToolsConfig,
  Egress,
  Sandbox,
  sandboxLayer,
} from "@stoa/tools"
import { Effect, Layer } from "effect"

const folder = mkdtempSync(join(tmpdir(), "tools-skills-"))
symlinkSync("/etc", join(folder, "way-out"))
const inside = createServer((_, response) => response.end("secret")).listen(0, "127.0.0.1")
const page = createServer((request, response) => {
  if (request.url === "/") response.end("hello")
  else response.writeHead(302, { location: urlOf(inside) }).end()
}).listen(0, "127.0.0.1")
const urlOf = (server: typeof page) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
await Promise.all([once(inside, "listening"), once(page, "listening")])

// #region sandbox
const code = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const sum = yield* sandbox.run("console.log('adding'); [1, 2, 3].reduce((a, b) => a + b)", { tool: "example" })
  const loop = yield* Effect.flip(sandbox.run("for (;;);", { tool: "example", timeMs: 200 }))
  const typo = yield* Effect.flip(sandbox.run("const a = 1\naa + 1", { tool: "example" }))
  return { sum, loop, typo }
})
// #endregion

// #region egress
const out = Effect.gen(function* () {
  const egress = yield* Egress
  const refused = yield* Effect.flip(egress.fetch({ tool: "example", url: urlOf(page) }))
  // An operator opens what is private by name; a model never can.
  const opened = Effect.provideService(CurrentEgressPolicy, {
    ...defaultEgressPolicy,
    allow: [new URL(urlOf(page)).host],
  })
  const fetched = yield* egress.fetch({ tool: "example", url: urlOf(page) }).pipe(opened)
  const redirected = yield* Effect.flip(egress.fetch({ tool: "example", url: `${urlOf(page)}moved` }).pipe(opened))
  return { refused, fetched, redirected }
})
// #endregion

// #region files
const call = {
  id: "1",
  principal: "a",
  space: null,
  correlationId: "c",
  idempotencyKey: "k",
  progress: () => Effect.void,
}
const use = (name: string, args: Record<string, unknown>) => {
  const skill = builtinSkills.find((it) => it.definition.name === name)
  return skill === undefined ? Effect.die(`no skill ${name}`) : skill.handler(args, call)
}
const files = Effect.gen(function* () {
  const written = yield* use("file-write", { path: "notes/today.txt", content: "all quiet" })
  const read = yield* use("file-read", { path: "notes/today.txt" })
  const above = yield* Effect.flip(use("file-read", { path: "../../etc/passwd" }))
  const linked = yield* Effect.flip(use("file-read", { path: "way-out/passwd" }))
  return { written, read, above, linked }
})
// #endregion

const config = Layer.succeed(CurrentToolsConfig, {
  ...defaultToolsConfig,
  security: { ...defaultToolsConfig.security, allowedFilePathPrefix: folder },
})
const seen = await Effect.runPromise(
  Effect.all({ code, out, files }).pipe(Effect.provide(Layer.merge(sandboxLayer(), config))),
)

assert.deepEqual(seen.code.sum, { value: 6, logs: "adding", truncated: false })
assert.match(seen.code.loop.message, /stopped after 200 ms/)
assert.match(seen.code.typo.message, /at line 2: ReferenceError: 'aa' is not defined/)
assert.match(seen.out.refused.message, /127\.0\.0\.1 is a loopback address/)
assert.equal(Buffer.from(seen.out.fetched.body).toString(), "hello")
assert.match(seen.out.redirected.message, /loopback address/)
assert.deepEqual(seen.files.written, { written: true, path: "notes/today.txt", bytes: 9 })
assert.equal(seen.files.read, "all quiet")
assert.match(seen.files.above.message, /Path traversal detected/)
assert.match(seen.files.linked.message, /Path traversal detected/)

inside.close()
page.close()
rmSync(folder, { recursive: true, force: true })
console.log("code computed, the way out was guarded, files stayed in their folder")
