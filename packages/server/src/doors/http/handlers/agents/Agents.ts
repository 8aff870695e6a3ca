import { Api, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { signatureHeader } from "../../../../calls/waiting/Signatures.ts"
import { Languages } from "../../../../models/Languages.ts"
import { AgentSettings } from "../../../../runs/AgentSettings.ts"
import { Prompts } from "../../../../runs/Prompts.ts"
import { Triggers } from "../../../../runs/waking/Triggers.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Team, type TeamAsker } from "../../../../team/Team.ts"
import { Tree } from "../../../../team/Tree.ts"
import { idempotencyKeyOf } from "../../guards/Idempotency.ts"

const outside = Effect.map(Caller, (caller): TeamAsker => ({ caller, from: "outside" }))

export const agentsHandlers = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fn(function* (handlers) {
    const { viewer } = yield* Grants
    const settings = yield* AgentSettings
    const triggers = yield* Triggers
    const prompts = yield* Prompts
    const tree = yield* Tree
    const team = yield* Team
    const { transact } = yield* Journal
    return handlers.handleAll({
      tree: () => Effect.map(tree.all, (items) => ({ items, next: null })),
      // Only agents of the team can be in the wrong place of the tree.
      inspect: Effect.fnUntraced(function* ({ params }) {
        return yield* Effect.catchTag(team.activity(yield* outside, params.agent), "WrongState", Effect.die)
      }),
      spawn: ({ params, payload }) => Effect.flatMap(outside, (by) => transact(team.spawn(by, params.agent, payload))),
      say: ({ params, payload }) =>
        Effect.flatMap(Caller, (caller) => transact(team.say(caller, params.agent, payload.text))),
      stop: Effect.fnUntraced(function* ({ params, payload }) {
        const { stopped } = yield* team.stop(yield* outside, params.agent, payload.remove === true)
        return { stopped }
      }),
      get: ({ params }) => settings.get(params.agent),
      prompt: ({ params }) => prompts.preview(params.agent),
      change: ({ params, payload }) => settings.change(params.agent, payload),
      trigger: Effect.fnUntraced(function* ({ params, payload, request }) {
        const trigger = {
          text: payload.text,
          space: payload.space ?? null,
          // A signed request that is repeated is the same request.
          key: (yield* idempotencyKeyOf(request)) ?? request.headers[signatureHeader],
          run: (yield* Caller).run,
        }
        return { run: yield* triggers.start(params.agent, trigger, yield* viewer("agents")) }
      }),
    })
  }),
)

export const modelsHandlers = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fn(function* (handlers) {
    const { require, viewer } = yield* Grants
    const { listFor } = yield* Languages
    return handlers.handle("list", () =>
      Effect.gen(function* () {
        yield* require("read", "models/*")
        return { items: yield* listFor(yield* viewer("models")), next: null }
      }),
    )
  }),
)
