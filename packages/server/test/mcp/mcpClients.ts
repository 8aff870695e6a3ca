/** The official clients, of both eras, as somebody: what a user's program would hold in its hands. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client"
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import { ask, Guest } from "../house.ts"
import type { Someone } from "../spaces/spacesGuests.ts"

export interface Result {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}
interface Connected {
  readonly tools: Effect.Effect<
    ReadonlyArray<{ readonly name: string; readonly inputSchema: object; readonly annotations?: object }>
  >
  readonly call: (name: string, input?: object, meta?: object) => Effect.Effect<Result>
}

export const eras = ["sdk 1.32", "client 2.4"] as const

/** An official client at an endpoint, closed with its scope. */
export const connected = Effect.fnUntraced(function* (era: (typeof eras)[number], who: Someone, path = "/mcp") {
  const { url } = yield* Guest
  const about = { name: "story", version: "1" }
  const requestInit = { headers: { authorization: `Bearer ${who.token}` } }
  // The two have the same methods, and types of their own.
  const client = (era === "sdk 1.32" ? new OldClient(about) : new NewClient(about)) as NewClient
  const transport =
    era === "sdk 1.32"
      ? new OldTransport(new URL(path, url), { requestInit })
      : new NewTransport(new URL(path, url), { requestInit })
  yield* Effect.acquireRelease(
    ask(() => client.connect(transport as never)),
    () => Effect.promise(() => client.close()),
  )
  const made: Connected = {
    tools: Effect.map(
      ask(() => client.listTools()),
      ({ tools }) => tools as never,
    ),
    call: (name, input = {}, meta) =>
      ask(() =>
        client.callTool({ name, arguments: input as never, ...(meta === undefined ? {} : { _meta: meta as never }) }),
      ) as Effect.Effect<never>,
  }
  return made
})

/** Seed faces answer with one text item that holds JSON (S0-53). */
export const said = (result: Result): Record<string, unknown> =>
  JSON.parse(result.content[0]?.text ?? "null") as Record<string, unknown>
