/** Figures about the calls of a server's tools within the last day. */
import { Schema } from "effect"
import { Moment, MomentOrNull } from "../../Ids.ts"

const Millis = Schema.NullOr(Schema.Int)

export class MCPServerFigures extends Schema.Class<MCPServerFigures>("MCPServerFigures")({
  from: Moment,
  to: Moment,
  /** All of them, by when they were made. */
  calls: Schema.Int,
  failed: Schema.Int,
  refused: Schema.Int,
  /** Not over yet. */
  open: Schema.Int,
  /** Median duration in milliseconds of calls that were done or failed and did not wait; null: there were none. */
  p50: Millis,
  p95: Millis,
  /** Older calls within the day are not counted, because there were too many. Null: all are counted. */
  since: MomentOrNull,
  /** How often each of its tools was called within the last seven days, up to the most that are counted. */
  tools: Schema.Array(Schema.Struct({ name: Schema.String, calls: Schema.Int })),
}) {
  static readonly maxCounted = 1000
}
