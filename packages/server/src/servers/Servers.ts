/**
 * The MCP servers that the house is a client of: which there are, whether they are connected, and which of their tools
 * may be called.
 */
import {
  type MCPServerLine,
  type MCPServerLook,
  type MCPServerSpec,
  type MCPServerState,
  type MCPServerTool,
  Missing,
  NameTaken,
  type NewMCPServer,
  OwnedByFile,
  type Page,
  type PrincipalId,
  WrongState,
} from "@stoa/contract"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makeReveal } from "../access/secrets/Reveal.ts"
import { IdempotencyKeys, type KeyedRequest } from "../access/identity/IdempotencyKeys.ts"
import { nameKey } from "../access/identity/Principals.ts"
import { Secrets } from "../access/secrets/Secrets.ts"
import { newId } from "../store/journal/Correlation.ts"
import { Deltas } from "../store/journal/signals/Deltas.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { Notices } from "../store/journal/signals/Notices.ts"
import { type AppliedServers, declareServers, type DeclaredServer } from "./declare.ts"
import type { ConnectedServer } from "./connectedServer.ts"
import type { ContentsChange } from "./contents/lists.ts"
import { waitUntilConnected, stateOf, type ServerTool } from "./connections/entry.ts"
import { withLeftOut } from "./tools/leftOut.ts"
import { tryServer, unconfirmed } from "./look.ts"
import { programOf, programText } from "./program.ts"
import { makePool, type AbandonedCall } from "./connections/pool.ts"
import { makeRows } from "./rows.ts"

export type { DeclaredServer } from "./declare.ts"
export type { ConnectedServer } from "./connectedServer.ts"
export type { ContentsChange } from "./contents/lists.ts"
export type { ServerTool } from "./connections/entry.ts"

/** How long a create waits for its server. After that, connecting continues in the background. */
const maxWait = "10 seconds"
const channel = "mcp_servers"

