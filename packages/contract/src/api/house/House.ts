import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, ConfigFaulty, Missing } from "../../Errors.ts"
import { Figures, FiguresQuery } from "../../house/Figures.ts"
import { Acceptable, Report } from "../../house/Report.ts"
import { FileId } from "../../Ids.ts"
import { problem } from "../../Problem.ts"

const Status = Schema.Struct({ status: Schema.Literals(["ok", "starting", "draining"]) })
const Ready = Schema.Struct({
  ...Status.fields,
  /** Only while it is full: reads work, and writes answer 507. */
  disk: Schema.optionalKey(Schema.Literal("full")),
})

/** For machines, without a token. */
export class HealthApi extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("alive", "/healthz", { success: Status }),
  HttpApiEndpoint.get("ready", "/readyz", { success: Ready, error: Status.pipe(HttpApiSchema.status(503)) }),
) {}

/** Metrics for monitoring, in Prometheus' text format. */
export class MetricsApi extends HttpApiGroup.make("metrics").add(
  HttpApiEndpoint.get("read", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })),
  }),
) {}

const Reloaded = Schema.Struct({
  file: Schema.String,
  added: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String),
  retired: Schema.Array(Schema.String),
  /** Valid settings that are probably not meant. */
  warnings: Schema.Array(Schema.String),
})

/** What an operator can ask of the house. */
export class HouseApi extends HttpApiGroup.make("house")
  .add(
    HttpApiEndpoint.post("reload", "/reload", { success: Reloaded, error: problem(ConfigFaulty) }),
    HttpApiEndpoint.get("doctor", "/doctor", { success: Report }),
    HttpApiEndpoint.get("figures", "/figures", { query: FiguresQuery, success: Figures, error: problem(BadInput) }),
    HttpApiEndpoint.post("accept", "/doctor/accept", {
      payload: Schema.Struct({ check: Acceptable }),
      success: Report,
    }),
    HttpApiEndpoint.post("backup", "/backup", {
      query: { withKey: Schema.optionalKey(Schema.Literals(["true", "false"])) },
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/vnd.sqlite3" }),
    }),
    HttpApiEndpoint.get("file", "/files/:id", {
      params: { id: FileId },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
