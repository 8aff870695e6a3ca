import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { callFrom } from "../../../../calls/Calls.ts"
import { Runs } from "../../../../runs/Runs.ts"
import { Spend } from "../../../../runs/spend/Spend.ts"
import { DeadLetters } from "../../../../runs/upkeep/DeadLetters.ts"
import { Triggers } from "../../../../runs/waking/Triggers.ts"
import { Waits } from "../../../../runs/waiting/Waits.ts"

export const runsHandlers = HttpApiBuilder.group(
  Api,
  "runs",
  Effect.fn(function* (handlers) {
    const runs = yield* Runs
    const triggers = yield* Triggers
    const spend = yield* Spend
    const reader = (yield* Grants).viewer("runs")
    return handlers.handleAll({
      list: ({ query }) => runs.listNamed(query),
      spend: ({ query: { days = 31 } }) => Effect.flatMap(reader, (who) => spend.report(who, days)),
      get: ({ params }) => Effect.flatMap(reader, (who) => runs.get(params.run, who)),
      messages: ({ params, query }) => Effect.flatMap(reader, (who) => runs.messages(params.run, who, query)),
      steps: ({ params, query }) => Effect.flatMap(reader, (who) => runs.steps(params.run, who, query)),
      retry: ({ params, payload }) => Effect.flatMap(reader, (who) => triggers.retry(params.run, payload?.step, who)),
      toolResults: ({ params, payload: { callId, result } }) =>
        Effect.map(runs.result(params.run, callId, { output: result }), callFrom),
      cancel: Effect.fnUntraced(function* ({ params }) {
        const { principal } = yield* Caller
        return yield* runs.cancel(params.run, yield* reader, principal.name)
      }),
    })
  }),
)

export const waitsHandlers = HttpApiBuilder.group(
  Api,
  "waits",
  Effect.fn(function* (handlers) {
    const waits = yield* Waits
    const reader = (yield* Grants).viewer("runs")
    return handlers.handleAll({
      list: () => Effect.flatMap(reader, waits.list),
      release: ({ params }) => Effect.flatMap(reader, (who) => waits.release(params.wait, who)),
    })
  }),
)

export const deadLettersHandlers = HttpApiBuilder.group(
  Api,
  "deadLetters",
  Effect.fn(function* (handlers) {
    const letters = yield* DeadLetters
    return handlers.handleAll({
      list: () => letters.list,
      retry: ({ params }) => letters.retry(params.letter),
      dismiss: ({ params }) => letters.dismiss(params.letter),
    })
  }),
)
