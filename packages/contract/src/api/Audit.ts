import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AuditEntry, AuditResult } from "../access/Audit.ts"
import { Missing } from "../Errors.ts"
import { pageOfMany, pageQuery } from "../Page.ts"
import { problem } from "../Problem.ts"

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
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
