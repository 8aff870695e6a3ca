/** What a model says is shown while it is said, to those who may see its run, and to nobody else (S1-74). */
import { Effect } from "effect"
import type { SaidDelta } from "../models/Said.ts"
import type { RunRow } from "./rows.ts"

export const makeShow = Effect.sync(() => (_row: RunRow) => ({
  say: (_delta: SaidDelta): void => {},
  /** What was shown of this step is asked for again: whoever watches drops it. */
  restart: Effect.void,
}))
