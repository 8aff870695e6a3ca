import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Missing } from "../../Errors.ts"
import { pageOfMany } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { Secret, SecretName, SecretValue } from "../../access/Secret.ts"

const secret = { name: SecretName }

export class SecretsApi extends HttpApiGroup.make("secrets")
  .add(
    HttpApiEndpoint.get("list", "/secrets", { success: pageOfMany(Secret) }),
    HttpApiEndpoint.put("set", "/secrets/:name", {
      params: secret,
      payload: SecretValue,
      success: HttpApiSchema.NoContent,
    }),
    HttpApiEndpoint.delete("remove", "/secrets/:name", {
      params: secret,
      success: HttpApiSchema.NoContent,
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
