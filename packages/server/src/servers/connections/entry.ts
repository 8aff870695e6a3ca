/** A server in the pool: its row, its connection, what it lists, and what is offered of that. */
import { MCPServerState, type PrincipalId } from "@stoa/contract"
import { type MCPConnection, type MCPTool, Redactor, type Tool } from "@stoa/tools"
import type { MCPCall } from "../InputRequired.ts"
import { Deferred, Effect, type Scope } from "effect"
import { type LeftOut, nothingLeftOut, shownLeftOut } from "../tools/leftOut.ts"
import { ContentLists } from "../contents/lists.ts"
import type { Offer, Pin } from "../tools/pins.ts"
import { plainSecrets, urlWithoutQuery, silenceMsOf } from "./connectionConfig.ts"
import type { Deltas } from "../../store/journal/signals/Deltas.ts"
import { ServerLog } from "./serverLog.ts"
import type { Server } from "../rows.ts"

export interface ServerTool {
  readonly server: string
  /** The agent that owns its server; null: the house does. */
  readonly owner: PrincipalId | null
  readonly tool: Tool<MCPCall>
  /**
   * Identifies the server and its program or address: an approval does not carry over to another server of the same
   * name.
   */
  readonly targetDigest: string
  /** Since when its present definition has been pinned. */
  readonly pinnedAt: string
  readonly onlyForApps?: true
  /** Nobody has reviewed its schema: it is validated under a deadline. */
  readonly reviewed: false
}

export interface Entry {
  readonly server: Server
  /** Removes the secrets it was sent from everything it says. */
  readonly redactor: Redactor
  /** Done when the first attempt since its start has ended, with either result. */
  first: Deferred.Deferred<void>
  status: MCPServerState["status"]
  version: string | null
  protocol: string | null
  error: string | undefined
  connection: MCPConnection | undefined
  listed: ReadonlyArray<MCPTool>
  leftOut: LeftOut
  pins: Map<string, Pin>
  offer: Offer
  callable: ReadonlySet<string>
  /** When it last reported other tools. */
  toldAt: number
  /** A digest of what is offered: if it differs, listeners are told. */
  signature: string
  tools: ReadonlyArray<ServerTool>
  readonly contents: ContentLists
  /** Its last log lines. */
  readonly lines: ServerLog
  /** Present while it should be connected. */
  scope: Scope.Closeable | undefined
}

/** How long a request waits for a server that is connecting. */
const maxWait = "5 seconds"

/** Waits a while for a server that is starting. */
export const waitUntilConnected = (entry: Entry): Effect.Effect<void> =>
  Effect.suspend(() =>
    isStarting(entry) ? Effect.asVoid(Effect.timeoutOption(Deferred.await(entry.first), maxWait)) : Effect.void,
  )
export const isStarting = ({ first, scope }: Entry): boolean => scope !== undefined && !Deferred.isDoneUnsafe(first)

export const emptyOffer: Offer = { tools: [], held: [], missing: [] }
const sealedElsewhere =
  "its connection details were encrypted with another key; start with the right one (STOA_SECRET_KEY, or secret.key of the data folder), or add it again"

export const newEntry = (server: Server, deltas: Deltas["Service"]): Entry => ({
  server,
  redactor: new Redactor(server.spec === undefined ? [] : plainSecrets(server.spec)),
  first: Deferred.makeUnsafe(),
  status: server.spec === undefined ? "error" : "disconnected",
  version: null,
  protocol: null,
  error: server.spec === undefined ? sealedElsewhere : undefined,
  connection: undefined,
  listed: [],
  leftOut: nothingLeftOut,
  pins: new Map(),
  offer: emptyOffer,
  callable: new Set(),
  toldAt: -Infinity,
  signature: "",
  tools: [],
  contents: new ContentLists(),
  lines: new ServerLog(server.name, deltas),
  scope: undefined,
})

export const stateOf = (entry: Entry): MCPServerState => {
  const { createdAt, id, name, owner, source, spec, transport } = entry.server
  return new MCPServerState({
    id,
    name,
    status: entry.status,
    version: entry.version,
    protocol: entry.protocol,
    tools: entry.tools.map(({ tool }) => tool.definition.name.slice(name.length + 1)),
    held: entry.offer.held,
    missing: entry.status === "connected" ? entry.offer.missing : [],
    leftOut: entry.scope === undefined ? [] : shownLeftOut(entry.leftOut, Object.values(entry.contents.dropped).flat()),
    ...(entry.error === undefined ? {} : { error: entry.error }),
    transport,
    ...(spec?.command === undefined ? {} : { command: spec.command }),
    ...(spec?.url === undefined ? {} : { url: urlWithoutQuery(spec.url) }),
    allowedTools: spec?.allowedTools ?? [],
    review: spec?.review ?? "hold",
    timeoutSeconds: silenceMsOf(spec) / 1000,
    owner,
    source,
    createdAt,
  })
}
