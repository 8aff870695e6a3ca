/** A credential. The secret is shown once, when it is made; the house stores only its hash. */
import { Schema } from "effect"
import { AccessContext } from "../rights/AllowList.ts"
import { Moment, MomentOrNull, PrincipalId, TokenId } from "../../Ids.ts"
import { PrincipalRef } from "./Principal.ts"

const fields = {
  id: TokenId,
  principal: PrincipalId,
  label: Schema.NullOr(Schema.String),
  context: AccessContext,
  expiresAt: MomentOrNull,
  createdAt: Moment,
}

export class Token extends Schema.Class<Token>("Token")({
  ...fields,
  lastUsedAt: MomentOrNull,
  revokedAt: MomentOrNull,
  /**
   * Absent for most tokens, which can be rotated. A browser's session and a token for a program's turn end with their
   * purpose; the house's own admin token comes from a setting or the data folder.
   */
  madeFor: Schema.optionalKey(Schema.Literals(["browser", "turn", "house"])),
}) {}

export class IssuedToken extends Schema.Class<IssuedToken>("IssuedToken")({ ...fields, token: Schema.String }) {}

export const NewToken = Schema.Struct({
  principal: PrincipalRef,
  label: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  expiresAt: Schema.optionalKey(Moment),
  context: Schema.optionalKey(AccessContext),
  /** Seed 004's certificate (S4-102): valid for seven days and renewed by rotation. */
  certificate: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "NewToken" })
export type NewToken = typeof NewToken.Type
