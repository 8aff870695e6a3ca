/**
 * What agents do with their team besides writing to it: create a child, look at one, stop one; and what people do with
 * agents from outside. Who may is in `rules.ts`. A child has at most its parent's rights, toolsets and program; the
 * depth, width and size of a tree are limited.
 */
import {
  type Agent,
  type AgentChange,
  type AgentRole,
  BadInput,
  Caller,
  type Forbidden,
  type Message,
  type Missing,
  type NameTaken,
  type NewPrincipal,
  NewTeamAgent,
  type OwnedByFile,
  type PrincipalId,
  TeamActivity,
  type TooLarge,
  WrongState,
} from "@stoa/contract"
import { spellingOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Agents, nearName, nearNameOf, type Naming } from "../access/identity/Agents.ts"
import { Principals } from "../access/identity/Principals.ts"
import { demandsOf } from "../access/rights/FindIfPermitted.ts"
import { Grants } from "../access/rights/Grants.ts"
import { viewerOfAll } from "../access/rights/Viewer.ts"
import { readCallsOf } from "../calls/CallReads.ts"
import { type Shown, type Work, Workspaces } from "../programs/Workspaces.ts"
import { AgentSettings } from "../runs/AgentSettings.ts"
import { Runs } from "../runs/Runs.ts"
import { makeTriggerReads } from "../runs/waking/TriggerReads.ts"
import { Settings } from "../Settings.ts"
import { makeMessageReads } from "../spaces/MessageReads.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { nameOfHuman, TeamMail } from "./TeamMail.ts"
import { type Act, mayByPlace, rightFor } from "./rules.ts"
import { isCalled, Tree } from "./Tree.ts"

/**
 * Who asks. Within the team it is an agent with the tools of its team, which names its relatives; from outside it is
 * anybody, by rights, who names any agent.
 */
export interface TeamAsker {
  readonly caller: Caller["Service"]
  readonly from: "team" | "outside"
}

/** Names that the house itself uses in mail. */
const reserved = new Set([
  spellingOf(nameOfHuman),
  "system",
  "the house",
  "house",
  "your plan",
  "an outside service",
  "somebody",
])

/** How many recent items of an agent are shown. */
const recent = 10

export class Team extends Context.Service<
  Team,
  {
    /**
     * Creates a child of an agent (without a name, of the caller itself) with its first message, and shows it as the
     * caller may see it. It starts as soon as there is a slot.
     */
    readonly spawn: (
      by: TeamAsker,
      parent: string | undefined,
      wanted: NewTeamAgent,
    ) => Effect.Effect<Agent, BadInput | Forbidden | WrongState | NameTaken | Missing, Transaction>
    /** A person writes to an agent that it may see, in their direct-message space. */
    readonly say: (
      caller: Caller["Service"],
      name: string,
      text: string,
    ) => Effect.Effect<Message, Missing | WrongState | Forbidden | TooLarge, Transaction>
    /**
     * What an agent recently wrote, received and called, as far as the caller may read it. Does not change its inbox
     * (S3-48).
     */
    readonly activity: (by: TeamAsker, name: string) => Effect.Effect<TeamActivity, Missing | Forbidden | WrongState>
    /** The changes of a child, or of the agent itself, in its worktree. */
    readonly work: (
      self: Agent,
      name: string | undefined,
    ) => Effect.Effect<{ readonly agent: Agent; readonly work: Work }, Missing | WrongState>
    /** Merges what a person was shown and has approved, and returns the commit. */
    readonly merge: (
      self: Agent,
      name: string,
      shown: Shown,
      message: string | undefined,
    ) => Effect.Effect<string, Missing | WrongState>
    /** Ends its runs. With `remove`, also retires it, which requires that no agent works for it (S3-57). */
    readonly stop: (
      by: TeamAsker,
      name: string,
      remove: boolean,
    ) => Effect.Effect<
      { readonly agent: Agent; readonly stopped: number },
      WrongState | Missing | Forbidden | OwnedByFile
    >
  }
