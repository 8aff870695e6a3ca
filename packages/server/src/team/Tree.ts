/**
 * The tree of agents: who works for whom, what each is doing, and whom each may write to. A team is the children of one
 * agent; it is computed and not stored, so that it is right after every change (S3-56).
 */
import {
  type Agent,
  type Caller,
  type Forbidden,
  type Missing,
  type PrincipalId,
  principalIdOf,
  TeamAgent,
  WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Agents, nearName } from "../access/identity/Agents.ts"
import { nameKey } from "../access/identity/Principals.ts"
import { Grants } from "../access/rights/Grants.ts"
import { Runs } from "../runs/Runs.ts"
import { Inbox } from "../runs/waking/Inbox.ts"
import type { Relation } from "./rules.ts"

export interface Relative {
  readonly agent: Agent
  readonly relation: Relation
}

/** Near it, an agent has its name there, its whole name, and its id (S3-26). */
export const isCalled = (agent: Agent, given: string): boolean =>
  agent.id === principalIdOf(given) || [nearName(agent), agent.name].some((name) => nameKey(name) === nameKey(given))

const hop = "You can write to your parent, your children and your siblings only (one hop)."

export class Tree extends Context.Service<
  Tree,
  {
    /** The caller as an agent: identity comes from the token (S3-04). */
    readonly self: (caller: Caller["Service"]) => Effect.Effect<Agent, WrongState | Missing>
    /** The agents that are one hop away. Roots have no siblings (S3-55). */
    readonly around: (self: Agent) => Effect.Effect<ReadonlyArray<Relative>>
    /** The one with that name among them; the failure states the rule (S3-25, S3-65). */
    readonly find: (self: Agent, name: string) => Effect.Effect<Relative, WrongState>
    /** How many agents are above it. */
    readonly depthOf: (self: Agent) => Effect.Effect<number>
    readonly shown: (agent: Agent) => Effect.Effect<TeamAgent>
    /** Every living agent, parents before their children, for those who may see all principals. */
    readonly all: Effect.Effect<ReadonlyArray<TeamAgent>, Forbidden, Caller>
    /** The size of the tree, including its root. */
    readonly sizeOf: (self: Agent) => Effect.Effect<number>
  }
