/** Lists: `{items, next}`, 50 at a time unless asked otherwise, 100 at most. */
import { Schema } from "effect"

export const pageOfMany = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next: Schema.NullOr(Schema.String) })

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

export const pageQuery = {
  limit: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100 })),
  ),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
}

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}
