/**
 * The engine of runs alone: a run is asked for, claimed, taken step by step under its fence and ended, with all its rows and
 * events, in a whole house with all that follows them. Nobody thinks, so that there is no prompt, no model, no right asked for
 * and no call: as in the peers, whose steps do nothing.
 */
import { DateTime, Effect, Layer } from "effect"
import type { makeDrive } from "../../packages/server/src/runs/working/drive.ts"
import { RunDriver } from "../../packages/server/src/runs/working/Dispatch.ts"
import type { RunRow, StepRow, TriggerRow } from "../../packages/server/src/runs/record/rows.ts"

/** What wakes it says how many steps it takes. */
export const textOf = (steps: number): string => (steps === 1 ? "one" : `ten ${steps}`)
const stepsOf = (text: string): number => (text === "one" ? 1 : Number(text.slice(4)))

const spent = { tokensIn: 1, tokensOut: 1, costMicros: 0, busyMs: 0 }
const content = '[{"type":"text","text":"x"}]'

const withoutModel: typeof makeDrive = (record) => {
  const drive = Effect.fnUntraced(function* (row: RunRow, known?: ReadonlyArray<TriggerRow>) {
    const triggers = known ?? (yield* record.triggersOf(row.id))
    const steps = stepsOf(triggers[0]!.text)
    const told = [
      { run: row.id, seq: 1, kind: "system", body: "You are an agent.", step: 0 },
      { run: row.id, seq: 2, kind: "user", body: triggers[0]!.text, step: 0 },
    ] as const
    for (let number = row.step + 1; number <= steps; number++) {
      const now = DateTime.formatIso(yield* DateTime.now)
      const step: StepRow = {
        run: row.id,
        number,
        state: "said",
        content,
        finish: "stop",
        model: "none",
        tokensIn: 1,
        tokensOut: 1,
        tokensCached: 0,
        costMicros: 0,
        beganAt: now,
        saidAt: now,
      }
      const end = number < steps ? undefined : ({ stop: "end_turn", failure: null } as const)
      if (!(yield* record.step(row, step, number === 1 ? told : [], 0, spent, end, []))) return "lost" as const
    }
    return "ended" as const
  })
  return Effect.succeed(drive)
}

export const layerWithoutModel = Layer.succeed(RunDriver, withoutModel)
