/** Parses pasted text as a server: the JSON of any client, an address, or a command. Pure. */
import { hasPlaceholder } from "@stoa/contract"

interface ReadServer {
  readonly name: string
  readonly command?: string
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface PastedServer {
  readonly server: ReadServer
  /** How many servers there were. */
  readonly count: number
  /** Values that look like keys, by the name of the secret each becomes. */
  readonly secrets: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const texts = (value: unknown): Readonly<Record<string, string>> | undefined =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, it]) => [name, String(it)])) : undefined

const nameFrom = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40) || "server"

/** A key is long, without blanks, and has a name that says so, or begins like known keys. */
const isKey = (name: string, value: string): boolean =>
  !hasPlaceholder(value) &&
  value.length >= 8 &&
  (/key|token|secret|password|authorization/i.test(name) || /^(Bearer |sk-|ghp_|xox|stoa_)/.test(value))

/** Replaces values that look like keys by placeholders of their secrets. */
const keyless = (server: string, values: Readonly<Record<string, string>> | undefined, found: Record<string, string>) =>
  values &&
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (!isKey(name, value)) return [name, value]
      const scheme = /^Bearer /.exec(value)?.[0] ?? ""
      const secret = `${server}_${name}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_")
      found[secret] = value.slice(scheme.length)
      return [name, `${scheme}\${secret.${secret}}`]
    }),
  )

const serverIn = (given: string, it: Fields, count: number): PastedServer => {
  const name = nameFrom(given)
  const secrets: Record<string, string> = {}
  const env = keyless(name, texts(it["env"]), secrets)
  const headers = keyless(name, texts(it["headers"]), secrets)
  const { command, url } = it
  if (typeof url === "string") return { server: { name, url, ...(headers && { headers }) }, count, secrets }
  if (typeof command !== "string") throw new TypeError("there is neither a command nor a url in it")
  const args = Array.isArray(it["args"]) ? { args: it["args"].map(String) } : {}
  return { server: { name, command, ...args, ...(env && { env }) }, count, secrets }
}

/** Words of a command line, with shell quotes. */
const wordsIn = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? "")

/** An API description instead of a server, whose operations become tools: as JSON, which the house reads, or as YAML. */
export const openApiIn = (pasted: string): "json" | "yaml" | undefined => {
  if (!pasted.trimStart().startsWith("{"))
    return /^\s*["']?(?:openapi|swagger)["']?\s*:/m.test(pasted) ? "yaml" : undefined
  try {
    const whole: unknown = JSON.parse(pasted)
    return isObject(whole) && (typeof whole["openapi"] === "string" || typeof whole["swagger"] === "string")
      ? "json"
      : undefined
  } catch {
    return undefined
  }
}

/** Why a text that is neither JSON nor an address is no command either. */
const noCommand = (text: string): string | undefined => {
  if (/[\r\n]/.test(text)) return "a command has one line"
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return "an address starts with http, https, ws or wss and has no blanks"
  if (/^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+\/?|(?::\d+)?\/)\S*$/.test(text))
    return "write the address with https://"
  return /^[[<#]|^---|^\S+:(?:\s|$)/.test(text) ? "it is neither JSON nor a command" : undefined
}

export const readPasted = (pasted: string): PastedServer => {
  const text = pasted.trim()
  if (text === "") throw new TypeError("there is nothing in it")
  if (/^(https?|wss?):\/\/\S+$/i.test(text))
    return serverIn(new URL(text).hostname.split(".")[0] ?? "", { url: text }, 1)
  if (text.startsWith("{") || text.startsWith('"')) {
    const whole = JSON.parse(text.startsWith('"') ? `{${text}}` : text) as Fields
    const all = whole["mcpServers"] ?? whole["servers"] ?? ((whole["command"] ?? whole["url"]) ? undefined : whole)
    if (all === undefined) return serverIn(typeof whole["name"] === "string" ? whole["name"] : "server", whole, 1)
    const entries = isObject(all) ? Object.entries(all).filter(([, it]) => isObject(it)) : []
    const [first] = entries
    if (first === undefined) throw new TypeError("there is no server in it")
    return serverIn(first[0], first[1] as Fields, entries.length)
  }
  const not = noCommand(text)
  if (not !== undefined) throw new TypeError(not)
  const [command, ...args] = wordsIn(text)
  const named = args.findLast((word) => /^[@\w]/.test(word)) ?? command!
  return serverIn(named.split("/").at(-1) ?? named, { command, args }, 1)
}
