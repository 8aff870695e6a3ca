/** Clients that are libraries or small commands, each over HTTP and on stdio. */
import { strict as assert } from "node:assert"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { approve, type Check, type CheckContext, mottoSchema, stdioOf } from "../kit/checks.ts"
import { clientsFolder, scriptsFolder } from "../kit/isolation.ts"

const transports = ["http", "stdio"] as const
type Transport = (typeof transports)[number]

interface Result {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text: string }>
  readonly isError?: boolean
}
interface Seen {
  readonly revision?: string
  readonly tools: ReadonlyArray<{ readonly name: string; readonly inputSchema: { readonly properties: object } }>
  readonly motto: Result
  readonly status: Result
  readonly bad: Result
}

const placeOf = (transport: Transport, context: CheckContext) =>
  transport === "http"
    ? { url: `${context.house.url}/mcp`, token: context.tokens.Jim }
    : stdioOf(context.tokens.Jim, context)

const jsonIn = (result: Result): unknown => JSON.parse(result.content[0]!.text)

/** The story of clients/scripts/story.mjs, by one library. */
const played = async (program: string, client: string, transport: Transport, context: CheckContext): Promise<Seen> => {
  const place = JSON.stringify({ client, ...placeOf(transport, context) })
  const { code, lines, stderr } = await context.isolation.run(process.execPath, [join(scriptsFolder, program), place], {
    answer: async (line) => {
      const { waiting } = JSON.parse(line) as { readonly waiting?: unknown }
      return waiting === undefined ? undefined : approve(context, waiting)
    },
  })
  assert.equal(code, 0, stderr)
  return JSON.parse(lines.at(-1)!) as Seen
}

const library = (name: string, program: string, client: string, revision?: string): ReadonlyArray<Check> =>
  transports.map((transport) => [
    `${name} over ${transport}: lists, calls, is approved, is told what is wrong`,
    async (context) => {
      const seen = await played(program, client, transport, context)
      if (revision !== undefined) assert.equal(seen.revision, revision)
      const names = seen.tools.map((tool) => tool.name)
      for (const wanted of ["motto", "wipe", "send_message", "call_status"]) assert.ok(names.includes(wanted), wanted)
      const shown = seen.tools.find((tool) => tool.name === "motto")!.inputSchema
      assert.deepEqual(shown.properties, mottoSchema.properties)
      assert.deepEqual(jsonIn(seen.motto), { motto: "festina lente" })
      assert.equal((jsonIn(seen.status) as { readonly state: string }).state, "done")
      assert.equal(seen.bad.isError, true)
      assert.match(seen.bad.content[0]!.text, /loud/)
    },
  ])

const inspector = (transport: Transport): Check => [
  `Inspector CLI over ${transport}: lists and calls`,
  async (context) => {
    const { isolation, house, tokens } = context
    const server =
      transport === "http"
        ? { type: "streamable-http", url: `${house.url}/mcp`, headers: { Authorization: `Bearer ${tokens.Jim}` } }
        : stdioOf(tokens.Jim, context)
    const config = join(isolation.home, `inspector-${transport}.json`)
    writeFileSync(config, JSON.stringify({ mcpServers: { stoa: server } }))
    const ask = async (...args: ReadonlyArray<string>) => {
      const cli = [
        join(clientsFolder, "node_modules/.bin/mcp-inspector"),
        "--cli",
        "--config",
        config,
        "--server",
        "stoa",
      ]
      const { code, lines, stderr } = await isolation.run(process.execPath, [...cli, ...args])
      assert.equal(code, 0, stderr)
      return JSON.parse(lines.join("\n")) as Record<string, unknown>
    }
    // Strict: a schema that some client could not read is a failure.
    const { tools } = (await ask("--method", "tools/list", "--strict")) as { tools: Seen["tools"] }
    assert.deepEqual(tools.find((tool) => tool.name === "motto")?.inputSchema, mottoSchema)
    const called = await ask("--method", "tools/call", "--tool-name", "motto", "--tool-arg", "loud=true")
    assert.deepEqual(jsonIn(called as unknown as Result), { motto: "festina lente" })
  },
]

export const libraries: ReadonlyArray<Check> = [
  ...library("@modelcontextprotocol/sdk 1.32", "officialClients.mjs", "sdk", "2025-11-25"),
  ...library("@modelcontextprotocol/client 2.4", "officialClients.mjs", "client", "2026-07-28"),
  ...library("@ai-sdk/mcp", "aiSdk.mjs", "ai"),
  ...transports.map(inspector),
]
