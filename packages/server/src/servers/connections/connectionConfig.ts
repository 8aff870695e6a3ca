/**
 * From the configuration of a server to a connection: the transport, and `${secret.NAME}` and `${env.NAME}` filled in.
 * The revealed values are remembered, so that nothing the server says back shows them.
 */
import { hasPlaceholder, type MCPServerSpec, type MCPTransport, shortestSecret } from "@stoa/contract"
import type { MCPServerConfig, Redactor } from "@stoa/tools"
import { Effect } from "effect"
import { type Reveal, revealAll } from "../../access/secrets/Reveal.ts"

export const transportOf = ({ command, transport, url }: MCPServerSpec): MCPTransport => {
  if (command !== undefined) return "stdio"
  if (transport === "sse" || transport === "websocket") return transport
  return transport === undefined && /^wss?:/i.test(url ?? "") ? "websocket" : "streamable-http"
}

/** How long a call may run without a sign of life. */
export const silenceMsOf = (spec: MCPServerSpec | undefined): number => (spec?.timeoutSeconds ?? 30) * 1000

/** The program or the address: another one is another server, even with the same name. */
export const placeOf = ({ args, command, url }: MCPServerSpec): string => JSON.stringify([command, args, url])

/** An address as it may be shown: its query may hold a key. */
export const urlWithoutQuery = (url: string): string => {
  const { host, pathname, protocol } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

const shortest = 6
const secretive = /auth|token|key|secret|cookie|passw|credential/i
const flag = /^--?([\w-]+)(?:=(.*))?$/s

/** The values after flags whose names mark a secret. */
const flagged = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.flatMap((arg, n) => {
    const [, name = "", value = args[n + 1] ?? ""] = flag.exec(arg) ?? []
    return secretive.test(name) ? [value] : []
  })

/** The password in an address, and the values of its query. */
const inAddress = (text: string): ReadonlyArray<string> => {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null
  return url === null ? [] : [url.password, ...url.searchParams.values()]
}

/** Secrets written as plain values: their name marks them as secret, or an address contains them. */
export const plainSecrets = ({ args = [], env = {}, headers = {}, url = "" }: MCPServerSpec): ReadonlyArray<string> => {
  const named = [...Object.entries(env), ...Object.entries(headers)].filter(([, value]) => !hasPlaceholder(value))
  const told = [...named.filter(([name]) => secretive.test(name)).map(([, value]) => value), ...flagged(args)]
  const parts = told.flatMap((value) => value.split(/[\s=;,]+/)).filter((part) => part.length >= shortestSecret)
  return [...told, ...parts, ...[url, ...args, ...named.map(([, value]) => value)].flatMap(inAddress)].filter(
    // `AUTH=none` is not a secret.
    (value) => value.length >= shortest,
  )
}

/** The configuration for the client of `@stoa/tools`. Over HTTP, headers are added to each request instead. */
export const configOf = Effect.fnUntraced(function* (
  name: string,
  spec: MCPServerSpec,
  reveal: Reveal,
  redactor: Redactor,
) {
  const { allowedTools = [], args, command, env = {}, headers = {}, url } = spec
  const transport = transportOf(spec)
  const config: MCPServerConfig = {
    name,
    transport,
    silenceMs: silenceMsOf(spec),
    ...(allowedTools.length === 0 ? {} : { allowedTools }),
    ...(command === undefined ? {} : { command, env: yield* revealAll(env, reveal, redactor) }),
    ...(args === undefined ? {} : { args }),
    ...(url === undefined ? {} : { endpoint: url }),
    ...(transport === "websocket" ? { headers: yield* revealAll(headers, reveal, redactor) } : {}),
  }
  return config
})
