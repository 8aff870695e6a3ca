/**
 * From what was written down to what is connected: the transport, and `${secret.NAME}` and `${env.NAME}` filled in. What
 * was revealed on the way is remembered, so that nothing the server says back shows it.
 */
import type { MCPServerSpec, MCPTransport } from "@stoa/contract"
import type { MCPServerConfig } from "@stoa/tools"
import { Effect, Redacted } from "effect"

/** The values a `${…}` may stand for. A failure is a sentence. */
export interface Lookup {
  readonly secret: (name: string) => Effect.Effect<Redacted.Redacted, { readonly message: string }>
  readonly env: (name: string) => Effect.Effect<Redacted.Redacted, { readonly message: string }>
}

export const transportOf = ({ command, transport, url }: MCPServerSpec): MCPTransport => {
  if (command !== undefined) return "stdio"
  if (transport === "sse" || transport === "websocket") return transport
  return transport === undefined && /^wss?:/i.test(url ?? "") ? "websocket" : "streamable-http"
}

/** How long a call may go on without a sign of life. */
export const silenceMsOf = (spec: MCPServerSpec | undefined): number => (spec?.timeoutSeconds ?? 30) * 1000

/** The program or the address: another one is another server, whatever it is called. */
export const placeOf = ({ args, command, url }: MCPServerSpec): string => JSON.stringify([command, args, url])

/** What may be shown of an address: its query may hold a key. */
export const shownUrl = (url: string): string => {
  const { host, pathname, protocol } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

const placeholder = /\$\{(secret|env)\.([A-Za-z_][A-Za-z0-9_.-]{0,127})\}/g

type Texts = Readonly<Record<string, string>>

export const fill = Effect.fnUntraced(function* (texts: Texts, lookup: Lookup, revealed: Set<string>) {
  const filled: Record<string, string> = {}
  for (const [name, text] of Object.entries(texts)) {
    let value = text
    for (const [whole, kind, key] of text.matchAll(placeholder)) {
      const found = Redacted.value(yield* lookup[kind as keyof Lookup](key!))
      // A secret of one letter would black out half of what is said.
      if (found.length >= shortest) revealed.add(found)
      value = value.split(whole).join(found)
    }
    filled[name] = value
  }
  return filled
})

const shortest = 6
const secretive = /auth|token|key|secret|cookie|passw|credential/i

/** Values that were written down plainly under a name that says what they are. */
export const plainSecrets = ({ env = {}, headers = {}, url }: MCPServerSpec): Set<string> =>
  new Set(
    [...Object.entries(env), ...Object.entries(headers)]
      .filter(([name, value]) => secretive.test(name) && !value.includes("${"))
      .flatMap(([, value]) => [value, ...value.split(/[\s=;,]+/)])
      // A key in an address is nobody else's business either.
      .concat(url === undefined ? [] : [...new URL(url).searchParams.values()])
      .filter((value) => value.length >= shortest),
  )

/** Takes what was revealed out of whatever a server said. */
export const hide = (value: unknown, revealed: ReadonlySet<string>): unknown => {
  if (revealed.size === 0) return value
  if (typeof value === "string") {
    let text = value
    for (const secret of revealed) if (text.includes(secret)) text = text.replaceAll(secret, "[secret]")
    return text
  }
  if (Array.isArray(value)) return value.map((inner) => hide(inner, revealed))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [hide(key, revealed), hide(inner, revealed)]))
}

/** As the client of `@stoa/tools` takes it. Headers over HTTP are added to each request instead. */
export const configOf = Effect.fnUntraced(function* (
  name: string,
  spec: MCPServerSpec,
  lookup: Lookup,
  revealed: Set<string>,
) {
  const { allowedTools = [], args, command, env = {}, headers = {}, url } = spec
  const transport = transportOf(spec)
  const config: MCPServerConfig = {
    name,
    transport,
    silenceMs: silenceMsOf(spec),
    ...(allowedTools.length === 0 ? {} : { allowedTools }),
    ...(command === undefined ? {} : { command, env: yield* fill(env, lookup, revealed) }),
    ...(args === undefined ? {} : { args }),
    ...(url === undefined ? {} : { endpoint: url }),
    ...(transport === "websocket" ? { headers: yield* fill(headers, lookup, revealed) } : {}),
  }
  return config
})
