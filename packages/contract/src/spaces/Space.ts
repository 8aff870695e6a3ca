/** A place to talk: public, private, between two, or a team's. Its members see what is said in it. */
import { Schema } from "effect"
import { Moment, MomentOrNull, PrincipalId, SpaceId } from "../Ids.ts"
import { PrincipalKind, PrincipalRef, visible } from "../access/identity/Principal.ts"

export const SpaceKind = Schema.Literals(["public", "private", "dm", "team"])
export type SpaceKind = typeof SpaceKind.Type

/** Which agents a message wakes. */
export const TriggerRule = Schema.Literals(["dm", "mention", "human-all", "team-edge"])
export type TriggerRule = typeof TriggerRule.Type

export const MemberRole = Schema.Literals(["owner", "member"])
export type MemberRole = typeof MemberRole.Type

/** Spaces are addressed by name, so a name is short, plain and unique. */
const SpaceName = Schema.String.check(
  Schema.isPattern(/^(?!spc_)[\p{L}\p{N}][\p{L}\p{N}._-]{0,62}$/iu, {
    message:
      "a space's name of 1 to 63 letters, digits or . _ -, beginning with a letter or digit (and not with spc_, as ids do)",
  }),
  visible,
)

/** The id or the name of a space. */
export const SpaceRef = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(100),
  // oxlint-disable-next-line no-control-regex
  Schema.isPattern(/^[^\0]*$/, { message: "must be a name or an id" }),
)

export class Member extends Schema.Class<Member>("Member")({
  id: PrincipalId,
  name: Schema.String,
  kind: PrincipalKind,
  role: MemberRole,
}) {}

export class Space extends Schema.Class<Space>("Space")({
  id: SpaceId,
  name: Schema.String,
  kind: SpaceKind,
  trigger: TriggerRule,
  topic: Schema.NullOr(Schema.String),
  members: Schema.Array(Member),
  createdAt: Moment,
  archivedAt: MomentOrNull,
  /** The number of the newest message; 0 in an empty space. */
  lastSeq: Schema.Int,
  /** How many messages the caller has not read. */
  unread: Schema.Int,
}) {}

const Topic = Schema.String.check(
  Schema.isMaxLength(1000),
  Schema.makeFilter((text) => (text.isWellFormed() && !text.includes("\0")) || "must be well-formed text"),
)

export const NewSpace = Schema.Struct({
  name: SpaceName,
  kind: SpaceKind,
  members: Schema.optionalKey(Schema.Array(PrincipalRef).check(Schema.isMaxLength(1000))),
  trigger: Schema.optionalKey(TriggerRule),
  topic: Schema.optionalKey(Topic),
})
export type NewSpace = typeof NewSpace.Type

export const SpaceChange = Schema.Struct({
  name: Schema.optionalKey(SpaceName),
  topic: Schema.optionalKey(Schema.NullOr(Topic)),
  trigger: Schema.optionalKey(TriggerRule),
  archived: Schema.optionalKey(Schema.Boolean),
})
export type SpaceChange = typeof SpaceChange.Type
