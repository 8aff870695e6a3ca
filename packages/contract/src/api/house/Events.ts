import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Event } from "../../Event.ts"
import { FaceName } from "../../Faces.ts"

export const lastEventId = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))

/** The feed: what the caller may see, live, and from any cursor that is still stored. */
export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("watch", "/events", {
      headers: { "last-event-id": Schema.optionalKey(lastEventId) },
      query: { names: Schema.optionalKey(FaceName), after: Schema.optionalKey(lastEventId) },
      success: HttpApiSchema.StreamSse({ data: Event }),
    }),
  )
  .prefix("/api/v1") {}
