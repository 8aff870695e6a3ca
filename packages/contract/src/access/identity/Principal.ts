/** Who acts: a person, an agent or a service. Identity is bound by the credential, never by an argument. */
import { Schema } from "effect"
import { Moment, MomentOrNull, PrincipalId } from "../../Ids.ts"
import { ToolsetName } from "../../tools/Toolset.ts"
import { agentRoles, personRoles, principalKinds } from "../rightsWords.ts"

export const PrincipalKind = Schema.Literals(principalKinds)
export type PrincipalKind = typeof PrincipalKind.Type

/** Some letters show nothing, such as the fillers of Hangul: with one, two names would look the same. */
export const visible = Schema.isPattern(/^\P{Default_Ignorable_Code_Point}*$/u, {
  message: "must be a name without invisible characters",
})

/**
 * People and models address each other by name, so names are unique among active principals and free of control
 * characters.
 */
export const Name = Schema.String.check(
  Schema.isPattern(/^[\p{L}\p{N}][\p{L}\p{N} ._'-]{0,62}$/u, {
    message: "must be a name of 1 to 63 letters, digits, spaces or . _ ' -, beginning with a letter or digit",
  }),
  Schema.isPattern(/\S$/, { message: "must be a name that does not end in a space" }),
  visible,
  // Names and ids are accepted in the same places: no name may look like an id.
  Schema.isPattern(/^(?![a-z]{3}_[0-9a-f]{8}-)/, { message: "must be a name that does not look like an id" }),
)

export const Role = Schema.Literals([...personRoles, ...agentRoles])
export type Role = typeof Role.Type

/** `file`: declared in the configuration file, which owns it. `house`: made at run time. */
export const Source = Schema.Literals(["house", "file"])
export type Source = typeof Source.Type

export class Principal extends Schema.Class<Principal>("Principal")({
  id: PrincipalId,
  kind: PrincipalKind,
  name: Schema.String,
  roles: Schema.Array(Role),
  owner: Schema.NullOr(PrincipalId),
  wallet: Schema.NullOr(Schema.String),
  toolsets: Schema.Array(ToolsetName),
  source: Source,
  createdAt: Moment,
  retiredAt: MomentOrNull,
}) {}

/**
 * An address in its chain's spelling. Rules name it (`wallets/<address>`), so it must not look like a pattern or a
 * path.
 */
export const Wallet = Schema.String.check(
  Schema.isPattern(/^[\p{L}\p{N}._:@-]{1,128}$/u, {
    message: "must be a wallet's address of 1 to 128 letters, digits or . _ : @ -",
  }),
)

/** A name or an id. */
export const PrincipalRef = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))

export const NewPrincipal = Schema.Struct({
  kind: PrincipalKind,
  name: Name,
  roles: Schema.optionalKey(Schema.Array(Role).check(Schema.isMaxLength(8))),
  owner: Schema.optionalKey(PrincipalRef),
  wallet: Schema.optionalKey(Wallet),
  toolsets: Schema.optionalKey(Schema.Array(ToolsetName).check(Schema.isMaxLength(8))),
}).annotate({ identifier: "NewPrincipal" })
export type NewPrincipal = typeof NewPrincipal.Type
