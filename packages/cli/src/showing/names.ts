/** Names beside ids, for people. The id stays if the caller may not list the principal or space. */
import { Effect } from "effect"
import { all, client, root } from "../command/root.ts"

export type Names = ReadonlyMap<string, string>

const page = (cursor: string | undefined) => ({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })

/** As many as one request names. */
const mostAsked = 100

/** Those in this that are not known: principals who are retired, whom a list leaves out. One request. */
const retiredIn = (stoa: Effect.Success<typeof client>, shown: unknown, known: Names) => {
  const unknown = [...new Set((JSON.stringify(shown) ?? "").match(ids))].filter(
    (id) => id.startsWith("prn_") && !known.has(id),
  )
  if (unknown.length === 0) return Effect.succeed([])
  const some = unknown.slice(0, mostAsked)
  return Effect.tryPromise(() => stoa.principals.list({ ids: some.join(","), limit: mostAsked })).pipe(
    Effect.map(({ items }) => items),
    Effect.orElseSucceed(() => []),
  )
}

/** Everybody and every space the caller may see, by id; and the retired principals in what is to be shown. */
export const knownNames = Effect.fnUntraced(function* (shown?: unknown) {
  const stoa = yield* client
  const [principals, spaces] = yield* Effect.all([
    Effect.orElseSucceed(
      all((cursor) => stoa.principals.list(page(cursor))),
      () => [],
    ),
    Effect.orElseSucceed(
      all((cursor) => stoa.spaces.list(page(cursor))),
      () => [],
    ),
  ])
  const known: Map<string, string> = new Map([...principals, ...spaces].map((one) => [one.id, one.name]))
  for (const { id, name, retiredAt } of yield* retiredIn(stoa, shown, known))
    known.set(id, retiredAt === null ? name : `${name} (retired)`)
  return known
})

/** Empty for programs: `--json` prints the HTTP answer. */
export const namesForPeople = (shown: unknown) =>
  Effect.flatMap(root, ({ json }) => (json ? Effect.succeed<Names>(new Map()) : knownNames(shown)))

const ids = /\b(?:prn|spc)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** A text in which every known id has its name before it. */
export const withNames = (text: string, known: Names): string =>
  text.replaceAll(ids, (id) => (known.has(id) ? `${known.get(id)} (${id})` : id))

/** The name, if known: unless its bearer is retired, it is accepted wherever the id is. */
export const nameOf = (id: string | null | undefined, known: Names): string | null =>
  id === null || id === undefined ? null : (known.get(id) ?? id)