>()("server/team/Tree") {
  static readonly layer = Layer.effect(
    Tree,
    Effect.gen(function* () {
      const agents = yield* Agents
      const grants = yield* Grants
      const runs = yield* Runs
      const inbox = yield* Inbox

      const itself: Tree["Service"]["self"] = Effect.fnUntraced(function* ({ principal }) {
        if (principal.kind === "agent") return yield* agents.get(principal.id)
        return yield* new WrongState({
          detail: "Only agents have a team. People write to agents in a space or a chat.",
        })
      })

      const living = (id: PrincipalId | null) =>
        id === null
          ? Effect.succeed([])
          : Effect.map(Effect.option(agents.get(id)), (found) =>
              found._tag === "Some" && found.value.retiredAt === null ? [found.value] : [],
            )

      const around: Tree["Service"]["around"] = Effect.fn("Tree.around")(function* (self) {
        const parent = yield* living(self.parent)
        const children = yield* agents.team(self.id)
        const siblings = self.parent === null ? [] : yield* agents.team(self.parent)
        return [
          ...parent.map((agent): Relative => ({ agent, relation: "parent" })),
          ...children.map((agent): Relative => ({ agent, relation: "child" })),
          ...siblings.filter(({ id }) => id !== self.id).map((agent): Relative => ({ agent, relation: "sibling" })),
        ]
      })

      const find: Tree["Service"]["find"] = Effect.fn("Tree.find")(function* (self, name) {
        const kin = yield* around(self)
        const found = kin.filter(({ agent }) => isCalled(agent, name))
        if (found.length > 1) {
          const paths = found.map(({ agent, relation }) => `${agent.name} (${agent.id}, your ${relation})`).join(", ")
          return yield* new WrongState({ detail: `"${name}" could be ${paths}. Give the id of the one you mean.` })
        }
        if (found[0] !== undefined) return found[0]
        const names = kin.map(({ agent, relation }) => `${nearName(agent)} (${relation})`).join(", ")
        const rule = `${hop}${names === "" ? " You have none yet." : ` They are: ${names}.`}`
        // First whether there is such an agent at all, then how far away it is.
        const seen = yield* grants.judgeOf(self, "read", `principals/${name}`, "agent")
        if (isCalled(self, name)) return yield* new WrongState({ detail: `${name} is yourself. ${rule}` })
        if (seen.verdict !== "allow")
          return yield* new WrongState({ detail: `There is no agent "${name}" one hop away from you. ${rule}` })
        const other = yield* Effect.mapError(
          agents.get(principalIdOf(name)),
          () => new WrongState({ detail: `There is no agent "${name}". ${rule}` }),
        )
        return yield* new WrongState({ detail: `${other.name} is more than one hop away. ${rule}` })
      })

      const above = Effect.fnUntraced(function* (self: Agent) {
        const line: Array<Agent> = []
        let at: Agent | undefined = self
        while (at !== undefined && at.parent !== null && line.length < 100) {
          at = (yield* living(at.parent))[0]
          if (at !== undefined) line.push(at)
        }
        return line
      })

      const depthOf: Tree["Service"]["depthOf"] = (self) => Effect.map(above(self), (line) => line.length)

      const show = Effect.fnUntraced(function* (list: ReadonlyArray<Agent>, all: ReadonlyArray<Agent>) {
        const states = yield* runs.statesOf(list.map(({ id }) => id))
        const sessions = yield* runs.sessionsOf(list.map(({ id }) => id))
        const byId = new Map(all.map((agent) => [agent.id, agent]))
        const depthIn = (agent: Agent): number => {
          let depth = 0
          for (let at = agent; at.parent !== null && byId.has(at.parent) && depth < 100; depth++)
            at = byId.get(at.parent)!
          return depth
        }
        return yield* Effect.forEach(
          list,
          Effect.fnUntraced(function* (agent) {
            const { id, name, parent, role, thinker } = agent
            return new TeamAgent({
              id,
              name,
              role,
              parent,
              state: agent.retiredAt !== null ? "terminated" : (states.get(id) ?? "idle"),
              children: all.filter((one) => one.parent === id).map((one) => one.id),
              depth: depthIn(agent),
              thinker: thinker.kind === "program" ? thinker.program : (agent.models[0] ?? "none"),
              session: sessions.get(id) ?? null,
              inbox: yield* inbox.count(id),
              createdAt: agent.createdAt,
            })
          }),
        )
      })

      const shown: Tree["Service"]["shown"] = Effect.fn("Tree.shown")(function* (agent) {
        const all = [...(yield* above(agent)), agent, ...(yield* agents.team(agent.id))]
        return (yield* show([agent], all))[0]!
      })

      const all: Tree["Service"]["all"] = Effect.gen(function* () {
        yield* grants.require("read", "principals/*")
        const every = yield* agents.living
        const ordered: Array<Agent> = []
        const ids = new Set<string>(every.map(({ id }) => id))
        const put = (parent: string | null): void => {
          for (const agent of every)
            if (parent === null ? agent.parent === null || !ids.has(agent.parent) : agent.parent === parent) {
              ordered.push(agent)
              put(agent.id)
            }
        }
        put(null)
        return yield* show(ordered, every)
      })

      const sizeOf: Tree["Service"]["sizeOf"] = Effect.fnUntraced(function* (self) {
        const top = (yield* above(self)).at(-1) ?? self
        const every = yield* agents.living
        const under = new Set<string>([top.id])
        for (let grew = true; grew;) {
          grew = false
          for (const { id, parent } of every)
            if (parent !== null && under.has(parent) && !under.has(id)) {
              under.add(id)
              grew = true
            }
        }
        return under.size
      })

      return Tree.of({ self: itself, around, find, depthOf, shown, all, sizeOf })
    }),
  )
}
