/** Looking at a server runs nothing: a program is shown first, and only exactly what was shown is run, and recorded. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest, house } from "../house.ts"
import { everything } from "./serversKit.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-look-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true })),
)

/** A program that leaves a trace as soon as it runs. */
const tracing = (file: string, ...more: ReadonlyArray<string>) => ({
  command: process.execPath,
  args: ["-e", `require("node:fs").writeFileSync(${JSON.stringify(file)}, "")`, "--", ...more],
})

const tried = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ body: string }>`SELECT body FROM journal WHERE kind = 'server.tried' ORDER BY cursor`
  return rows.map(
    ({ body }) => (typeof body === "string" ? JSON.parse(body) : body) as { server: string; program: string },
  )
})

/** What people paste, and what became of it: a shell command, an API's description, an address. */
const noPrograms = [
  "openapi: 3.1.0\ninfo:\n  title: Pets",
  "openapi:",
  "openapi: 3.1.0",
  "swagger:",
  "---",
  '{"openapi":"3.1.0"}',
  "[1]",
  "<html>",
  "# a comment",
  "https://mcp.example/mcp",
  "wss://mcp.example",
  "file:///etc/passwd",
  "touch\nrm",
  "touch\u0007",
]

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`looking at servers on ${store}`, (it) => {
    it.effect("a program is shown with its arguments and variables, and runs only if exactly this was confirmed", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const file = join(yield* folder, "ran")
        const wanted = { name: "probe", ...tracing(file, "--token", "hush-hush-1"), env: { MODE: "fast" } }
        const look = (spec: typeof wanted, confirm?: string) =>
          ask(() => admin.mcpServers.look(spec, confirm === undefined ? {} : { confirm }))
        const shown = yield* look(wanted)
        const { name: _name, ...program } = wanted
        assert.strictEqual(shown.status, "unconfirmed")
        const { digest, ...rest } = shown.program!
        assert.deepStrictEqual(rest, program)
        assert.deepStrictEqual([shown.tools, shown.log], [[], []])
        // The digest of something else confirms nothing: of other arguments, another variable, another program, or none.
        const others: ReadonlyArray<typeof wanted> = [
          { ...wanted, args: [...wanted.args, "more"] },
          { ...wanted, env: { MODE: "slow" } },
          { ...wanted, command: "sh" },
        ]
        for (const other of others) {
          const said = yield* look(other, digest)
          assert.strictEqual(said.status, "unconfirmed")
          assert.notStrictEqual(said.program!.digest, digest)
          assert.strictEqual((yield* look(wanted, said.program!.digest)).status, "unconfirmed")
        }
        for (const wrong of ["", "0", digest.toUpperCase()])
          assert.strictEqual((yield* look(wanted, wrong)).status, "unconfirmed")
        assert.isFalse(existsSync(file))
        assert.deepStrictEqual(yield* tried, [])

        assert.strictEqual((yield* look(wanted, digest)).status, "error")
        assert.isTrue(existsSync(file))
        const [run] = yield* tried
        assert.strictEqual(run!.server, "probe")
        assert.include(run!.program, JSON.stringify(process.execPath))
        assert.notInclude(run!.program, "hush-hush-1")
        const { items } = yield* ask(() => admin.mcpServers.list())
        assert.deepStrictEqual(items, [])
      }),
    )

    it.effect("whoever may not add a server may not look at one, confirmed or not; and a confirmed one answers", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const mia = yield* ask(() => admin.principals.add({ kind: "person", name: `Mia ${store}` }))
        const { token } = yield* ask(() => admin.tokens.add({ principal: mia.id }))
        const wanted = { name: "every", ...everything("stdio") }
        const { program } = yield* ask(() => admin.mcpServers.look(wanted))
        for (const query of [{}, { confirm: program!.digest }]) {
          const { tag } = yield* Effect.map(
            Effect.flip(ask(() => as(token).mcpServers.look(wanted, query))),
            (error) => error as unknown as { tag: string },
          )
          assert.strictEqual(tag, "Forbidden")
        }
        const seen = yield* ask(() => admin.mcpServers.look(wanted, { confirm: program!.digest }))
        assert.strictEqual(seen.status, "connected")
        assert.notProperty(seen, "program")
        const added = yield* ask(() => admin.mcpServers.add(wanted))
        assert.strictEqual(added.status, "connected")
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ body: string }>`SELECT body FROM journal WHERE kind = 'server.added'`
        assert.include(JSON.stringify(rows), "everything")
        yield* ask(() => admin.mcpServers.remove("every"))
      }),
    )

    it.effect("a text or an address in the place of a program is refused by every request that could run it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        for (const command of noPrograms)
          for (const send of [
            (): Promise<unknown> => admin.mcpServers.look({ name: "odd", command }),
            () => admin.mcpServers.add({ name: "odd", command }),
          ]) {
            const error = yield* Effect.flip(ask(send))
            const { issues, status } = error as unknown as { status: number; issues: ReadonlyArray<{ path: string }> }
            assert.deepStrictEqual([status, issues.map(({ path }) => path)], [400, ["command"]], command)
          }
      }),
    )
  })
