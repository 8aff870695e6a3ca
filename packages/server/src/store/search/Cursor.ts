/** A cursor of a search: a digest of the question, and the position in the ranked candidates after the last page. */
import { hash } from "node:crypto"
import { BadInput } from "@stoa/contract"
import { Effect } from "effect"
import { decodeCursor, encodeCursor } from "../Pages.ts"

export const digestOf = (...asked: ReadonlyArray<string>): string =>
  hash("sha256", JSON.stringify(asked), "hex").slice(0, 12)

export const cursorAt = (digest: string, at: number): string => encodeCursor(`${digest} ${at}`)

/** A cursor of another question is refused: its positions refer to other results. */
export const placeOfCursor = (cursor: string | undefined, digest: string): Effect.Effect<number, BadInput> => {
  if (cursor === undefined) return Effect.succeed(0)
  const [of, at = ""] = decodeCursor(cursor).split(" ")
  return of === digest && /^\d{1,9}$/.test(at)
    ? Effect.succeed(Number(at))
    : Effect.fail(
        new BadInput({
          issues: [{ path: "cursor", message: "must be `next` of a page with the same query and filters" }],
        }),
      )
}
