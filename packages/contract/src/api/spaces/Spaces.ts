import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  Ambiguous,
  BadInput,
  Missing,
  NameTaken,
  OwnedByFile,
  TooLarge,
  TooManyRequests,
  WrongState,
} from "../../Errors.ts"
import { Event } from "../../Event.ts"
import { FaceName } from "../../Faces.ts"
import { Message, NewMessage } from "../../spaces/Message.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import { NewSpace, Space, SpaceChange, SpaceRef } from "../../spaces/Space.ts"
import { lastEventId } from "../house/Events.ts"
import { Idempotency, createdResponses } from "../guards.ts"

const space = { space: SpaceRef }
export const Seq = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))
const missing = [problem(Missing), problem(Ambiguous)] as const
const refused = [...missing, problem(WrongState)] as const

export class SpacesApi extends HttpApiGroup.make("spaces")
  .add(
    HttpApiEndpoint.get("list", "/spaces", { query: pageQuery, success: pageOfMany(Space) }),
    HttpApiEndpoint.get("get", "/spaces/:space", { params: space, success: Space, error: missing }),
    HttpApiEndpoint.post("add", "/spaces", {
      payload: NewSpace,
      success: createdResponses(Space),
      error: [problem(NameTaken), problem(Missing), problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.patch("change", "/spaces/:space", {
      params: space,
      payload: SpaceChange,
      success: Space,
      error: [...refused, problem(NameTaken), problem(OwnedByFile)],
    }),
    HttpApiEndpoint.put("addMember", "/spaces/:space/members/:principal", {
      params: { ...space, principal: PrincipalRef },
      success: HttpApiSchema.NoContent,
      error: [...refused, problem(OwnedByFile)],
    }),
    HttpApiEndpoint.delete("removeMember", "/spaces/:space/members/:principal", {
      params: { ...space, principal: PrincipalRef },
      success: HttpApiSchema.NoContent,
      error: [...refused, problem(OwnedByFile)],
    }),
    HttpApiEndpoint.post("post", "/spaces/:space/messages", {
      params: space,
      payload: NewMessage,
      success: createdResponses(Message),
      error: [...refused, problem(TooLarge), problem(TooManyRequests)],
    }).middleware(Idempotency),
    HttpApiEndpoint.get("messages", "/spaces/:space/messages", {
      params: space,
      query: {
        limit: pageQuery.limit,
        before: Schema.optionalKey(Seq),
        after: Schema.optionalKey(Seq),
        names: Schema.optionalKey(FaceName),
      },
      success: pageOfMany(Message),
      error: missing,
    }),
    HttpApiEndpoint.put("read", "/spaces/:space/read", {
      params: space,
      payload: Schema.Struct({ seq: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
      success: HttpApiSchema.NoContent,
      error: missing,
    }),
    HttpApiEndpoint.post("typing", "/spaces/:space/typing", {
      params: space,
      success: HttpApiSchema.NoContent,
      error: refused,
    }),
    HttpApiEndpoint.get("watch", "/spaces/:space/events", {
      params: space,
      headers: { "last-event-id": Schema.optionalKey(lastEventId) },
      query: { names: Schema.optionalKey(FaceName), after: Schema.optionalKey(lastEventId) },
      success: HttpApiSchema.StreamSse({ data: Event }),
      error: missing,
    }),
  )
  .prefix("/api/v1") {}
