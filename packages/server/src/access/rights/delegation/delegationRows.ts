/** Rows of delegations as values. */
import { Delegation } from "@stoa/contract"
import { Schema } from "effect"
import { json } from "../../../store/database/dialect/Columns.ts"

const { from, to, ...fields } = Delegation.fields
const Row = Schema.Struct({
  ...fields,
  giver: from,
  receiver: to,
  parent: Schema.NullOr(Schema.String),
  token: Schema.NullOr(Schema.String),
  actions: json(fields.actions),
})
const decode = Schema.decodeUnknownSync(Row)
const encode = Schema.encodeSync(Row)

export const delegationFrom = (row: unknown): Delegation => {
  const { giver, receiver, ...rest } = decode(row)
  return new Delegation({ ...rest, from: giver, to: receiver })
}

/** Where a delegation comes from: the one that it hands on, and the token that made it. */
export interface Origin {
  readonly parent: string | null
  readonly token: string | null
}

export const rowOfDelegation = ({ from: giver, to: receiver, ...rest }: Delegation, origin: Origin) =>
  encode({ ...rest, ...origin, giver, receiver })
