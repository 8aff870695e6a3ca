import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Limit } from "../../access/Limit.ts"
import { pageOfMany } from "../../Page.ts"

export class LimitsApi extends HttpApiGroup.make("limits")
  .add(HttpApiEndpoint.get("list", "/limits", { success: pageOfMany(Limit) }))
  .prefix("/api/v1") {}
