/** Lists: `{items, next}`, 50 at a time by default, 100 at most. */
import { Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"

export const pageOfMany = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next: Schema.NullOr(Schema.String) })

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

/** The form of `next`: base64url of well-formed text without control characters, in its only canonical spelling. */
const isCursor = (text: string): boolean => {
  const decoded = Base64Url.decodeString(text)
  return (
    Result.isSuccess(decoded) && !/\p{Cc}|\ufffd/u.test(decoded.success) && Base64Url.encode(decoded.success) === text
  )
}

export const pageQuery = {
  limit: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100 })),
  ),
  cursor: Schema.optionalKey(
    Schema.String.check(
      Schema.isMaxLength(400),
      Schema.makeFilter((text) => isCursor(text) || "must be the `next` of the page before, as it was given"),
    ),
  ),
}

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}
