/** Figures about the house: what Overview shows, for a terminal. */
// edge: asks for a span that ends now.
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { countNoun } from "../../output/countNoun.ts"
import { ask, printBeside, printJson, root } from "../../command/root.ts"

const span = { "6h": [6, 900], "1d": [24, 3600], "7d": [168, 21_600] } as const

const sum = (all: ReadonlyArray<number>): number => all.reduce((so, one) => so + one, 0)
const dollars = (cost: number): string => `$${cost.toFixed(2)}`

export const figures = Command.make(
  "figures",
  {
    span: Flag.Literals("span", ["6h", "1d", "7d"]).pipe(
      Flag.withDescription("How far back: six hours, a day, or seven days"),
      Flag.withDefault("6h" as const),
    ),
  },
  Effect.fn(function* ({ span: wanted }) {
    const [hours, step] = span[wanted]
    const from = new Date(Date.now() - hours * 3_600_000).toISOString()
    const it = yield* ask((stoa) => stoa.house.figures({ from, step }))
    const { json } = yield* root
    if (json) return yield* printJson(it)
    const { calls, cost, decisions, house, needs, runs } = it
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["calls", `${sum(calls.done)} done, ${sum(calls.failed)} failed, ${sum(calls.refused)} refused`],
      ["runs", `${runs.running} work, ${runs.waiting} wait, ${runs.queued} queued; ${sum(runs.failed)} failed`],
      ["slots", `${runs.slots.free} of ${runs.slots.all} free`],
      ["decisions", `${decisions.open} open, ${sum(decisions.answered)} answered`],
      ["cost today", `${dollars(cost.today)}, ${dollars(cost.forecast)} by midnight UTC`],
      ...cost.agents.map(
        ({ limit, name, today }) =>
          [`  ${name}`, limit === null ? dollars(today) : `${dollars(today)} of ${dollars(limit)}`] as const,
      ),
      ...(house === null
        ? []
        : [
            [
              "house",
              `${house.version} on ${house.store}, up since ${house.startedAt}, ${house.behind === 0 ? "every reader is up to date" : `${countNoun(house.behind, "event")} to handle`}`,
            ] as const,
          ]),
      ...needs.map(
        ({ detail, kind, subject, tool }) =>
          ["needs somebody", `${kind} ${tool === undefined ? subject : `${subject}/${tool}`}: ${detail}`] as const,
      ),
    ]
    yield* printBeside(rows)
  }),
).pipe(
  Command.withDescription("Figures of the house: calls, runs, costs, and what needs attention"),
  Command.withExamples([{ command: "stoa figures --span 1d", description: "The last 24 hours" }]),
)
