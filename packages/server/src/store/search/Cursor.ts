/** A cursor of a search: a digest of what was asked, and how far into the ranked candidates the last page came. */
import { hash } from "node:crypto"
import { BadInput } from "@stoa/contract"
import { Effect } from "effect"
import { decodeCursor, encodeCursor } from "../Pages.ts"

export const digestOf = (...asked: ReadonlyArray<string>): string =>
  hash("sha256", JSON.stringify(asked), "hex").slice(0, 12)

export const cursorAt = (digest: string, at: number): string => encodeCursor(`${digest} ${at}`)

/** The next of another question is refused: its places are those of other results. */
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
