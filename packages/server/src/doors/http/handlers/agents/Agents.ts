import { Agent, type AgentChange, Api, BadInput, Caller } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Agents } from "../../../../access/identity/Agents.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { findIfPermitted } from "../../../../access/rights/FindIfPermitted.ts"
import { signatureHeader } from "../../../../calls/waiting/Signatures.ts"
import { Languages } from "../../../../models/Languages.ts"
import { makeProgramNotes } from "../../../../programs/ProgramNotes.ts"
import { withAgentNotes } from "../../../../runs/AgentNotes.ts"
import { Prompts } from "../../../../runs/Prompts.ts"
import { Triggers } from "../../../../runs/waking/Triggers.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Team } from "../../../../team/Team.ts"
import { Tree } from "../../../../team/Tree.ts"
import { idempotencyKeyOf } from "../../guards/Idempotency.ts"

export const agentsHandlers = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fn(function* (handlers) {
    const grants = yield* Grants
    const { judge, require, viewer } = grants
    const triggers = yield* Triggers
    const agents = yield* Agents
    const languages = yield* Languages
    const prompts = yield* Prompts
    const programNotes = yield* makeProgramNotes
    const tree = yield* Tree
    const team = yield* Team
    const { transact } = yield* Journal
    const named = (ref: string) => findIfPermitted(grants, agents.get(ref), { ref, action: "read", of: "principals" })
    /** An undeclared model would fail every run of the agent, so it is refused now. */
    const known = Effect.fnUntraced(function* ({ model }: AgentChange) {
      if (model === undefined || model === null) return
      const names = (yield* languages.list).map(({ name }) => name)
      const strange = [model].flat().filter((one) => !names.includes(one))
      if (strange.length === 0) return
      const message = `there is no model ${strange.join(", ")}; there are: ${names.join(", ") || "none, declare one under models in the configuration file"}`
      return yield* new BadInput({ issues: [{ path: "model", message }] })
    })
    /**
     * A program runs on the machine of the house, as the house: only admins may set it. Rules for those above an agent
     * bind it too, so moving it in the tree means giving it rights.
     */
    const allowed = Effect.fnUntraced(function* (agent: Agent, { parent, thinker }: AgentChange) {
      yield* require(parent === undefined ? "write" : "admin", `principals/${agent.name}`)
      if (thinker?.kind === "program") yield* require("admin", "house/programs")
    })
    /** How it is started reveals paths of the machine and its environment; others see only which program it is. */
    const shown = Effect.fnUntraced(function* (agent: Agent) {
      const { thinker } = agent
      if (thinker.kind !== "program") return withAgentNotes(agent)
      if ((yield* judge(yield* Caller, "admin", "house/programs")).verdict === "allow")
        return withAgentNotes(agent, yield* programNotes(agent))
      const { command, kind, program } = thinker
      const called = command === undefined ? {} : { command: [command[0]!.split("/").at(-1)!] }
      return withAgentNotes(new Agent({ ...agent, thinker: { kind, program, ...called } }))
    })
    /** Its mail may be read by itself, its owner, and those who administer the house. */
    const own = Effect.fnUntraced(function* (agent: Agent) {
      const { principal } = yield* Caller
      if (principal.id !== agent.id && principal.id !== agent.owner) yield* require("admin", `principals/${agent.name}`)
    })
    return handlers.handleAll({
      tree: () =>
        Effect.andThen(
          require("read", "principals/*"),
          Effect.map(tree.all, (items) => ({ items, next: null })),
        ),
      inspect: Effect.fnUntraced(function* ({ params }) {
        const agent = yield* named(params.agent)
        yield* own(agent)
        return yield* team.activity(agent, yield* viewer("spaces"))
      }),
      spawn: Effect.fnUntraced(function* ({ params, payload }) {
        const agent = yield* named(params.agent)
        yield* require("write", `principals/${agent.name}`)
        return yield* shown(yield* transact(team.spawn(agent, payload, (yield* Caller).run)))
      }),
      say: Effect.fnUntraced(function* ({ params, payload }) {
        const agent = yield* named(params.agent)
        return yield* transact(team.say(agent, yield* viewer("spaces"), payload.text))
      }),
      stop: Effect.fnUntraced(function* ({ params, payload }) {
        const agent = yield* named(params.agent)
        yield* require("write", `principals/${agent.name}`)
        const { principal } = yield* Caller
        return yield* team.stop(agent, principal.name, payload.remove === true)
      }),
      get: ({ params }) => Effect.flatMap(named(params.agent), shown),
      // Its memory is its own; those who administer the house may read its prompt.
      prompt: Effect.fnUntraced(function* ({ params }) {
        const agent = yield* named(params.agent)
        const { principal } = yield* Caller
        if (principal.id !== agent.id) yield* require("admin", `principals/${agent.name}`)
        return yield* prompts.preview(agent)
      }),
      change: Effect.fnUntraced(function* ({ params, payload }) {
        const agent = yield* named(params.agent)
        yield* allowed(agent, payload)
        yield* known(payload)
        return yield* shown(yield* transact(agents.change(agent.id, payload)))
      }),
      trigger: Effect.fnUntraced(function* ({ params, payload, request }) {
        // A service may know of no agent here except the one it calls.
        const ref = params.agent
        const agent = yield* findIfPermitted(grants, agents.get(ref), { ref, action: "execute", of: "agents" })
        const { principal: by, run: within } = yield* Caller
        const run = yield* triggers.start(agent, {
          text: payload.text,
          space: payload.space ?? null,
          // A signed request that is repeated is the same request.
          key: (yield* idempotencyKeyOf(request)) ?? request.headers[signatureHeader],
          by,
          run: within,
        })
        return { run }
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
