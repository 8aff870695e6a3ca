import { Api, Caller, Missing } from "@stoa/contract"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Agents } from "../../../../access/identity/Agents.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { callFrom, Calls } from "../../../../calls/Calls.ts"
import { Runs } from "../../../../runs/Runs.ts"
import { Spend } from "../../../../runs/spend/Spend.ts"
import { DeadLetters } from "../../../../runs/upkeep/DeadLetters.ts"
import { Triggers } from "../../../../runs/waking/Triggers.ts"
import { Waits } from "../../../../runs/waiting/Waits.ts"
import { Spaces } from "../../../../spaces/Spaces.ts"

export const runsHandlers = HttpApiBuilder.group(
  Api,
  "runs",
  Effect.fn(function* (handlers) {
    const runs = yield* Runs
    const agents = yield* Agents
    const spaces = yield* Spaces
    const grants = yield* Grants
    const triggers = yield* Triggers
    const calls = yield* Calls
    const spend = yield* Spend
    const reader = grants.viewer("runs")
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { agent, space, ...query } }) {
        const found = agent === undefined ? undefined : yield* Effect.option(agents.get(agent))
        // A caller that may not know of an agent gets none of its runs, whether the agent exists or not.
        if (found !== undefined && Option.isNone(found)) {
          const { verdict } = yield* grants.judge(yield* Caller, "read", `principals/${agent!}`)
          if (verdict !== "allow") return { items: [], next: null }
          return yield* new Missing({ noun: "agent", ref: agent! })
        }
        const whose = found === undefined ? undefined : found.value.id
        const where = space === undefined ? undefined : (yield* spaces.get(space, yield* grants.viewer("spaces"))).id
        return yield* runs.list(yield* reader, {
          ...query,
          ...(whose === undefined ? {} : { agent: whose }),
          ...(where === undefined ? {} : { space: where }),
        })
      }),
      spend: ({ query: { days = 31 } }) => Effect.flatMap(reader, (who) => spend.report(who, days)),
      get: ({ params }) => Effect.flatMap(reader, (who) => runs.get(params.run, who)),
      messages: ({ params }) => Effect.flatMap(reader, (who) => runs.messages(params.run, who)),
      steps: ({ params }) => Effect.flatMap(reader, (who) => runs.steps(params.run, who)),
      retry: ({ params, payload }) => Effect.flatMap(reader, (who) => triggers.retry(params.run, payload?.step, who)),
      toolResults: Effect.fnUntraced(function* ({ params, payload }) {
        const call = yield* runs.callOf(params.run, payload.callId)
        return callFrom(yield* calls.result(call, yield* Caller, { output: payload.result }))
      }),
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
