/** What a caller sees and changes of an agent. Who may do that is in `access`; what its runs can work with is here. */
import {
  type Agent,
  type AgentChange,
  BadInput,
  type Caller,
  type Forbidden,
  type Missing,
  type OwnedByFile,
  type WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { Authority } from "../access/rights/delegation/Authority.ts"
import { Languages } from "../models/Languages.ts"
import { makeProgramNotes } from "../programs/ProgramNotes.ts"
import { Journal } from "../store/journal/Journal.ts"
import { withAgentNotes } from "./AgentNotes.ts"
import { makeModelNotes } from "./ModelNotes.ts"

export class AgentSettings extends Context.Service<
  AgentSettings,
  {
    readonly get: (ref: string) => Effect.Effect<Agent, Missing | Forbidden, Caller>
    /** Given fields replace the old values. */
    readonly change: (
      ref: string,
      changes: AgentChange,
    ) => Effect.Effect<Agent, Missing | Forbidden | OwnedByFile | WrongState | BadInput, Caller>
    /** As the caller may see it, with what its settings come to. */
    readonly shown: (agent: Agent) => Effect.Effect<Agent, never, Caller>
  }
>()("server/runs/AgentSettings") {
  static readonly layer = Layer.effect(
    AgentSettings,
    Effect.gen(function* () {
      const agents = yield* Agents
      const authority = yield* Authority
      const languages = yield* Languages
      const programNotes = yield* makeProgramNotes
      const modelNotes = yield* makeModelNotes
      const { transact } = yield* Journal

      const shown: AgentSettings["Service"]["shown"] = Effect.fnUntraced(function* (agent) {
        const seen = yield* agents.shown(agent)
        // What its program lacks is for those who see how it is started.
        const lacks = seen === agent ? yield* programNotes(agent) : []
        return withAgentNotes(seen, [...lacks, ...(yield* modelNotes([agent], { problems: true }))])
      })

      /** An undeclared model would fail every run of the agent, so it is refused now. */
      const known = Effect.fnUntraced(function* ({ model }: AgentChange) {
        if (model === undefined || model === null) return
        const names = (yield* languages.list).map(({ name }) => name)
        const strange = [model].flat().filter((one) => !names.includes(one))
        if (strange.length === 0) return
        const message = `there is no model ${strange.join(", ")}; there are: ${names.join(", ") || "none, declare one under models in the configuration file"}`
        return yield* new BadInput({ issues: [{ path: "model", message }] })
      })

      const change: AgentSettings["Service"]["change"] = Effect.fn("AgentSettings.change")(function* (ref, changes) {
        const agent = yield* agents.find(ref)
        yield* authority.changedAgent(agent, changes)
        // A parent that is not there is a fault of the request; to whoever may not see it, none is.
        if (changes.parent != null) yield* Effect.catchTag(agents.find(changes.parent), "Missing", () => Effect.void)
        yield* known(changes)
        return yield* shown(yield* transact(agents.change(agent.id, changes)))
      })

      return AgentSettings.of({
        get: (ref) => Effect.flatMap(agents.find(ref), shown),
        change,
        shown,
      })
    }),
  )
}
