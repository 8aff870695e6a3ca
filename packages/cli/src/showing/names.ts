/** Names beside ids, for people. The id stays if the caller may not list the principal or space. */
import { Effect } from "effect"
import { all, client, root } from "../command/root.ts"

export type Names = ReadonlyMap<string, string>

const page = (cursor: string | undefined) => ({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })

/** Everybody and every space the caller may see, by id. */
export const knownNames = Effect.flatMap(client, (stoa) =>
  Effect.map(
    Effect.all([
      Effect.orElseSucceed(
        all((cursor) => stoa.principals.list(page(cursor))),
        () => [],
      ),
      Effect.orElseSucceed(
        all((cursor) => stoa.spaces.list(page(cursor))),
        () => [],
      ),
    ]),
    ([principals, spaces]): Names => new Map([...principals, ...spaces].map((one) => [one.id, one.name])),
  ),
)

/** Empty for programs: `--json` prints the HTTP answer. */
export const namesForPeople = Effect.flatMap(root, ({ json }) => (json ? Effect.succeed<Names>(new Map()) : knownNames))

const ids = /\b(?:prn|spc)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** A text in which every known id has its name before it. */
export const withNames = (text: string, known: Names): string =>
  text.replaceAll(ids, (id) => (known.has(id) ? `${known.get(id)} (${id})` : id))

/** The name, if known: it is accepted wherever the id is. */
export const nameOf = (id: string | null | undefined, known: Names): string | null =>
  id === null || id === undefined ? null : (known.get(id) ?? id)