export class Servers extends Context.Service<
  Servers,
  {
    /** Stores it, and waits a while for its connection. `first` is false for a repeated request. */
    readonly add: (
      wanted: NewMCPServer,
      request?: KeyedRequest,
    ) => Effect.Effect<{ readonly server: MCPServerState; readonly first: boolean }, NameTaken | WrongState>
    /**
     * Only looks, for ten seconds at most: stores nothing. A program is not run, but shown, unless `confirm` is the digest
     * of exactly this program; that it was run is recorded.
     */
    readonly look: (wanted: NewMCPServer, confirm?: string) => Effect.Effect<MCPServerLook>
    /** Its last log lines and the events of its connection; oldest first. */
    readonly log: (ref: string) => Effect.Effect<Page<MCPServerLine>, Missing>
    /** Ends the connection and its program, and deletes its tools and their pins. */
    readonly remove: (ref: string) => Effect.Effect<void, Missing | OwnedByFile>
    readonly get: (ref: string) => Effect.Effect<MCPServerState, Missing>
    readonly list: Effect.Effect<Page<MCPServerState>>
    /** A person has reviewed the new definition of a changed tool, and accepts it. */
    readonly accept: (ref: string, tool: string, seen: string) => Effect.Effect<MCPServerState, Missing | WrongState>
    /** The pins of its tools, including tools it no longer lists, held ones, and those that are left out. */
    readonly pinned: (ref: string) => Effect.Effect<Page<MCPServerTool>, Missing>
    /** All servers that the configuration file declares: those no longer in it are removed. */
    readonly declare: (
      servers: ReadonlyArray<DeclaredServer>,
    ) => Effect.Effect<AppliedServers, { readonly path: string; readonly message: string }, Transaction>
    /** How many servers the file owns. */
    readonly declared: Effect.Effect<number>
    /** Connects and disconnects what the rows and the pauses say now. A paused server is disconnected. */
    readonly follow: Effect.Effect<void>
    /** Waits a while for a server about which nothing is known yet, so that its contents are there. */
    readonly shown: (name: string) => Effect.Effect<void>
    /** Whether a server of this name may still connect: it has not been dialled since the house started, or failed. */
    readonly isExpected: (name: string) => boolean
    /** Returns when a server of this name has been dialled, with whatever result, or when there is none to dial. */
    readonly dialled: (name: string) => Effect.Effect<void>
    /** Connects everything, in the background. Called once, when the file is in force. */
    readonly open: Effect.Effect<void>
    /** The tools that may be called now, in a stable order. The same array until something changes. */
    readonly tools: () => ReadonlyArray<ServerTool>
    /** Called at once after each change of `tools`. */
    readonly onChange: (tell: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** The known servers, with what they have besides tools, by name. */
    readonly connected: () => ReadonlyArray<ConnectedServer>
    /** Rises with each change of what servers have besides tools. */
    readonly offering: () => number
    readonly onOffer: (hear: (offering: ContentsChange) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Gives up a call that has asked something: its server is told, even if it has made a task of it. */
    readonly hangUp: (call: string, asked?: AbandonedCall) => Effect.Effect<void>
    /**
     * Reports a held call whose server is gone, together with its question. Not through the journal, because only the
     * process that held it knows, and nothing has happened to the call yet.
     */
    readonly onLost: (hear: (call: string) => void) => void
    /** Checked again at each call: a listed tool may be forbidden by now (S1-88). */
    readonly allowed: (server: string, tool: string, owner?: PrincipalId | null) => boolean
  }
>()("server/servers/Servers") {
  static readonly layer = (configFile: string) =>
    Layer.effect(
      Servers,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const notices = yield* Notices
        const secrets = yield* Secrets
        const keys = yield* IdempotencyKeys
        const rows = makeRows(sql, secrets)
        const reveal = yield* makeReveal
        const deltas = yield* Deltas
        const pool = yield* makePool(rows, reveal)
        yield* notices.listen(channel, pool.nudge)
        const noticed = Effect.orDie(notices.send(channel))

        const taken = Effect.fnUntraced(function* (name: string) {
          // If an agent has its own server of this name, the agent would have two tools of one name (S1-87).
          const all = yield* rows.all
          return all.some((one) => nameKey(one.name) === nameKey(name))
        })

        const insert = Effect.fnUntraced(function* (
          { name, ...spec }: NewMCPServer,
          request: KeyedRequest | undefined,
        ) {
          const before = request === undefined ? undefined : yield* keys.claim(request)
          if (before !== undefined) return { id: Buffer.from(before).toString("utf8"), first: false }
          if (yield* taken(name)) return yield* new NameTaken({ noun: "MCP server", name })
          const id = newId<string>("srv")
          const row = { id, name, spec: spec satisfies MCPServerSpec, source: "house" as const, owner: null }
          yield* Effect.catchReason(rows.insert(row), "SqlError", "UniqueViolation", () =>
            Effect.fail(new NameTaken({ noun: "MCP server", name })),
          ).pipe(Effect.catchTag("SqlError", Effect.die))
          const program = programText(spec)
          yield* journal.append({
            kind: "server.added",
            body: { server: name, owner: null, ...(program === undefined ? {} : { program }) },
          })
          if (request !== undefined) yield* keys.keep(request, Buffer.from(id, "utf8"))
          yield* noticed
          return { id, first: true }
        })

        const add: Servers["Service"]["add"] = Effect.fn("Servers.add")(function* (wanted, request) {
          const { first, id } = yield* journal.transact(insert(wanted, request))
          yield* pool.follow
          const entry = pool.entries.get(id)
          if (entry === undefined) return yield* new WrongState({ detail: `"${wanted.name}" was removed meanwhile.` })
          const settled = yield* Effect.timeoutOption(Deferred.await(entry.first), maxWait)
          if (settled._tag === "None")
            yield* pool.late(entry, `it did not answer within ${maxWait}; the house keeps trying`)
          return { server: stateOf(entry), first }
        })

        const find = Effect.fnUntraced(function* (ref: string) {
          const all = [...pool.entries.values()]
          const named = all.filter((one) => one.server.id === ref || nameKey(one.server.name) === nameKey(ref))
          const entry = named.find((one) => one.server.owner === null) ?? (named.length === 1 ? named[0] : undefined)
          return entry ?? (yield* new Missing({ noun: "MCP server", ref }))
        })

        const remove: Servers["Service"]["remove"] = Effect.fn("Servers.remove")(function* (ref) {
          const { id, name, owner, source } = (yield* find(ref)).server
          if (source === "file") return yield* new OwnedByFile({ noun: "MCP server", name, file: configFile })
          yield* journal.transact(
            Effect.gen(function* () {
              yield* rows.remove(id)
              yield* journal.append({ kind: "server.removed", body: { server: name, owner } })
              yield* noticed
            }),
          )
          yield* pool.followed
        })

        const accept: Servers["Service"]["accept"] = Effect.fn("Servers.accept")(function* (ref, tool, seen) {
          const { id, name, owner } = (yield* find(ref)).server
          yield* journal.transact(
            Effect.gen(function* () {
              const digest = yield* rows.accept(id, tool, seen)
              if (digest === undefined)
                return yield* new WrongState({
                  detail: `${name} has no held tool "${tool}" with this digest. It has changed again or was accepted already; list the tools again.`,
                })
              yield* journal.append({ kind: "server.tool-accepted", body: { server: name, owner, tool, digest } })
              yield* noticed
            }),
          )
          yield* pool.follow
          return stateOf(yield* find(id))
        })

        const look: Servers["Service"]["look"] = Effect.fn("Servers.look")(function* (wanted, confirm) {
          const program = programOf(wanted)
          if (program !== undefined && confirm !== program.digest) return unconfirmed(wanted.name, program)
          const text = programText(wanted)
          // Recorded before it runs: a program that kills the house has been recorded, too.
          if (text !== undefined)
            yield* journal.transact(
              journal.append({ kind: "server.tried", body: { server: wanted.name, owner: null, program: text } }),
            )
          return yield* tryServer(wanted, reveal, deltas)
        })

        const declare: Servers["Service"]["declare"] = Effect.fn("Servers.declare")(function* (servers) {
          const done = yield* declareServers(rows, journal, servers)
          if (done.added.length + done.changed.length + done.retired.length > 0) yield* noticed
          return done
        })

        return Servers.of({
          add,
          look,
          log: (ref) => Effect.map(find(ref), ({ lines }) => ({ items: lines.all, next: null })),
          remove,
          get: Effect.fn("Servers.get")((ref) => Effect.map(find(ref), stateOf)),
          list: Effect.sync(() => ({
            items: [...pool.entries.values()]
              .map(stateOf)
              .toSorted((a, b) => (nameKey(a.name) < nameKey(b.name) ? -1 : 1)),
            next: null,
          })),
          accept,
          pinned: Effect.fn("Servers.pinned")((ref) =>
            Effect.flatMap(find(ref), ({ leftOut, server }) =>
              Effect.map(rows.tools(server.id), (items) => ({ items: withLeftOut(items, leftOut), next: null })),
            ),
          ),
          declare,
          declared: Effect.map(rows.all, (all) => all.filter((one) => one.source === "file").length),
          follow: pool.follow,
          shown: (name) =>
            Effect.forEach(
              [...pool.entries.values()].filter((one) => nameKey(one.server.name) === nameKey(name)),
              (entry) => (entry.protocol === null ? waitUntilConnected(entry) : Effect.void),
              { discard: true },
            ),
          isExpected: pool.isExpected,
          dialled: pool.dialled,
          open: pool.open,
          tools: pool.tools,
          onChange: pool.onChange,
          connected: pool.connected,
          offering: pool.offering,
          onOffer: pool.onOffer,
          hangUp: pool.hangUp,
          onLost: pool.onLost,
          allowed: (server, tool, owner = null) => pool.allowed(server, tool, owner),
        })
      }),
    )
}
