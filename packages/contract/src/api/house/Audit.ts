import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AuditChain, AuditEntry, AuditResult } from "../../access/Audit.ts"
import { Missing } from "../../Errors.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { problem } from "../../Problem.ts"

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: {
        ...pageQuery,
        principal: Schema.optionalKey(Schema.String),
        tool: Schema.optionalKey(Schema.String),
        result: Schema.optionalKey(AuditResult),
        /** Everything that one request or run caused. */
        correlation: Schema.optionalKey(Schema.String),
      },
      success: pageOfMany(AuditEntry),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("chain", "/audit/chain", { success: AuditChain }),
    // One line per entry, oldest first, after a line that says where it begins and before one that says whether it is
    // intact.
    HttpApiEndpoint.get("export", "/audit/export", {
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/jsonl" }),
    }),
  )
  .prefix("/api/v1") {}
