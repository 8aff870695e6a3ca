import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Demo, DemoChange } from "../../house/Demo.ts"
import { BadInput, WrongState } from "../../Errors.ts"
import { problem } from "../../Problem.ts"

/** The demo office of a new house. */
export class DemoApi extends HttpApiGroup.make("demo")
  .add(
    HttpApiEndpoint.get("get", "/demo", { success: Demo }),
    HttpApiEndpoint.patch("change", "/demo", {
      payload: DemoChange,
      success: Demo,
      error: [problem(BadInput), problem(WrongState)],
    }),
    HttpApiEndpoint.delete("remove", "/demo", { success: HttpApiSchema.NoContent, error: problem(WrongState) }),
  )
  .prefix("/api/v1") {}
