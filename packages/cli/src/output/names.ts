/** Names beside ids, for people. The id stays if the caller may not list the principal or space. */
import { Effect } from "effect"
import { all, client, root } from "../command/root.ts"

export type Names = ReadonlyMap<string, string>

const page = (cursor: string | undefined) => ({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })

/** As many as one request names. */
const maxAsked = 100

/** Principals in this who are not known: they are retired, and a list leaves them out, or they came later. */
const unknownIn = (shown: unknown, known: Names): ReadonlyArray<string> =>
  [...new Set((JSON.stringify(shown) ?? "").match(ids))].filter((id) => id.startsWith("prn_") && !known.has(id))

/** One request; an id that it does not answer stays unknown. */
const learn = (stoa: Effect.Success<typeof client>, unknown: ReadonlyArray<string>, known: Map<string, string>) =>
  unknown.length === 0
    ? Effect.void
    : Effect.tryPromise(() =>
        stoa.principals.list({ ids: unknown.slice(0, maxAsked).join(","), limit: maxAsked }),
      ).pipe(
        Effect.map(({ items }) => {
          for (const { id, name, retiredAt } of items) known.set(id, retiredAt === null ? name : `${name} (retired)`)
        }),
        Effect.ignore,
      )

/** For what is shown piece by piece: adds whom each piece names, and asks for each of them once. */
export const nameLearner = Effect.map(client, (stoa) => {
  const asked = new Set<string>()
  return (shown: unknown, known: Map<string, string>) => {
    const unknown = unknownIn(shown, known).filter((id) => !asked.has(id))
    for (const id of unknown) asked.add(id)
    return learn(stoa, unknown, known)
  }
})

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
  yield* learn(stoa, unknownIn(shown, known), known)
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
