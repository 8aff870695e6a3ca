/** Opaque ids: `<prefix>_<uuid>`. Clients must not infer an order or a meaning from one. */
import { Schema, SchemaTransformation } from "effect"

const id = <const Prefix extends string, const Brand extends string>(prefix: Prefix, brand: Brand) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), {
      message: `Expected an id such as ${prefix}_01a1e6c9-52bd-7000-8184-5317e318d22f`,
    }),
  ).pipe(Schema.brand<Brand>(brand as never))

export const PrincipalId = id("prn", "PrincipalId")
export type PrincipalId = typeof PrincipalId.Type
export const TokenId = id("tok", "TokenId")
export type TokenId = typeof TokenId.Type
export const GrantId = id("gnt", "GrantId")
export type GrantId = typeof GrantId.Type
export const DelegationId = id("dlg", "DelegationId")
export type DelegationId = typeof DelegationId.Type
export const TimerId = id("tmr", "TimerId")
export type TimerId = typeof TimerId.Type
export const SpaceId = id("spc", "SpaceId")
export type SpaceId = typeof SpaceId.Type
export const MessageId = id("msg", "MessageId")
export type MessageId = typeof MessageId.Type

const bareId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** An id as the seeds know it: a bare UUID. */
export const withoutPrefix = (id: string): string => id.slice(id.indexOf("_") + 1)
/** The message that is meant by an id with its prefix or without it; any other text stays as it is, and names none. */
export const messageIdOf = (given: string): MessageId => (bareId.test(given) ? `msg_${given}` : given) as MessageId
/** The same for a principal: tools return an `agent_id` without its prefix. */
export const principalIdOf = (given: string): string => (bareId.test(given) ? `prn_${given}` : given)
/** A message as clients name it at any door: tools of the seeds return its id without the prefix. */
export const MessageRef = Schema.String.pipe(
  Schema.decodeTo(MessageId, SchemaTransformation.transform<string, string>({ decode: messageIdOf, encode: String })),
)
export const CallId = id("call", "CallId")
export type CallId = typeof CallId.Type
export const DecisionId = id("dcs", "DecisionId")
export type DecisionId = typeof DecisionId.Type
export const ApprovalId = id("apv", "ApprovalId")
export type ApprovalId = typeof ApprovalId.Type
export const HostId = id("hst", "HostId")
export type HostId = typeof HostId.Type
export const MemoryId = id("mem", "MemoryId")
export type MemoryId = typeof MemoryId.Type
export const RunId = id("run", "RunId")
export type RunId = typeof RunId.Type
export const ChatSessionId = id("ses", "ChatSessionId")
export type ChatSessionId = typeof ChatSessionId.Type
export const WalletChallengeId = id("wch", "WalletChallengeId")
export type WalletChallengeId = typeof WalletChallengeId.Type
export const FileId = Schema.String.check(Schema.isPattern(/^fil_[0-9a-f]{64}$/)).pipe(Schema.brand("FileId"))
export type FileId = typeof FileId.Type

/** One id from the first request through everything it causes (G-39): the 32 hex digits of a W3C trace id. */
export const CorrelationId = Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/)).pipe(Schema.brand("CorrelationId"))
export type CorrelationId = typeof CorrelationId.Type

/** A position in the journal: a counter that only grows. */
export const Cursor = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.brand("Cursor"))
export type Cursor = typeof Cursor.Type

/** A moment on the wire: RFC 3339, UTC. */
export const Moment = Schema.DateTimeUtcFromString
/**
 * Null comes first: tried after a moment that does not match, it costs ten times as much, and lists are full of them.
 */
export const MomentOrNull = Schema.Union([Schema.Null, Moment])

/** A repeated request with the same key means the same request. From the header, and from `_meta` over MCP. */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/\S/, { message: "must be a key that is not blank" }),
  Schema.isMaxLength(200),
)
