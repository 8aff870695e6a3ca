import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Missing } from "../../Errors.ts"
import { pageOfMany } from "../../Page.ts"
import { NewPause, Pause, PauseSubject } from "../../access/Pause.ts"
import { problem } from "../../Problem.ts"
import { createdResponses } from "../guards.ts"

export class PausesApi extends HttpApiGroup.make("pauses")
  .add(
    HttpApiEndpoint.get("list", "/pauses", { success: pageOfMany(Pause) }),
    HttpApiEndpoint.post("set", "/pauses", {
      payload: NewPause,
      success: createdResponses(Pause),
      error: problem(BadInput),
    }),
    HttpApiEndpoint.delete("lift", "/pauses/:subject", {
      params: { subject: PauseSubject },
      success: HttpApiSchema.NoContent,
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
