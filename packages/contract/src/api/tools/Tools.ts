import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { CallPreview, NewCall, OpenCall, ParsedObject, SettledCall } from "../../tools/Call.ts"
import {
  Ambiguous,
  BadInput,
  Missing,
  NameTaken,
  OwnedByFile,
  ToolAuthorizationError,
  ToolNotFoundError,
  ToolValidationError,
  TooManyRequests,
  WrongState,
} from "../../Errors.ts"
import { GateName } from "../../access/rights/Grant.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { IdempotencyKey } from "../../Ids.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { Issue, problem } from "../../Problem.ts"
import { ExecutionType, JsonSchema, RiskLevel, ToolAnnotations, ToolSource, Visibility } from "../../tools/Tool.ts"
import { ToolForm } from "../../tools/ToolConfiguration.ts"
import { ListedSet } from "../../tools/Toolset.ts"
import { Idempotency, createdResponses } from "../guards.ts"

/** A tool as those who may call it see it. */
export class ToolView extends Schema.Class<ToolView>("ToolView")({
  name: Schema.String,
  wireName: Schema.String,
  description: Schema.String,
  inputSchema: JsonSchema,
  outputSchema: Schema.optionalKey(JsonSchema),
  executionType: ExecutionType,
  source: ToolSource,
  /** The set it belongs to: a toolset, `configured` or `upstream`. */
  set: ListedSet,
  visibility: Visibility,
  riskLevel: RiskLevel,
  requiresApproval: Schema.Boolean,
  /** Whether a person is asked before it runs for this caller, because of the tool, its risk or a rule. */
  asks: Schema.optionalKey(Schema.Boolean),
  annotations: ToolAnnotations,
  customUI: Schema.optionalKey(Schema.String),
  /** Where the configuration file declares it, for those who may change tools: it is changed there. */
  declaredIn: Schema.optionalKey(Schema.Struct({ file: Schema.String, key: Schema.String })),
  /**
   * Of one tool, for those who may change it: what it names that does not exist yet, such as a secret, and the next
   * step. Lists leave it out.
   */
  notes: Schema.optionalKey(Schema.Array(Schema.String)),
}) {}

/** Anything that was sent: the room reads it, and names every fault by its path. */
const AnyForm = ParsedObject.annotate({ identifier: "ToolFormSent" })

/** By name or wire name; a `/` is percent-encoded. */
const ref = { name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)) }

const Import = Schema.Struct({
  /** An OpenAPI 3.0 or 3.1 document: as JSON, or as its text, which may have ten times as many values as a body. */
  document: Schema.Union([ParsedObject, Schema.String]),
  /** The address of the API, if the document has none. */
  baseUrl: Schema.optionalKey(Schema.String),
  /** Put before every name. */
  prefix: Schema.optionalKey(Schema.String),
  /** Only these operations. */
  include: Schema.optionalKey(Schema.Array(Schema.String)),
})

export class ImportReport extends Schema.Class<ImportReport>("ImportReport")({
  dryRun: Schema.Boolean,
  tools: Schema.Array(ToolForm),
  skipped: Schema.Array(Schema.Struct({ operation: Schema.String, reason: Schema.String })),
  /** Secrets that the tools need. */
  needs: Schema.Array(Schema.Struct({ secret: Schema.String, why: Schema.String })),
  /** Optional parts that were left out. */
  notes: Schema.Array(Schema.String),
  issues: Schema.Array(Issue),
}) {}

/** A tool that a principal does not get, and the reason. */
const LeftOutTool = Schema.Struct({
  name: Schema.String,
  set: ListedSet,
  description: Schema.String,
  gate: GateName,
  why: Schema.String,
})
export type LeftOutTool = typeof LeftOutTool.Type

const ToolPage = Schema.Struct({
  ...pageOfMany(ToolView).fields,
  /** On the first page of a list requested with `as`: a thousand at most. */
  leftOut: Schema.optionalKey(Schema.Array(LeftOutTool)),
})

const refusals = [
  problem(ToolNotFoundError),
  problem(ToolAuthorizationError),
  problem(ToolValidationError),
  problem(TooManyRequests),
  problem(WrongState),
  problem(Missing),
  problem(Ambiguous),
  problem(BadInput),
] as const

export class ToolsApi extends HttpApiGroup.make("tools")
  .add(
    HttpApiEndpoint.get("list", "/tools", {
      query: {
        ...pageQuery,
        set: Schema.optionalKey(ListedSet),
        /** As this principal sees them, with what it does not get: for callers that may read its grants. */
        as: Schema.optionalKey(PrincipalRef),
      },
      success: ToolPage,
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("get", "/tools/:name", { params: ref, success: ToolView, error: problem(Missing) }),
    HttpApiEndpoint.get("form", "/tools/:name/form", { params: ref, success: ToolForm, error: problem(Missing) }),
    HttpApiEndpoint.get("signingKey", "/tools/:name/signing-key", {
      params: ref,
      success: Schema.Struct({ key: Schema.String }),
      error: [problem(Missing), problem(WrongState)],
    }),
    HttpApiEndpoint.post("add", "/tools", {
      payload: AnyForm,
      success: createdResponses(ToolView),
      error: [problem(NameTaken), problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.post("import", "/tools/import", {
      query: { dryRun: Schema.optionalKey(Schema.Literals(["true", "false"])) },
      payload: Import,
      success: ImportReport,
      error: [problem(NameTaken), problem(BadInput)],
    }),
    HttpApiEndpoint.put("change", "/tools/:name", {
      params: ref,
      payload: AnyForm,
      success: ToolView,
      error: [problem(Missing), problem(BadInput), problem(OwnedByFile), problem(NameTaken)],
    }),
    HttpApiEndpoint.delete("remove", "/tools/:name", {
      params: ref,
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(OwnedByFile)],
    }),
    HttpApiEndpoint.post("call", "/tools/:name/call", {
      params: ref,
      headers: {
        "idempotency-key": Schema.optionalKey(IdempotencyKey),
      },
      payload: NewCall,
      success: [SettledCall, OpenCall.pipe(HttpApiSchema.status(202)), CallPreview],
      error: refusals,
    }),
  )
  .prefix("/api/v1") {}
