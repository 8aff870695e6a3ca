/** A misspelled query parameter is refused with the one that was probably meant, instead of being ignored. */
import { BadInput, type Issue, KnownQuery } from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { Effect, Layer, SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

const none: ReadonlyArray<string> = []
const known = new WeakMap<HttpApiEndpoint.Top, ReadonlyArray<string>>()

const namesOf = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<string> => {
  const found = known.get(endpoint)
  if (found !== undefined) return found
  const query = endpoint.query?.ast
  const names =
    query !== undefined && SchemaAST.isObjects(query) ? query.propertySignatures.map(({ name }) => String(name)) : none
  known.set(endpoint, names)
  return names
}

/**
 * Only misspelled parameters, and only of the API: a parameter that resembles none of ours, such as one that a proxy
 * adds, is ignored, as everywhere on the web.
 */
const faults = (endpoint: HttpApiEndpoint.Top, given: object): ReadonlyArray<Issue> => {
  const names = Object.keys(given)
  if (names.length === 0 || !endpoint.path.startsWith("/api/")) return []
  const has = namesOf(endpoint)
  return names
    .filter((name) => !has.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, has)
      return meant === undefined
        ? []
        : [{ path: `query.${name}`, message: `there is no "${name}" here; did you mean "${meant}"?` }]
    })
}

export const layerKnownQuery = Layer.succeed(KnownQuery, (app, { endpoint }) =>
  Effect.andThen(
    Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
      const issues = faults(endpoint, query)
      return issues.length > 0 ? Effect.fail(new BadInput({ issues })) : Effect.void
    }),
    app,
  ),
)