>()("server/team/Team") {
  static readonly layer = Layer.effect(
    Team,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* Settings
      const agents = yield* Agents
      const grants = yield* Grants
      const agentSettings = yield* AgentSettings
      const principals = yield* Principals
      const workspaces = yield* Workspaces
      const runs = yield* Runs
      const teamMail = yield* TeamMail
      const tree = yield* Tree
      const messages = yield* Messages
      const reads = makeMessageReads(sql)
      const woken = makeTriggerReads(sql)
      const journal = yield* Journal

      /** The agent that is named, if this agent's place in the tree allows it. */
      const relative = Effect.fnUntraced(function* (self: Agent, act: Act, name: string = self.name) {
        if (mayByPlace(act, "self") && isCalled(self, name)) return self
        const { agent, relation } = yield* tree.find(self, name)
        if (mayByPlace(act, relation)) return agent
        return yield* new WrongState({
          detail: `${nearName(agent)} is your ${relation}: only your own children (your subordinates) can be inspected or stopped.`,
        })
      })

      const viewerOf = (caller: Caller["Service"]) => grants.viewerOf(caller, "spaces")
      const seen = (caller: Caller["Service"], name: string) => Effect.provideService(agents.find(name), Caller, caller)

      /** The agent that is named, if the rules allow this to who asks. */
      const permitted = Effect.fnUntraced(function* (
        { caller, from }: TeamAsker,
        act: Exclude<Act, "merge">,
        name: string | undefined,
      ) {
        if (from === "team") return yield* relative(yield* tree.self(caller), act, name)
        const agent = yield* seen(caller, name ?? caller.principal.id)
        const right = rightFor(act, caller.principal, agent)
        if (right !== undefined) yield* demandsOf(yield* viewerOf(caller)).require(right, `principals/${agent.name}`)
        return agent
      })

      const bad = (path: string, message: string) => new BadInput({ issues: [{ path, message }] })

      /**
       * A child with such a name could not be told from the agents that it, its parent or its siblings can write to
       * (S3-26, S3-42).
       */
      const fresh = Effect.fnUntraced(function* (parent: Agent, name: string) {
        // Agents pass the name to a tool, whose schema accepts any text.
        const read = Schema.decodeUnknownExit(NewTeamAgent.fields.name)(name)
        if (read._tag === "Failure")
          return yield* bad("name", "must have 1 to 63 letters, digits, spaces or . _ ' -, and must not end in a space")
        if (reserved.has(spellingOf(name.replaceAll(/[\s._'-]+/g, " "))))
          return yield* bad("name", `"${name}" is a name that the house itself uses; give another name`)
        if (isCalled(parent, name)) return yield* bad("name", "that is your own name; give another name")
        const kin = yield* tree.around(parent)
        const near = kin.find(({ agent }) => isCalled(agent, name))
        if (near !== undefined)
          return yield* bad("name", `your ${near.relation} is called ${nearName(near.agent)}; give another name`)
        for (const { agent } of kin.filter(({ relation }) => relation === "child"))
          if ((yield* agents.team(agent.id)).some((one) => isCalled(one, name)))
            return yield* bad("name", `${nearName(agent)} has a child called ${name}; give another name`)
      })

      /**
       * Names are unique in a neighbourhood, and in the house for rights and mentions: a child whose name another agent
       * has elsewhere goes by its path there. The name of a person or a service stays theirs.
       */
      const added = Effect.fnUntraced(function* (parent: Agent, wanted: Omit<NewPrincipal, "name">, name: string) {
        const first = yield* Effect.result(principals.add({ ...wanted, name }))
        if (first._tag === "Success") return { made: first.success, near: {} }
        const refusal = first.failure
        const other =
          refusal._tag === "NameTaken" ? yield* Effect.option(principals.get(refusal.like ?? name)) : Option.none()
        if (Option.isNone(other) || other.value.kind !== "agent") return yield* refusal
        const path = `${parent.name}.${name}`
        if (path.length > 63)
          return yield* bad("name", `an agent elsewhere has that name, and ${path} is too long; give another name`)
        return { made: yield* principals.add({ ...wanted, name: path }), near: { called: name } }
      })

      const bounded = Effect.fnUntraced(function* (parent: Agent) {
        const { teamAgents, teamDepth, teamWidth } = settings
        if ((yield* tree.depthOf(parent)) + 1 >= teamDepth)
          return yield* new WrongState({
            detail: `A team can have at most ${teamDepth} levels. Give the work to an agent that you have.`,
          })
        if ((yield* agents.team(parent.id)).length >= teamWidth)
          return yield* new WrongState({
            detail: `An agent can have at most ${teamWidth} children, and you already have that many.`,
          })
        if ((yield* tree.sizeOf(parent)) >= teamAgents)
          return yield* new WrongState({
            detail: `A team can have at most ${teamAgents} agents, and yours already has that many.`,
          })
      })

      const thinkerFor = Effect.fnUntraced(function* (parent: Agent, wanted: NewTeamAgent) {
        const { thinker } = parent
        if (thinker.kind !== "program") {
          if (wanted.program !== undefined) return yield* bad("program", "you were given no programs")
          return thinker
        }
        const { children = {}, ...own } = thinker
        const given = wanted.program !== undefined && Object.hasOwn(children, wanted.program)
        const chosen = wanted.program === undefined ? own : given ? children[wanted.program] : undefined
        if (chosen === undefined) {
          const names = Object.keys(children)
          return yield* bad(
            "program",
            `you were given no program "${wanted.program}"; ${names.length === 0 ? "leave it out" : `there are: ${names.join(", ")}`}`,
          )
        }
        const place = yield* Effect.mapError(
          workspaces.under(parent, thinker, wanted.workspaceSubdir ?? null),
          (message) => bad("workspace_subdir", message),
        )
        return { ...chosen, kind: "program" as const, children, ...place }
      })

      /** The house has just created it, so no file owns it. */
      const changed = (id: PrincipalId, change: AgentChange & { readonly called?: string }) =>
        Effect.catchTag(agents.change(id, change), "OwnedByFile", Effect.die)

      const spawn: Team["Service"]["spawn"] = Effect.fn("Team.spawn")(function* (by, name, wanted) {
        const parent = yield* permitted(by, "spawn", name)
        if (parent.retiredAt !== null)
          return yield* new WrongState({ detail: `${parent.name} is retired; no agent can work for it.` })
        yield* fresh(parent, wanted.name)
        yield* bounded(parent)
        const role: AgentRole = wanted.role ?? "worker"
        const thinker = yield* thinkerFor(parent, wanted)
        const rest = {
          kind: "agent" as const,
          roles: parent.roles,
          toolsets: parent.toolsets,
          ...(parent.owner === null ? {} : { owner: parent.owner }),
        }
        const { made, near } = yield* added(parent, rest, wanted.name)
        const child = yield* changed(made.id, {
          persona: wanted.instructions,
          model: parent.model,
          limits: parent.limits,
          thinker,
          role,
          parent: parent.id,
          ...near,
        })
        yield* teamMail.instruct(parent, child, wanted.instructions, by.caller.run)
        return yield* Effect.provideService(agentSettings.shown(child), Caller, by.caller)
      })

      const activity: Team["Service"]["activity"] = Effect.fn("Team.activity")(function* (by, name) {
        const agent = yield* permitted(by, "inspect", name)
        // A caller reads only what it may: the agent's messages in other spaces are for their members.
        const naming: Naming = by.from === "team" ? (id, name) => nearNameOf(sql, id, name) : (_, name) => name
        const wrote = yield* reads.mailOf(
          yield* viewerOf(by.caller),
          agent.id,
          {
            spaces: woken.spacesOf(agent.id),
            received: woken.messagesOf(agent.id),
            to: (message) => woken.nameOfWoken(message, naming),
            naming,
          },
          recent,
        )
        const calls = yield* readCallsOf(sql, agent.id, recent)
        return new TeamActivity({
          agent: yield* tree.shown(agent),
          messages: wrote.toReversed().map(({ at, author, id, text, to }) => ({
            id,
            from: author,
            to,
            text,
            at: DateTime.makeUnsafe(at),
          })),
          calls: calls.toReversed().map((call) => ({ ...call, at: DateTime.makeUnsafe(call.at) })),
        })
      })

      const say: Team["Service"]["say"] = Effect.fn("Team.say")(function* (caller, name, text) {
        const agent = yield* seen(caller, name)
        if (caller.principal.kind !== "person")
          return yield* new WrongState({
            detail: "Only people can write to agents this way; agents use the tools of their team.",
          })
        const space = yield* teamMail.dmOf(agent, caller.principal.id)
        const posted = messages.post(space, yield* viewerOf(caller), { text })
        return yield* Effect.catchTag(posted, "TooManyRequests", (error) =>
          Effect.fail(new WrongState({ detail: error.message })),
        )
      })

      const remove = Effect.fnUntraced(function* (agent: Agent) {
        const below = yield* agents.team(agent.id)
        if (below.length > 0)
          return yield* new WrongState({
            detail: `${agent.name} has ${below.map(({ name }) => name).join(", ")} working for it: remove those first, only leaves can be removed.`,
          })
        yield* principals.retire(agent.id)
      })

      const stop: Team["Service"]["stop"] = Effect.fn("Team.stop")(function* (by, name, leaves) {
        const agent = yield* permitted(by, "stop", name)
        if (leaves) yield* journal.transact(remove(agent))
        const reader = viewerOfAll(agent)
        const open = yield* runs.openOf(agent.id)
        for (const id of open) yield* Effect.ignore(runs.cancel(id, reader, by.caller.principal.name))
        return { agent, stopped: open.length }
      })

      const worker = Effect.fnUntraced(function* (self: Agent, name: string | undefined) {
        const child = yield* relative(self, "merge", name)
        if (child.id === self.id) return self
        if ((yield* tree.shown(child)).state === "busy")
          return yield* new WrongState({
            detail: `${child.name} is at work. Try again when its turn is over.`,
          })
        return child
      })
      const notMerged = (name: string) => (why: string) =>
        new WrongState({ detail: `The work of ${name} cannot be merged: ${why}.` })

      const work: Team["Service"]["work"] = Effect.fn("Team.work")(function* (self, name) {
        const agent = yield* worker(self, name)
        return { agent, work: yield* Effect.mapError(workspaces.review(agent), notMerged(agent.name)) }
      })

      const merge: Team["Service"]["merge"] = Effect.fn("Team.merge")(function* (self, name, shown, message) {
        const agent = yield* relative(self, "merge", name)
        return yield* Effect.mapError(workspaces.merge(agent, shown, message), notMerged(agent.name))
      })

      return Team.of({ spawn, say, activity, work, merge, stop })
    }),
  )
}
