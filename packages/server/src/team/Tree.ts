/**
 * The tree of agents: who works for whom, what each is doing, and whom each may write to. A team is the children of one
 * agent; it is computed and not stored, so that it is right after every change (S3-56).
 */
import { type Agent, type PrincipalId, TeamAgent, WrongState } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { nameKey } from "../access/identity/Principals.ts"
import { Runs } from "../runs/Runs.ts"
import { Inbox } from "../runs/waking/Inbox.ts"

type Relation = "parent" | "child" | "sibling"

export interface Relative {
  readonly agent: Agent
  readonly relation: Relation
}

const hop = "You can write to your parent, your children and your siblings only (one hop)."

export class Tree extends Context.Service<
  Tree,
  {
    /** The agents that are one hop away. Roots have no siblings (S3-55). */
    readonly around: (self: Agent) => Effect.Effect<ReadonlyArray<Relative>>
    /** The one with that name among them; the failure states the rule (S3-25, S3-65). */
    readonly find: (self: Agent, name: string) => Effect.Effect<Relative, WrongState>
    readonly child: (self: Agent, name: string) => Effect.Effect<Agent, WrongState>
    /** How many agents are above it. */
    readonly depthOf: (self: Agent) => Effect.Effect<number>
    readonly shown: (agent: Agent) => Effect.Effect<TeamAgent>
    /** Every living agent, parents before their children. */
    readonly all: Effect.Effect<ReadonlyArray<TeamAgent>>
    /** The size of the tree, including its root. */
    readonly sizeOf: (self: Agent) => Effect.Effect<number>
  }
>()("server/team/Tree") {
  static readonly layer = Layer.effect(
    Tree,
    Effect.gen(function* () {
      const agents = yield* Agents
      const runs = yield* Runs
      const inbox = yield* Inbox

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
        const key = nameKey(name)
        const found = kin.find(({ agent }) => agent.id === name || nameKey(agent.name) === key)
        if (found !== undefined) return found
        const names = kin.map(({ agent, relation }) => `${agent.name} (${relation})`).join(", ")
        const rule = `${hop}${names === "" ? " You have none yet." : ` They are: ${names}.`}`
        // First whether there is such an agent at all, then how far away it is.
        const other = yield* Effect.mapError(
          agents.get(name),
          () => new WrongState({ detail: `There is no agent "${name}". ${rule}` }),
        )
        if (other.id === self.id) return yield* new WrongState({ detail: `${name} is yourself. ${rule}` })
        return yield* new WrongState({ detail: `${other.name} is more than one hop away. ${rule}` })
      })

      const child: Tree["Service"]["child"] = Effect.fnUntraced(function* (self, name) {
        const { agent, relation } = yield* find(self, name)
        if (relation === "child") return agent
        return yield* new WrongState({
          detail: `${agent.name} is your ${relation}: only your own children (your subordinates) can be inspected or stopped.`,
        })
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

      return Tree.of({ around, find, child, depthOf, shown, all, sizeOf })
    }),
  )
}
