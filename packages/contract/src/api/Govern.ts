import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccessContext, AllowList, AllowListChange } from "../AllowList.ts"
import { AuditEntry, AuditResult } from "../Audit.ts"
import { BadInput, Missing, OwnedByFile } from "../Errors.ts"
import { Limit } from "../Limit.ts"
import { pageOfMany, pageQuery } from "../Page.ts"
import { problem } from "../Problem.ts"
import { Secret, SecretName, SecretValue } from "../Secret.ts"
import { ListedSet } from "../Toolset.ts"

const list = { toolset: ListedSet, context: AccessContext }
const secret = { name: SecretName }

export class AllowListsApi extends HttpApiGroup.make("allowLists")
  .add(
    HttpApiEndpoint.get("list", "/allow-lists", { success: pageOfMany(AllowList) }),
    HttpApiEndpoint.get("get", "/allow-lists/:toolset/:context", { params: list, success: AllowList }),
    HttpApiEndpoint.put("set", "/allow-lists/:toolset/:context", {
      params: list,
      payload: AllowListChange,
      success: AllowList,
      error: [problem(BadInput), problem(OwnedByFile)],
    }),
  )
  .prefix("/api/v1") {}

export class LimitsApi extends HttpApiGroup.make("limits")
  .add(HttpApiEndpoint.get("list", "/limits", { success: pageOfMany(Limit) }))
  .prefix("/api/v1") {}

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

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: {
        ...pageQuery,
        principal: Schema.optionalKey(Schema.String),
        tool: Schema.optionalKey(Schema.String),
        result: Schema.optionalKey(AuditResult),
      },
      success: pageOfMany(AuditEntry),
    }),
  )
  .prefix("/api/v1") {}
