/** How the calls of a server's tools went within the last day. */
import { Schema } from "effect"
import { Moment, MomentOrNull } from "../Ids.ts"

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
  /** Of those that were done or failed and waited for nobody, half took at most so many milliseconds; null: there were none. */
  p50: Millis,
  p95: Millis,
  /** Older ones within the day are not counted: there were too many to look at. Null: all are. */
  since: MomentOrNull,
  /** How often each of its tools was called within the last seven days; beyond the most that are counted, that many. */
  tools: Schema.Array(Schema.Struct({ name: Schema.String, calls: Schema.Int })),
}) {
  static readonly mostCounted = 1000
}
