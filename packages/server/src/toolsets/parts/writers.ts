/** Who wrote the words of a record, if not whoever it seems to be from: a tool names them beside the text. */
import type { MemoryRecord, MemoryVersion, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { Principals } from "../../access/identity/Principals.ts"
import { otherAuthorsOf } from "../../memory/Authors.ts"

export interface Written {
  readonly writtenBy?: ReadonlyArray<string>
}

export const makeWriters = Effect.gen(function* () {
  const principals = yield* Principals

  const named = Effect.fnUntraced(function* (ids: ReadonlyArray<PrincipalId>) {
    const names = yield* Effect.forEach(ids, (id) =>
      Effect.match(principals.get(id), { onFailure: (): string => id, onSuccess: ({ name }) => name }),
    )
    return names.length === 0 ? {} : ({ writtenBy: names } satisfies Written)
  })

  /** Others than its owner. */
  const ofRecord = (record: MemoryRecord): Effect.Effect<Written> => named(otherAuthorsOf(record))
  /** All of them, if it was not only whoever made the version. */
  const ofVersion = ({ authors }: MemoryVersion): Effect.Effect<Written> =>
    named(authors === undefined ? [] : [...new Set([...authors.content, ...authors.tags])])
  /** Of a text that another than this principal wrote. */
  const unless = (owner: PrincipalId, writer: PrincipalId): Effect.Effect<Written> =>
    named(writer === owner ? [] : [writer])

  return { ofRecord, ofVersion, unless }
})
