import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccessContext } from "../../access/AllowList.ts"
import { Decision } from "../../decisions/Decision.ts"
import { TooManyRequests, Unauthenticated } from "../../Errors.ts"
import { Principal } from "../../access/Principal.ts"
import { SpaceId } from "../../Ids.ts"
import { problem } from "../../Problem.ts"
import { Space } from "../../spaces/Space.ts"
import { SmallBody } from "../guards.ts"

/** Asked without a token in a header: it is how a browser keeps one, where no script can read it. */
export class SessionApi extends HttpApiGroup.make("session")
  .add(
    HttpApiEndpoint.post("open", "/session", {
      payload: Schema.Struct({ token: Schema.String.check(Schema.isMaxLength(1000)) }),
      success: HttpApiSchema.NoContent,
      error: [problem(Unauthenticated), problem(TooManyRequests)],
    }),
    /** Never 401: a page asks it before anything else, and a browser writes every refusal to its console. */
    HttpApiEndpoint.get("look", "/session", {
      success: Schema.Struct({ principal: Schema.NullOr(Principal) }),
      error: problem(TooManyRequests),
    }),
    HttpApiEndpoint.delete("close", "/session", {
      success: HttpApiSchema.NoContent,
      error: problem(TooManyRequests),
    }),
  )
  .middleware(SmallBody)
  .prefix("/api/v1") {}

export class Start extends Schema.Class<Start>("Start")({
  me: Principal,
  context: AccessContext,
  house: Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    address: Schema.String,
    /** The space that the demo begins in, while there is one. */
    demo: Schema.NullOr(SpaceId),
  }),
  /** Those the caller sees, with what it has not read; the first hundred. */
  spaces: Schema.Array(Space),
  /** Those that are open and the caller sees; the first hundred. */
  decisions: Schema.Array(Decision),
  /** The names of the owner's own cards: each draws what tools with that `customUI` gave. */
  cards: Schema.Array(Schema.String),
  /** A feed that begins after this one misses nothing of what is here. */
  cursor: Schema.Int,
}) {}

/** What a page begins with, in one answer. */
export class PageApi extends HttpApiGroup.make("page")
  .add(HttpApiEndpoint.get("start", "/start", { success: Start }))
  .prefix("/api/v1") {}
