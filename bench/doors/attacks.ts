/** The ways in which one principal does its worst, each as requests that are sent as fast as they are answered. */
import type { AttackRequest } from "../children/attacker.ts"

export interface AttackRow {
  readonly name: string
  readonly connections: number
  readonly requests: ReadonlyArray<AttackRequest>
  readonly deaf?: boolean
  /**
   * What the other one does instead of its usual work: `code` needs the very thing that is attacked; `newcomers` is its usual
   * work, sixteen requests at once, each on a connection of its own.
   */
  readonly victim?: "code" | "newcomers"
}

const mebibytes = (count: number): string => "x".repeat(count * 1024 * 1024)
const many = (count: number, make: (at: number) => string, by = ","): string =>
  Array.from({ length: count }, (_, at) => make(at)).join(by)

const host = (name: string, inputSchema: object): AttackRequest => ({
  method: "PUT",
  path: `/api/v1/hosts/${name}`,
  body: JSON.stringify({
    shared: false,
    tools: [{ name: "slow-#", description: "slow", inputSchema }],
  }),
})

/** Each property another long pattern: 28 kB that took 22 s to compile. */
const patterns = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`p${at}`, { type: "string", pattern: `[^${at}]{999}` }]),
  ),
}
/** Each level asks the next one twice. */
const doubling = (levels: number) => ({
  type: "object",
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, at) => [
      `d${at}`,
      at === levels - 1
        ? { type: "string" }
        : { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  ),
  properties: { a: { $ref: "#/$defs/d0" } },
})
const branches = {
  type: "object",
  unevaluatedProperties: false,
  allOf: Array.from({ length: 300 }, (_, at) => ({
    if: { required: [`a${at}`] },
    // oxlint-disable-next-line no-thenable
    then: { properties: { [`b${at}`]: true } },
  })),
}

/** Tools that the attacker hosts for itself before the rows begin. */
export const ownTools = [
  { name: "doubling", description: "each level twice", inputSchema: doubling(24) },
  {
    name: "matching",
    description: "a pattern over all of it",
    inputSchema: { type: "object", properties: { text: { type: "string", pattern: "^(?:x?){200}y$" } } },
  },
]

const call = (tool: string, body: string): AttackRequest => ({
  method: "POST",
  path: `/api/v1/tools/${tool}/call`,
  body,
})

const nested = (depth: number): object =>
  depth === 0 ? { type: "string" } : { type: "object", properties: { a: nested(depth - 1), b: { type: "string" } } }
const openApi = JSON.stringify({
  baseUrl: "https://api.example.org",
  document: {
    openapi: "3.1.0",
    info: { title: "many", version: "1" },
    paths: Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [
        `/things/${at}`,
        {
          post: {
            operationId: `make${at}`,
            requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Deep" } } } },
            responses: { 200: { description: "done" } },
          },
        },
      ]),
    ),
    components: { schemas: { Deep: nested(12) } },
  },
})

export const attacks = (space: string): ReadonlyArray<AttackRow> => [
  {
    name: "requests, as fast as they are answered",
    connections: 64,
    requests: [{ method: "GET", path: "/api/v1/me" }],
  },
  {
    name: "the same, beside 16 newcomers at a time",
    connections: 64,
    requests: [{ method: "GET", path: "/api/v1/me" }],
    victim: "newcomers",
  },
  {
    name: "messages of 64 kB, full of mentions",
    connections: 16,
    requests: [
      {
        method: "POST",
        path: `/api/v1/spaces/${space}/messages`,
        body: JSON.stringify({ text: many(8000, (at) => `@vic${at % 10}`, " ") }),
      },
    ],
  },
  {
    name: "schemas of 500 long patterns",
    connections: 4,
    requests: [host("patterns", patterns)],
  },
  {
    name: "schemas that are slow to compile",
    connections: 4,
    requests: [host("branches", branches), host("doubling-too", doubling(200))],
  },
  {
    name: "arguments that are slow to check",
    connections: 8,
    requests: [call("doubling", '{"input":{"a":1}}'), call("matching", `{"input":{"text":"${"x".repeat(60_000)}"}}`)],
  },
  {
    name: "bodies of 200,000 unknown keys",
    connections: 4,
    requests: [{ method: "POST", path: "/api/v1/principals", body: `{${many(200_000, (at) => `"k${at}":1`)}}` }],
  },
  {
    name: "bodies of 9,900 unknown keys",
    connections: 8,
    requests: [{ method: "POST", path: "/api/v1/principals", body: `{${many(9900, (at) => `"k${at}":1`)}}` }],
  },
  {
    name: "bodies of 4 MiB with a fault an item",
    connections: 4,
    requests: [
      {
        method: "POST",
        path: "/api/v1/spaces",
        body: `{"name":"x","kind":"private","members":[${many(1_000_000, () => "1")}]}`,
      },
    ],
  },
  {
    name: "bodies nested 100,000 deep",
    connections: 8,
    requests: [
      { method: "POST", path: "/api/v1/spaces", body: `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}` },
      { method: "POST", path: "/mcp", body: `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}` },
    ],
  },
  {
    name: "refused calls of 3.9 MB",
    connections: 4,
    requests: [call("hello", `{"input":{"nobody":"${mebibytes(3)}"}}`)],
  },
  {
    name: "calls of 3.9 MB",
    connections: 4,
    requests: [call("echo", `{"input":{"text":"${mebibytes(3)}"}}`)],
  },
  {
    name: "keyed creates of 1 MiB",
    connections: 4,
    requests: [
      {
        method: "POST",
        path: "/api/v1/spaces",
        body: `{"name":"n","kind":"private","topic":"${mebibytes(1)}"}`,
        headers: { "Idempotency-Key": "same" },
      },
    ],
  },
  {
    name: "feeds from the beginning, not read",
    connections: 64,
    requests: [{ method: "GET", path: "/api/v1/events?after=0" }],
    deaf: true,
  },
  {
    name: "feeds from the beginning, read and left",
    connections: 16,
    requests: [{ method: "GET", path: "/api/v1/events?after=0", headers: { Connection: "close" } }],
  },
  {
    name: "waits for messages",
    connections: 200,
    requests: [call("wait_for_messages", '{"input":{"seconds":50},"wait":60}')],
  },
  {
    name: "searches for 200 words",
    connections: 16,
    requests: [
      { method: "GET", path: `/api/v1/messages?q=${many(160, (at) => (at % 2 === 0 ? "a" : "vic1"), "+")}&limit=100` },
    ],
  },
  {
    name: "expressions that compute all they may",
    connections: 8,
    requests: [call("compute", JSON.stringify({ input: { expression: many(1400, (at) => String(at), "+") } }))],
  },
  {
    name: "code that never ends",
    connections: 8,
    requests: [call("code-execute", '{"input":{"code":"for(;;){}"},"wait":1}')],
    victim: "code",
  },
  {
    name: "OpenAPI documents of 400 operations",
    connections: 2,
    requests: [{ method: "POST", path: "/api/v1/tools/import?dryRun=true", body: openApi }],
  },
  {
    name: "MCP batches of 100",
    connections: 8,
    requests: [
      {
        method: "POST",
        path: "/mcp",
        headers: { Accept: "application/json, text/event-stream" },
        body: `[${many(100, (at) => `{"jsonrpc":"2.0","id":${at},"method":"tools/list"}`)}]`,
      },
    ],
  },
]
