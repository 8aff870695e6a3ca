import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccessContext } from "../../access/rights/AllowList.ts"
import { Decision } from "../../decisions/Decision.ts"
import { Forbidden, TooManyRequests, Unauthenticated } from "../../Errors.ts"
import { Principal } from "../../access/identity/Principal.ts"
import { SpaceId } from "../../Ids.ts"
import { problem } from "../../Problem.ts"
import { Space } from "../../spaces/Space.ts"
import { KnownQuery, SmallBody } from "../guards.ts"

/** Needs no token in a header: it stores one in the browser, where no script can read it. */
export class SessionApi extends HttpApiGroup.make("session")
  .add(
    HttpApiEndpoint.post("open", "/session", {
      payload: Schema.Struct({ token: Schema.String.check(Schema.isMaxLength(1000)) }),
      success: HttpApiSchema.NoContent,
      error: [problem(Unauthenticated), problem(Forbidden), problem(TooManyRequests)],
    }),
    /** Never 401: a page calls it first, and a browser writes every refusal to its console. */
    HttpApiEndpoint.get("look", "/session", {
      success: Schema.Struct({ principal: Schema.NullOr(Principal) }),
      error: problem(TooManyRequests),
    }),
    HttpApiEndpoint.delete("close", "/session", {
      success: HttpApiSchema.NoContent,
      error: problem(TooManyRequests),
    }),
  )
  .middleware(KnownQuery)
  .middleware(SmallBody)
  .prefix("/api/v1") {}

export class Start extends Schema.Class<Start>("Start")({
  me: Principal,
  context: AccessContext,
  house: Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    address: Schema.String,
    /** The space that the demo starts in, if there is one. */
    demo: Schema.NullOr(SpaceId),
  }),
  /** The spaces the caller sees, with what is unread; the first hundred. */
  spaces: Schema.Array(Space),
  /** The open decisions the caller sees; the first hundred. */
  decisions: Schema.Array(Decision),
  /** The names of the owner's own cards: each draws the results of tools with that `customUI`. */
  cards: Schema.Array(Schema.String),
  /** A feed that starts after this cursor misses nothing. */
  cursor: Schema.Int,
}) {}

/** What a page needs to start, in one answer. */
export class PageApi extends HttpApiGroup.make("page")
  .add(HttpApiEndpoint.get("start", "/start", { success: Start }))
  .prefix("/api/v1") {}
