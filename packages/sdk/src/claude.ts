/**
 * A principal's tools for the Claude Agent SDK: `createSdkMcpServer({ name: "stoa", tools: await getTools(...) })`. The
 * token fixes the caller when the set is built; no argument of a tool can change it. That package is an optional peer,
 * so nothing of it is imported; only its interface is implemented.
 */
// edge: requests to the house.
import { type Connection, connectionOf, type ConnectOptions, headersOf, newKey, refusalOf } from "./request.ts"
import { connect } from "./Stoa.ts"
import { StoaError, StoaUnreachable } from "./StoaError.ts"

export interface ClaudeResult {
  [key: string]: unknown
  content: Array<{ type: "text"; text: string }>
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

/** What `createSdkMcpServer` takes as one of its tools. */
export interface ClaudeTool {
  name: string
  description: string
  // oxlint-disable-next-line typescript/no-explicit-any -- there it is a type of zod's, which this package does not know
  inputSchema: any
  annotations?: Record<string, string | boolean>
  handler: (args: Record<string, unknown>, extra: unknown) => Promise<ClaudeResult>
}

export interface ToolsOptions extends ConnectOptions {
  /** One toolset alone, such as `office`; by default all that the principal has. */
  readonly toolset?: string
  /** The space in which the tools are called, if any. */
  readonly space?: string
  /** Seconds to wait for a person's decision before a call answers that it waits; by default it answers at once. */
  readonly patience?: number
}

/** The bearer for whom the set is built, and how to get a new token when its token has expired. */
interface Identity {
  token: string | undefined
  readonly renew: (() => Promise<string>) | undefined
}

const revision = "2025-11-25"
const lifetimeMs = 24 * 60 * 60 * 1000
const longestWait = 60

/**
 * The tools of the token's principal; or, with an admin's token, of the named agent. Then the set uses a token of that
 * agent's own, which is valid for a day and is replaced when it has expired.
 */
export function getTools(options: ToolsOptions): Promise<Array<ClaudeTool>>
export function getTools(agentId: string, options: ToolsOptions): Promise<Array<ClaudeTool>>
export async function getTools(first: string | ToolsOptions, second?: ToolsOptions): Promise<Array<ClaudeTool>> {
  const options = (typeof first === "string" ? second : first)!
  const identity = await identityOf(typeof first === "string" ? first : undefined, options)
  const house = houseOf(options, identity)
  const listed: Array<Listed> = []
  for (let cursor: unknown; ;) {
    const { nextCursor, tools } = await house.ask("tools/list", cursor === undefined ? {} : { cursor })
    listed.push(...(tools as ReadonlyArray<Listed>))
    if (typeof nextCursor !== "string") return listed.map((tool) => toolOf(tool, house, options))
    cursor = nextCursor
  }
}

const identityOf = async (agent: string | undefined, options: ToolsOptions): Promise<Identity> => {
  if (agent === undefined) return { token: options.token, renew: undefined }
  const admin = connect(options)
  const renew = async () => {
    const expiresAt = new Date(Date.now() + lifetimeMs).toISOString()
    return (await admin.tokens.add({ principal: agent, label: "claude-agent-sdk", expiresAt })).token
  }
  return { token: await renew(), renew }
}

interface Listed {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations?: Record<string, string | boolean>
}

type Answer = Readonly<Record<string, unknown>>

interface House {
  readonly ask: (method: string, params: object) => Promise<Answer>
  readonly connection: () => Connection
}

/** A refusal of the protocol: the tool is gone, or never belonged to this principal. */
class Refused extends Error {
  override readonly name = "Refused"
}

/** The MCP door without a session: the token of every request identifies the caller. */
const houseOf = (options: ToolsOptions, identity: Identity): House => {
  const path = options.toolset === undefined ? "/mcp" : `/mcp/${encodeURIComponent(options.toolset)}`
  const { fetch, url } = connectionOf(options)
  const connection = (): Connection => ({ url, token: identity.token, fetch })
  let ids = 0
  const once = async (body: string): Promise<Answer> => {
    const headers = {
      ...headersOf(connection()),
      "content-type": "application/json",
      accept: "application/json",
      "mcp-protocol-version": revision,
    }
    const response = await fetch(url + path, { method: "POST", headers, body })
    if (response.headers.get("content-type")?.startsWith("application/json") !== true) throw await refusalOf(response)
    const said = (await response.json()) as { readonly result?: Answer; readonly error?: { readonly message: string } }
    if (said.result === undefined) throw new Refused(said.error?.message ?? `HTTP ${response.status}`)
    return said.result
  }
  /** Sent again if the connection broke: calls have a key, so that the second finds the first. */
  const again = async (body: string, left: number): Promise<Answer> => {
    try {
      return await once(body)
    } catch (cause) {
      if (cause instanceof Refused) throw cause
      if (cause instanceof StoaError) {
        if (cause.status !== 401 || identity.renew === undefined || left === 0) throw cause
        identity.token = await identity.renew()
      } else if (left === 0) throw new StoaUnreachable(url, cause)
      return again(body, left - 1)
    }
  }
  return {
    connection,
    ask: (method, params) => again(JSON.stringify({ jsonrpc: "2.0", id: ++ids, method, params }), 1),
  }
}

const toolOf = (tool: Listed, house: House, options: ToolsOptions): ClaudeTool => ({
  name: tool.name,
  description: tool.description ?? "",
  inputSchema: untouched(tool.inputSchema),
  ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
  handler: async (args) => {
    const meta = {
      "stoa/idempotencyKey": newKey(),
      ...(options.space === undefined ? {} : { "stoa/space": options.space }),
    }
    try {
      const result = await house.ask("tools/call", { name: tool.name, arguments: args, _meta: meta })
      return await settled(result as ClaudeResult, house, options.patience ?? 0)
    } catch (cause) {
      // A model can act on a message; an exception would only end its turn.
      return { content: [{ type: "text", text: (cause as Error).message }], isError: true }
    }
  },
})

/** Waits for a waiting call, as long as requested. */
const settled = async (result: ClaudeResult, house: House, patience: number): Promise<ClaudeResult> => {
  const { call, state } = result.structuredContent ?? {}
  if (state !== "waiting" || typeof call !== "string") return result
  for (let left = patience; left > 0; left -= longestWait) {
    const { fetch, token, url } = house.connection()
    const stoa = connect({ url, fetch, ...(token === undefined ? {} : { token }) })
    const now = await stoa.calls.get(call, { wait: Math.min(left, longestWait) })
    if (now.state === "done") return { content: [{ type: "text", text: JSON.stringify(now.output ?? null) }] }
    if (now.state === "failed" || now.state === "refused" || now.state === "canceled")
      return { content: [{ type: "text", text: now.error?.message ?? `The call is ${now.state}.` }], isError: true }
  }
  return result
}

/**
 * The Agent SDK accepts only schemas of zod 4, and a JSON Schema cannot be converted to one without loss (`if`/`then`,
 * `patternProperties`, `prefixItems`). So this is a minimal object that it accepts as such a schema: through zod's own
 * hook it reports the tool's JSON Schema, and it accepts every input. The house validates the input, as always. If a later
 * version checks more, use `instance.connect` with a hand-made server instead of `createSdkMcpServer`.
 */
const untouched = (schema: Readonly<Record<string, unknown>>) => ({
  _zod: {
    def: { type: "object", shape: {} },
    version: { major: 4, minor: 0, patch: 0 },
    traits: new Set<string>(),
    bag: {},
    run: <A>(payload: A): A => payload,
    toJSONSchema: () => structuredClone(schema),
  },
  parse: <A>(input: A): A => input,
  safeParse: <A>(data: A) => ({ success: true as const, data }),
})
