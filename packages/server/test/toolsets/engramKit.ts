/** Seed 002's tools as its clients call them: bare JSON-RPC at `/mcp/jsonrpc`, as somebody who has a wallet. */
import { assert } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import { ask, Guest } from "../house.ts"

export const addressOf = (name: string): string => `0x${Buffer.from(name).toString("hex").padEnd(40, "0").slice(0, 40)}`

interface Answer {
  readonly result?: {
    readonly content: ReadonlyArray<{ readonly text: string }>
    readonly isError?: boolean
    readonly tools: ReadonlyArray<Listed>
  }
  readonly error?: { readonly code: number; readonly message: string }
}

export interface Listed {
  readonly name: string
  readonly description: string
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required?: ReadonlyArray<string>
  }
  readonly annotations: Readonly<Record<string, boolean>>
  readonly tags?: ReadonlyArray<string>
}

export const rpcAt = (url: string, token: string | undefined, method: string, params: object) =>
  ask(async (): Promise<Answer> => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    })
    const text = await response.text()
    // What takes a while is answered as a stream; its last message is the answer.
    const streamed = text.split("\n").findLast((line) => line.startsWith("data: {"))
    return JSON.parse(streamed?.slice("data: ".length) ?? text) as Answer
  })

interface Engram {
  readonly id: string
  readonly wallet_address: string | null
  readonly engram_type: string
  readonly key: string
  readonly content: string
  readonly tags: ReadonlyArray<string>
  readonly is_public: boolean
  readonly is_pinned: boolean
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}
interface Summary {
  readonly session_id: string
  readonly engram_id: string
  readonly title: string
  readonly message_count: number
  readonly created_at: string
  readonly updated_at: string
  readonly is_pinned: boolean
}
/** What any of the tools may answer; each answers a part of it. */
export interface Result extends Engram, Summary {
  readonly found: boolean
  readonly count: number
  readonly engrams: ReadonlyArray<Engram>
  readonly profile: ReadonlyArray<Engram>
  readonly sessions: ReadonlyArray<Summary>
  readonly session: Summary & {
    readonly messages: ReadonlyArray<{ readonly id: string; readonly role: string; readonly content: string }>
  }
  readonly deleted: boolean | number
  readonly retained: number
  readonly pinned: boolean | number
  readonly unpinned: boolean
  readonly remembered: boolean
  readonly model: string
  readonly previous: string | null
  readonly alternatives: ReadonlyArray<string>
}

/** Somebody with a wallet of its own, whose token stands inside unless said otherwise. */
export const holder = Effect.fnUntraced(function* (
  name: string,
  {
    context = "internal",
    kind = "agent",
    wallet = addressOf(name),
  }: {
    readonly context?: "agent" | "crossroads" | "internal"
    readonly kind?: "agent" | "person"
    readonly wallet?: string | null
  } = {},
) {
  const { admin, url } = yield* Guest
  const principal = yield* ask(() =>
    admin.principals.add({ kind, name, toolsets: ["engrams"], ...(wallet === null ? {} : { wallet }) }),
  )
  const { token } = yield* ask(() => admin.tokens.add({ principal: name, context }))
  const rpc = (method: string, params: object) => rpcAt(`${url}/mcp/jsonrpc`, token, method, params)
  const call = (tool: string, args: object) => rpc("tools/call", { name: tool, arguments: args })
  const done = Effect.fnUntraced(function* (tool: string, args: object) {
    const { error, result } = yield* call(tool, args)
    assert.isUndefined(error, `${tool}: ${error?.message}`)
    const text = result!.content[0]!.text
    assert.notStrictEqual(result!.isError, true, `${tool}: ${text}`)
    return JSON.parse(text) as Result
  })
  /** What the caller is told where it is not done: a tool's own error, or a refusal. */
  const told = Effect.fnUntraced(function* (tool: string, args: object) {
    const { error, result } = yield* call(tool, args)
    if (error !== undefined) return error.message
    assert.isTrue(result!.isError, `${tool} was done: ${result!.content[0]!.text}`)
    return result!.content[0]!.text.replaceAll(/call_[0-9a-f-]{36}/g, "call")
  })
  const names = Effect.map(rpc("tools/list", {}), ({ result }) => result!.tools.map((tool) => tool.name))
  return {
    id: principal.id,
    name,
    wallet: wallet ?? "",
    token,
    stoa: connect({ url, token }),
    rpc,
    call,
    done,
    told,
    names,
  }
})
export type Holder = Effect.Success<ReturnType<typeof holder>>

/** A JSON object as content, which is a string. */
export const content = (value: unknown) => JSON.stringify(value)

export const create = (who: Holder, key: string, over: object = {}) =>
  who.done("engram_create", {
    wallet_address: who.wallet,
    engram_type: "preference",
    key,
    content: content({ level: "medium" }),
    ...over,
  })
