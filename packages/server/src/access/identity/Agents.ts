/**
 * Agents: principals that can think in the house. `Principals` has their identity; here are their persona, models,
 * limits, and the agent they work for.
 */
import {
  Agent,
  type AgentChange,
  BadInput,
  Caller,
  type Forbidden,
  Missing,
  OwnedByFile,
  type Principal,
  type PrincipalId,
  type Source,
  WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { json } from "../../store/database/dialect/Columns.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { makeEventCache } from "../../store/journal/events/EventCache.ts"
import { demandsOf, findIfPermitted } from "../rights/FindIfPermitted.ts"
import { Grants } from "../rights/Grants.ts"
import { rightsChanged } from "../rights/Rights.ts"
import type { BasicViewer, Viewer } from "../rights/Viewer.ts"
import { principalFromRow, Principals } from "./Principals.ts"

/** The most levels of agents above one agent: a longer chain is a cycle or a mistake. */
const maxParents = 50

/** A program runs on the machine of the house, as the house: this is the right to set one, and to see how it starts. */
export const programsOfHouse = "house/programs"

const Profile = Schema.Struct({
  persona: Agent.fields.persona,
  model: Schema.NullOr(json(Agent.fields.model)),
  limits: json(Agent.fields.limits),
  thinker: json(Agent.fields.thinker),
  role: Agent.fields.role,
  autoWake: Schema.Literals(["on", "off"]),
  gate: Agent.fields.gate,
  parent: Agent.fields.parent,
  called: Schema.NullOr(Schema.String),
})
type Profile = typeof Profile.Type
const decode = Schema.decodeUnknownSync(Profile)
const encode = Schema.encodeSync(Profile)

/** An agent without a stored profile. */
const plain: Profile = {
  persona: null,
  model: null,
  limits: {},
  thinker: { kind: "model" },
  role: "worker",
  autoWake: "on",
  gate: "open",
  parent: null,
  called: null,
}

/** What the agents near it call an agent (S3-26). */
export const nearName = ({ called, name }: Pick<Agent, "called" | "name">): string => called ?? name
/** The same as part of a statement, for the id and the name of any principal. */
export const nearNameOf = (sql: SqlClient.SqlClient, id: Statement.Fragment, name: Statement.Fragment) =>
  sql`COALESCE((SELECT near.called FROM agents near WHERE near.principal = ${id}), ${name})`
/** Which name of a principal a statement shows, from the fragments for its id and its name. */
export type Naming = (id: Statement.Fragment, name: Statement.Fragment) => Statement.Fragment

const agentOf = (principal: Principal, profile: Profile): Agent => {
  const { autoWake, called, ...more } = profile
  return new Agent({ ...principal, ...more, autoWake: autoWake === "on", ...(called === null ? {} : { called }) })
}

/** A subquery for the ids that a query gives and those of all agents below them, at any depth. A cycle ends it. */
export const branchesOf = (sql: SqlClient.SqlClient, agents: Statement.Fragment) =>
  sql`(WITH RECURSIVE branch (id) AS (${agents}
    UNION SELECT a.principal FROM agents a JOIN branch ON a.parent = branch.id) SELECT id FROM branch)`
/** The same for one agent. */
export const branchOf = (sql: SqlClient.SqlClient, agent: string) => branchesOf(sql, sql`SELECT CAST(${agent} AS TEXT)`)

/** Who sees what agents do: each its own work and that of the agents it owns; `all`: everybody's. `agent`: the column. */
export const seesWorkOf = (
  sql: SqlClient.SqlClient,
  { all, principal }: BasicViewer,
  agent: Statement.Fragment,
): Statement.Fragment =>
  all
    ? sql`1 = 1`
    : sql`(${agent} = ${principal.id}
        OR EXISTS (SELECT 1 FROM principals p WHERE p.id = ${agent} AND p.owner = ${principal.id}))`

/** A permit lets one run of an agent through (G-14): those that had one are held again. */
export const usePermits = (sql: SqlClient.SqlClient, agents: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.orDie(sql`UPDATE agents SET gate = 'held' WHERE gate = 'permitted' AND ${sql.in("principal", agents)}`),
  )

export class Agents extends Context.Service<
  Agents,
  {
    /** By id or by name. Fails with Missing for a principal that is not an agent. */
    readonly get: (ref: string) => Effect.Effect<Agent, Missing>
    /** The same for a caller: one that may not see it does not learn whether there is one. */
    readonly find: (ref: string) => Effect.Effect<Agent, Missing | Forbidden, Caller>
    /** The same for somebody who is to wake it, which takes a right on that agent, and none to see it. */
    readonly findToWake: (ref: string, by: Viewer) => Effect.Effect<Agent, Missing | Forbidden>
    /**
     * The agent as the caller may see it. How its program is started reveals paths of the machine and its environment:
     * who may not set that sees only which program it is.
     */
    readonly shown: (agent: Agent) => Effect.Effect<Agent, never, Caller>
    /**
     * The same by id, from a cache that events invalidate, for code that runs at every step. Changes of its gate have
     * no events.
     */
    readonly getCached: (id: string) => Effect.Effect<Agent, Missing>
    /** Given fields replace the old values. Asks for no right: a caller's changes go through `Authority.changedAgent`. */
    readonly change: (
      ref: string,
      /** `called`: its name in its team, until it works for another agent. */
      changes: AgentChange & { readonly called?: string },
      by?: Source,
    ) => Effect.Effect<Agent, Missing | OwnedByFile | WrongState | BadInput, Transaction>
    /** The living agents that work for an agent, in the order in which they were added. */
    readonly team: (agent: PrincipalId) => Effect.Effect<ReadonlyArray<Agent>>
    /** Every living agent, in the order in which they were added. */
    readonly living: Effect.Effect<ReadonlyArray<Agent>>
  }
>()("server/access/identity/Agents") {
  static readonly layer = (configFile: string) =>
    Layer.effect(
      Agents,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const principals = yield* Principals
        const grants = yield* Grants

        const profileOf = Effect.fnUntraced(function* (id: string) {
          const rows = yield* sql`SELECT persona, model, limits, thinker, role, auto_wake, gate, parent, called
            FROM agents WHERE principal = ${id}`
          return rows[0] === undefined ? plain : decode(rows[0])
        }, Effect.orDie)

        const get: Agents["Service"]["get"] = Effect.fn("Agents.get")(function* (ref) {
          const principal = yield* Effect.mapError(principals.get(ref), () => new Missing({ noun: "agent", ref }))
          if (principal.kind !== "agent") return yield* new Missing({ noun: "agent", ref })
          return agentOf(principal, yield* profileOf(principal.id))
        })

        const find: Agents["Service"]["find"] = (ref) =>
          findIfPermitted(grants, get(ref), { ref, action: "read", of: "principals" })

        const findToWake: Agents["Service"]["findToWake"] = (ref, by) =>
          findIfPermitted(demandsOf(by), get(ref), { ref, action: "execute", of: "agents" })

        const shown: Agents["Service"]["shown"] = Effect.fn("Agents.shown")(function* (agent) {
          const { thinker } = agent
          if (thinker.kind !== "program") return agent
          if ((yield* grants.judge(yield* Caller, "admin", programsOfHouse)).verdict === "allow") return agent
          const { command, kind, program } = thinker
          const called = command === undefined ? {} : { command: [command[0]!.split("/").at(-1)!] }
          return new Agent({ ...agent, thinker: { kind, program, ...called } })
        })

        const { get: getCached } = yield* makeEventCache(
          ["principal.added", "principal.changed", "principal.retired"],
          get,
        )

        /** Finds the parent, and refuses cycles. */
        const parentOf = Effect.fnUntraced(function* (agent: Agent, ref: string) {
          const fault = (message: string) => new BadInput({ issues: [{ path: "parent", message }] })
          const parent = yield* Effect.mapError(get(ref), (error) => fault(error.message))
          let above: string | null = parent.id
          for (let height = 0; above !== null; height++) {
            if (above === agent.id) return yield* fault(`${parent.name} works for ${agent.name} already`)
            if (height > maxParents) return yield* fault(`more than ${maxParents} agents above one another`)
            above = (yield* profileOf(above)).parent
          }
          return parent.id
        })

        const change: Agents["Service"]["change"] = Effect.fn("Agents.change")(function* (
          ref,
          { called, parent, ...changes },
          by = "house",
        ) {
          const before = yield* get(ref)
          if (before.source === "file" && by !== "file")
            return yield* new OwnedByFile({ noun: "agent", name: before.name, file: configFile })
          if (before.retiredAt !== null)
            return yield* new WrongState({ detail: `${before.name} is retired and cannot be changed.` })
          const above = parent === undefined ? before.parent : parent === null ? null : yield* parentOf(before, parent)
          const { called: former, ...rest } = before
          // Elsewhere it goes by its whole name, which nobody else has.
          const near = called ?? (above === before.parent ? former : undefined)
          const after = new Agent({
            ...rest,
            ...changes,
            parent: above,
            ...(near === undefined ? {} : { called: near }),
          })
          const named = (Object.keys(plain) as ReadonlyArray<keyof Profile>).filter(
            (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
          )
          if (named.length === 0) return before
          const { gate, limits, model, persona, role, thinker } = after
          const autoWake = after.autoWake ? "on" : "off"
          const profile = {
            persona,
            model,
            limits,
            thinker,
            role,
            autoWake,
            gate,
            parent: above,
            called: near ?? null,
          } as const
          const row = { principal: after.id, ...encode(profile) }
          yield* Effect.orDie(sql`INSERT INTO agents ${sql.insert(row)} ON CONFLICT (principal) DO UPDATE SET
            persona = excluded.persona, model = excluded.model, limits = excluded.limits,
            thinker = excluded.thinker, role = excluded.role, auto_wake = excluded.auto_wake, gate = excluded.gate,
            parent = excluded.parent, called = excluded.called`)
          const moved = named.includes("parent") ? { parent: above } : {}
          yield* journal.append({ kind: "principal.changed", body: { principal: after.id, changes: named, ...moved } })
          // The rules of the agents above apply to it.
          if (named.includes("parent")) yield* Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
          return after
        })

        const columns = sql.literal(
          "p.*, a.persona, a.model, a.limits, a.thinker, a.role, a.auto_wake, a.gate, a.parent, a.called, a.principal",
        )
        const agentFrom = (row: { readonly principal: string | null }): Agent => {
          return agentOf(principalFromRow(row), row.principal === null ? plain : decode(row))
        }

        const team: Agents["Service"]["team"] = Effect.fnUntraced(function* (agent) {
          const rows = yield* sql<{ principal: string }>`SELECT ${columns} FROM agents a
            JOIN principals p ON p.id = a.principal WHERE a.parent = ${agent} AND p.retired_at IS NULL ORDER BY p.id`
          return rows.map(agentFrom)
        }, Effect.orDie)

        const living: Agents["Service"]["living"] = sql<{
          principal: string | null
        }>`SELECT ${columns} FROM principals p
          LEFT JOIN agents a ON a.principal = p.id WHERE p.kind = 'agent' AND p.retired_at IS NULL ORDER BY p.id`.pipe(
          Effect.map((rows) => rows.map(agentFrom)),
          Effect.orDie,
        )

        return Agents.of({ get, find, findToWake, shown, getCached, change, team, living })
      }),
    )
}
