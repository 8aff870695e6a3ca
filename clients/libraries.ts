/** Clients that are libraries or small commands, each over HTTP and on stdio. */
import { strict as assert } from "node:assert"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { approve, type Check, type Guests, mottoSchema, stdioOf } from "./checks.ts"
import { here } from "./surroundings.ts"

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

const placeOf = (transport: Transport, guests: Guests) =>
  transport === "http"
    ? { url: `${guests.house.url}/mcp`, token: guests.tokens.Jim }
    : stdioOf(guests.tokens.Jim, guests)

const jsonIn = (result: Result): unknown => JSON.parse(result.content[0]!.text)

/** The story of clients/story.mjs, by one library. */
const played = async (program: string, client: string, transport: Transport, guests: Guests): Promise<Seen> => {
  const place = JSON.stringify({ client, ...placeOf(transport, guests) })
  const { code, lines, stderr } = await guests.around.run(process.execPath, [join(here, program), place], {
    answer: async (line) => {
      const { waiting } = JSON.parse(line) as { readonly waiting?: unknown }
      return waiting === undefined ? undefined : approve(guests, waiting)
    },
  })
  assert.equal(code, 0, stderr)
  return JSON.parse(lines.at(-1)!) as Seen
}

const library = (name: string, program: string, client: string, revision?: string): ReadonlyArray<Check> =>
  transports.map((transport) => [
    `${name} over ${transport}: lists, calls, is approved, is told what is wrong`,
    async (guests) => {
      const seen = await played(program, client, transport, guests)
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
  async (guests) => {
    const { around, house, tokens } = guests
    const server =
      transport === "http"
        ? { type: "streamable-http", url: `${house.url}/mcp`, headers: { Authorization: `Bearer ${tokens.Jim}` } }
        : stdioOf(tokens.Jim, guests)
    const config = join(around.home, `inspector-${transport}.json`)
    writeFileSync(config, JSON.stringify({ mcpServers: { stoa: server } }))
    const ask = async (...args: ReadonlyArray<string>) => {
      const cli = [join(here, "node_modules/.bin/mcp-inspector"), "--cli", "--config", config, "--server", "stoa"]
      const { code, lines, stderr } = await around.run(process.execPath, [...cli, ...args])
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
