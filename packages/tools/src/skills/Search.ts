/**
 * Web search with one of four services, each through the egress policy. A service is one function from a question to a
 * request and one from its JSON to results; provide another `SearchProvider` to use a different one.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Context, Effect, Redacted } from "effect"
import { Redactor } from "../secrets/Redactor.ts"
import { Egress, type EgressRequest } from "../egress/Egress.ts"
import type { SearchName, SkillsConfig } from "./SkillsConfig.ts"

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly content: string
  readonly score?: number
}

export interface SearchProvider {
  readonly name: string
  readonly search: (query: string, maxResults: number) => Effect.Effect<ReadonlyArray<SearchResult>, ToolExecutionError>
}

/** A search provider that replaces the configured one. */
export const CurrentSearchProvider = Context.Reference<SearchProvider | undefined>("tools/skills/SearchProvider", {
  defaultValue: () => undefined,
})

type Ask = Pick<EgressRequest, "url" | "method" | "headers" | "body">

interface Service {
  readonly endpoint: string | undefined
  readonly setting: string
  readonly ask: (endpoint: string, key: string, query: string, max: number) => Ask
  /** The path of the list, and the names of its fields. */
  readonly list: ReadonlyArray<string>
  readonly fields: { readonly url: string; readonly content: string }
}

const withQuery = (endpoint: string, query: Record<string, string | number>): string => {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  return url.href
}

const services: Record<SearchName, Service> = {
  tavily: {
    endpoint: "https://api.tavily.com/search",
    setting: "TAVILY_API_KEY",
    ask: (url, key, query, max_results) => ({
      url,
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results }),
    }),
    list: ["results"],
    fields: { url: "url", content: "content" },
  },
  serpapi: {
    endpoint: "https://serpapi.com/search.json",
    setting: "SERPAPI_API_KEY",
    ask: (endpoint, api_key, q, num) => ({ url: withQuery(endpoint, { engine: "google", q, num, api_key }) }),
    list: ["organic_results"],
    fields: { url: "link", content: "snippet" },
  },
  brave: {
    endpoint: "https://api.search.brave.com/res/v1/web/search",
    setting: "BRAVE_API_KEY",
    ask: (endpoint, key, q, count) => ({
      url: withQuery(endpoint, { q, count }),
      headers: { "x-subscription-token": key, accept: "application/json" },
    }),
    list: ["web", "results"],
    fields: { url: "url", content: "description" },
  },
  searxng: {
    endpoint: undefined,
    setting: "SEARXNG_URL",
    ask: (endpoint, _key, q) => ({
      url: withQuery(`${endpoint.replace(/\/+$/, "").replace(/\/search$/, "")}/search`, { q, format: "json" }),
    }),
    list: ["results"],
    fields: { url: "url", content: "content" },
  },
}

const tool = "web-search"
const refuse = (message: string) => Effect.fail(new ToolExecutionError({ message, toolName: tool }))
const isRecord = (it: unknown): it is Record<string, unknown> => typeof it === "object" && it !== null
const word = (it: unknown): string => (typeof it === "string" ? it.slice(0, 4000) : "")

/** A missing list means no results; an entry without a URL is left out. */
const resultsOf = ({ fields, list }: Service, json: unknown, max: number): ReadonlyArray<SearchResult> => {
  const found = list.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), json)
  if (!Array.isArray(found)) return []
  return found
    .filter(isRecord)
    .filter((it) => word(it[fields.url]) !== "")
    .slice(0, max)
    .map((it) => ({
      title: word(it["title"]),
      url: word(it[fields.url]),
      content: word(it[fields.content]),
      ...(typeof it["score"] === "number" ? { score: it["score"] } : {}),
    }))
}

/** The service's own error message, if it is in the JSON. Never the request, which contains the key. */
const complaint = (body: string): string => {
  const said = /"(?:detail|error|message)"\s*:\s*\{?\s*(?:"error"\s*:\s*)?"((?:[^"\\]|\\.){1,300})"/.exec(body)?.[1]
  return said === undefined ? "" : `: ${said}`
}

export const providerOf = ({ endpoint: given, key: secret, provider }: SkillsConfig["search"]): SearchProvider => {
  const service = services[provider]
  const search = Effect.fnUntraced(function* (query: string, max: number) {
    const endpoint = given ?? service.endpoint
    const key = secret === undefined ? "" : Redacted.value(secret)
    // Without endpoint or key the request could only be refused, so none is sent.
    if (endpoint === undefined || (key === "" && provider !== "searxng"))
      return yield* refuse(
        `web-search is not set up: ${provider} needs ${service.setting}. Ask the operator to set it.`,
      )
    if (!URL.canParse(endpoint)) return yield* refuse(`web-search is not set up: its endpoint is not a URL.`)
    const egress = yield* Egress
    const ask = service.ask(endpoint, key, query, max)
    const answer = yield* egress.fetch({
      tool,
      ...ask,
      ...(given === undefined ? {} : { allow: [new URL(given).host] }),
    })
    const redactor = new Redactor([key])
    const body = new TextDecoder().decode(answer.body)
    if (answer.status < 200 || answer.status >= 300)
      return yield* refuse(`web-search failed: ${provider} answered ${answer.status}${complaint(redactor.text(body))}.`)
    const json = yield* Effect.try({
      try: () => JSON.parse(body) as unknown,
      catch: () =>
        new ToolExecutionError({ message: `web-search failed: ${provider} did not answer in JSON.`, toolName: tool }),
    })
    return resultsOf(service, redactor.json(json), max)
  })
  return { name: provider, search }
}
