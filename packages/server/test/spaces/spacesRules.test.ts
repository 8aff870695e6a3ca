/**
 * Every act in a space, on every face that has it, by everybody who can stand to a space: one answer. What is right is said
 * by a table of this file, which knows nothing of the house's own.
 */
import { assert, layer } from "@effect/vitest"
import type { Principal } from "@stoa/contract"
import type { Stoa, StoaError } from "@stoa/sdk"
import { Effect, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/access/identity/Agents.ts"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Messages } from "../../src/spaces/messages/Messages.ts"
import type { Act as Ruled } from "../../src/spaces/rules.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { ChatSessions } from "../../src/sessions/ChatSessions.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { databases, isLong } from "../../../../test/long.ts"
import { ask, Guest, house } from "../house.ts"
import { envelope, newRequest, oldRequest, opened } from "../mcp/mcpKit.ts"
import { config, setRules } from "../runs/runsKit.ts"
import { call, fresh, listen, type Someone } from "./spacesGuests.ts"
import { untried } from "./spacesReach.ts"

// A watcher may read all events; one that is barred has that right too, and a rule that denies it these spaces.
const standings = [
  "owner",
  "member",
  "stranger",
  "admin",
  "guest",
  "unread",
  "mute",
  "asking",
  "watcher",
  "barred",
] as const
type Standing = (typeof standings)[number]
const agents: ReadonlyArray<Standing> = ["member", "stranger", "unread", "mute", "watcher", "barred"]
const kinds = ["public", "private", "dm", "team"] as const
type Kind = (typeof kinds)[number]
type Outcome = "done" | "unseen" | "refused" | "state"

const inside = (who: Standing): boolean => ["owner", "member", "unread", "mute", "asking"].includes(who)
const speaks = (who: Standing, kind: Kind): boolean => kind === "public" || inside(who)
const owns = (who: Standing): boolean => who === "owner" || who === "admin"
const belongs = (who: Standing): boolean => inside(who) || who === "admin"
const everybody = () => true

interface Right {
  readonly who: (who: Standing, kind: Kind) => boolean
  /** The right to read is enough. */
  readonly quiet?: true
  readonly archived?: true
  readonly members?: true
}
const rights = {
  see: { who: everybody, quiet: true, archived: true },
  mark: { who: inside, quiet: true, archived: true },
  enter: { who: inside },
  post: { who: speaks },
  call: { who: speaks },
  type: { who: speaks },
  react: { who: speaks },
  unreact: { who: speaks },
  editOwn: { who: speaks },
  editOther: { who: () => false },
  removeOwn: { who: (who, kind) => speaks(who, kind) || owns(who) },
  removeOther: { who: owns },
  pin: { who: (who, kind) => speaks(who, kind) || who === "admin" },
  topic: { who: belongs },
  rename: { who: owns },
  archive: { who: owns },
  restore: { who: owns, archived: true },
  invite: { who: belongs, members: true },
  expel: { who: owns, members: true },
  leave: { who: belongs, members: true },
  join: { who: (who, kind) => kind === "public" || belongs(who), members: true },
} as const satisfies Record<string, Right>
type Act = keyof typeof rights
const acts = Object.keys(rights) as ReadonlyArray<Act>

/** Every act of the house's table has its rows here: a new one does not compile before it is tried. */
const tries: Record<Ruled, readonly [Act, ...ReadonlyArray<Act>]> = {
  see: ["see"],
  mark: ["mark"],
  enter: ["enter"],
  post: ["post"],
  call: ["call"],
  type: ["type"],
  react: ["react", "unreact"],
  edit: ["editOwn", "editOther"],
  remove: ["removeOwn", "removeOther"],
  pin: ["pin"],
  topic: ["topic"],
  change: ["rename", "archive"],
  restore: ["restore"],
  join: ["join"],
  invite: ["invite"],
  leave: ["leave"],
  expel: ["expel"],
}

/** What was asked, to know that nothing was left out: requests, methods as `MCP name`, and tools as `set name`. */
const asked = new Set<string>()

/** What is right. */
const model = (act: Act, who: Standing, kind: Kind, archived: boolean): Outcome => {
  if (["guest", "unread", "barred"].includes(who) || !(speaks(who, kind) || who === "admin")) return "unseen"
  const right: Right = rights[act]
  if (right.quiet !== true && (who === "mute" || who === "asking")) return "refused"
  if (!right.who(who, kind)) return "refused"
  if (right.members === true && kind === "dm") return "state"
  return archived && right.archived !== true ? "state" : "done"
}

/**
 * The right to read all events shows those of every space that no rule denies, on the feed of the house; it opens no space
 * (docs/user/rights.md).
 */
const onFace = (face: string, who: Standing, right: Outcome): Outcome =>
  face === "feed of the house" && who === "watcher" ? "done" : right

/** One space in one state, with what was said there. */
interface Cell {
  readonly me: Someone
  readonly space: string
  readonly other: string
  readonly own: string
  readonly guest: string
  readonly tool: string
  /** The chat session that has its messages here: of a private space. */
  readonly session: string
  /** The name of the agent that every other one works for. */
  readonly parent: string
  /** The other one of a dm, an agent. */
  readonly partner: string
  /** The end of the journal before it was opened. */
  readonly from: number
}

const http = (method: string, path: (cell: Cell) => string, body?: object | ((cell: Cell) => object)) =>
  Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
    const payload = typeof body === "function" ? body(cell) : body
    asked.add(`${method} /api/v1${path(cell)}`)
    const { body: said, status } = yield* call(cell.me, method, path(cell), payload)
    return outcomeOf(status, said)
  })
const outcomeOf = (status: number, said: Record<string, unknown> | undefined): Outcome => {
  if (status < 300 && said?.["state"] !== "failed") return "done"
  if (status === 404 || (status === 403 && said?.["action"] === "read")) return "unseen"
  if (status === 403) return "refused"
  assert.strictEqual(status, 409, JSON.stringify(said))
  return "state"
}
/** A tool of a toolset, over MCP. */
const tool = (set: string, name: string, input: (cell: Cell) => object, placed = false) =>
  Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
    const { url } = yield* Guest
    asked.add(`${set} ${name}`).add("MCP tools/call")
    const meta = placed ? { meta: { "stoa/space": cell.space } } : {}
    const answer = yield* ask(() =>
      newRequest(`${url}/mcp/${set}`, cell.me.token, "tools/call", { name, arguments: input(cell) }, meta),
    )
    const { error, result } = answer.body as { error?: { message: string }; result?: { isError?: boolean } }
    if (error === undefined && result?.isError !== true) return "done"
    const text = JSON.stringify(answer.body)
    if (/There is no|You may not read/.test(text)) return "unseen"
    if (/You may not/.test(text)) return "refused"
    assert.match(text, /archived/)
    return "state"
  })
const resource = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  const { url } = yield* Guest
  asked.add("MCP resources/read")
  const uri = `stoa://spaces/${cell.space}`
  const { body } = yield* ask(() => newRequest(`${url}/mcp/stoa`, cell.me.token, "resources/read", { uri }))
  return (body as { error?: unknown }).error === undefined ? "done" : "unseen"
})

/** Whether its changes may be watched as those of a resource, in the old way and in the new one. */
const subscription = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  const { url } = yield* Guest
  asked.add("MCP resources/subscribe")
  const uri = `stoa://spaces/${cell.space}`
  const { body } = yield* ask(() => oldRequest(`${url}/mcp/stoa`, cell.me.token, "resources/subscribe", { uri }))
  return (body as { error?: unknown }).error === undefined ? "done" : "unseen"
})
const listening = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  const { url } = yield* Guest
  asked.add("MCP subscriptions/listen")
  const notifications = { resourceSubscriptions: [`stoa://spaces/${cell.space}`] }
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" }
  const said = yield* ask(async () => {
    const params = { notifications, _meta: envelope() }
    const stream = await opened(`${url}/mcp/stoa`, cell.me.token, undefined, "subscriptions/listen", params, headers)
    const { data } = await stream.next()
    await stream.close()
    return (data as { params: { notifications: object } }).params.notifications
  })
  return "resourceSubscriptions" in said ? "done" : "unseen"
})

/** What an explanation says of a call there. */
const explained = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  asked.add("GET /api/v1/judge")
  const query = new URLSearchParams({ action: "execute", resource: `tools/${cell.tool}`, explain: "true" })
  const { body } = yield* call(cell.me, "GET", `/judge?${query}&space=${cell.space}`)
  const gates = body["gates"] as ReadonlyArray<{ gate: string; passes: boolean; words: string }>
  const { passes, words } = gates.find(({ gate }) => gate === "space")!
  if (passes) return "done"
  return words.includes("cannot see") ? "unseen" : words.includes("archived") ? "state" : "refused"
})

/** An agent is sent there by an admin: it is the agent that needs the right. */
const triggered = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  const { adminToken } = yield* Guest
  const path = `/agents/${cell.me.id}/trigger`
  asked.add(`POST /api/v1${path}`)
  const work = { text: "go there", space: cell.space }
  const { body, status } = yield* call({ token: adminToken } as Someone, "POST", path, work)
  return outcomeOf(status, body)
})

/** Whether it may be followed live: the stream is left as soon as it begins. */
const feed = Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
  const { url } = yield* Guest
  const { body, status } = yield* ask(async () => {
    const stop = new AbortController()
    const headers = { authorization: `Bearer ${cell.me.token}` }
    asked.add(`GET /api/v1/spaces/${cell.space}/events`)
    const answer = await fetch(`${url}/api/v1/spaces/${cell.space}/events`, { headers, signal: stop.signal })
    const body = answer.ok ? undefined : ((await answer.json()) as Record<string, unknown>)
    stop.abort()
    return { status: answer.status, body }
  })
  return outcomeOf(status, body)
})

/** The client, which the CLI and the page use too: it has no rule of its own, and hides no refusal. */
const sdk = (does: (client: Stoa, cell: Cell) => Promise<unknown>) =>
  Effect.fnUntraced(function* (cell: Cell): Effect.fn.Return<Outcome, never, Guest> {
    return yield* ask(() =>
      does(cell.me.client, cell).then(
        () => "done" as const,
        (error: StoaError) => outcomeOf(error.status, error.problem),
      ),
    )
  })

/** What the feed of the whole house shows of it: up to the event of a new token, everything before it has come. */
const houseFeed = Effect.fnUntraced(function* (
  cell: Cell,
): Effect.fn.Return<Outcome, never, Guest | Journal | Tokens | Scope.Scope> {
  const stream = yield* Effect.orDie(listen(cell.me, { after: cell.from }))
  if (stream.status !== 200) return "unseen"
  const { id } = yield* Effect.orDie(
    (yield* Journal).transact((yield* Tokens).issue({ principal: cell.me.principal.id })),
  )
  for (let found: Outcome = "unseen"; ;) {
    const { data, event } = yield* stream.next
    if (data?.body?.["token"] === id) return found
    if (event === "message.created" && data?.space === cell.space) found = "done"
  }
}, Effect.scoped)

type Face = (cell: Cell) => Effect.Effect<Outcome, never, Guest | Journal | Tokens>
const spacePath = (cell: Cell) => `/spaces/${cell.space}`
const patch = (change: object): Face => http("PATCH", spacePath, change)

const faces: Record<Act, Record<string, Face>> = {
  see: {
    http: http("GET", spacePath),
    messages: http("GET", (cell) => `/spaces/${cell.space}/messages`),
    message: http("GET", (cell) => `/messages/${cell.other}`),
    history: http("GET", (cell) => `/messages/${cell.other}/history`),
    search: http("GET", (cell) => `/messages?q=said&space=${cell.space}`),
    "stoa read_messages": tool("stoa", "read_messages", (cell) => ({ space: cell.space })),
    "stoa list_members": tool("stoa", "list_members", (cell) => ({ space: cell.space })),
    "stoa search_messages": tool("stoa", "search_messages", (cell) => ({ space: cell.space, query: "said" })),
    "stoa wait_for_messages": tool("stoa", "wait_for_messages", (cell) => ({ space: cell.space, seconds: 0 })),
    resource,
    subscription,
    listening,
    runs: http("GET", (cell) => `/runs?space=${cell.space}`),
    session: http("GET", (cell) => `/chat-sessions/${cell.session}`),
    "messages of a session": http("GET", (cell) => `/chat-sessions/${cell.session}/messages`),
    feed,
    "feed of the house": houseFeed,
  },
  mark: {
    http: http("PUT", (cell) => `/spaces/${cell.space}/read`, { seq: 1 }),
    stoa: tool("stoa", "mark_read", (cell) => ({ space: cell.space, seq: 1 })),
  },
  // Only the strict face has it.
  enter: {},
  post: {
    http: http("POST", (cell) => `/spaces/${cell.space}/messages`, { text: "hello" }),
    reply: http(
      "POST",
      (cell) => `/spaces/${cell.space}/messages`,
      (cell) => ({ text: "hello", replyTo: cell.other }),
    ),
    stoa: tool("stoa", "post_message", (cell) => ({ space: cell.space, text: "hello" })),
    office: tool("office", "send_message", (cell) => ({ channelId: cell.space, text: "hello" })),
    "message of a session": http("POST", (cell) => `/chat-sessions/${cell.session}/messages`, { text: "hello" }),
    say: http("POST", (cell) => `/agents/${cell.partner}/say`, { text: "hello" }),
    "mail to a parent": tool("team", "send_message", (cell) => ({
      recipient: cell.parent,
      text: "hello",
      sync: false,
    })),
    "mail to siblings": tool("team", "broadcast", () => ({ text: "hello" })),
    "mail at the end": tool("team", "complete", () => ({ result: "done" })),
  },
  call: {
    http: http(
      "POST",
      (cell) => `/tools/${cell.tool}/call`,
      (cell) => ({ input: {}, space: cell.space }),
    ),
    dryRun: http(
      "POST",
      (cell) => `/tools/${cell.tool}/call`,
      (cell) => ({ input: {}, space: cell.space, dryRun: true }),
    ),
    mcp: tool("stoa", "whoami", () => ({}), true),
    explained,
    triggered,
  },
  type: { http: http("POST", (cell) => `/spaces/${cell.space}/typing`) },
  react: {
    http: http("PUT", (cell) => `/messages/${cell.other}/reactions/%F0%9F%91%8B`),
    stoa: tool("stoa", "react", (cell) => ({ message: cell.other, emoji: "👋" })),
    office: tool("office", "react_to_message", (cell) => ({ messageId: cell.other, emoji: "👋" })),
  },
  unreact: { http: http("DELETE", (cell) => `/messages/${cell.other}/reactions/%F0%9F%91%8B`) },
  editOwn: { http: http("PATCH", (cell) => `/messages/${cell.own}`, { text: "said better" }) },
  editOther: { http: http("PATCH", (cell) => `/messages/${cell.other}`, { text: "said worse" }) },
  removeOwn: { http: http("DELETE", (cell) => `/messages/${cell.own}`) },
  removeOther: { http: http("DELETE", (cell) => `/messages/${cell.other}`) },
  pin: {
    http: http("PUT", (cell) => `/messages/${cell.other}/pin`),
    off: http("DELETE", (cell) => `/messages/${cell.other}/pin`),
  },
  topic: { http: patch({ topic: "ships" }) },
  rename: {
    http: http("PATCH", spacePath, () => ({ name: fresh("table") })),
    trigger: patch({ trigger: "human-all" }),
  },
  archive: { http: patch({ archived: true }) },
  restore: { http: patch({ archived: false }) },
  invite: { http: http("PUT", (cell) => `/spaces/${cell.space}/members/${cell.guest}`) },
  expel: { http: http("DELETE", (cell) => `/spaces/${cell.space}/members/${cell.guest}`) },
  leave: { http: http("DELETE", (cell) => `/spaces/${cell.space}/members/${cell.me.id}`) },
  join: { http: http("PUT", (cell) => `/spaces/${cell.space}/members/${cell.me.id}`) },
}
/** Faces that only some have, or only in some kinds of space. */
const only: Readonly<Record<string, (who: Standing, kind: Kind) => boolean>> = {
  session: (_, kind) => kind === "private",
  "messages of a session": (_, kind) => kind === "private",
  "message of a session": (_, kind) => kind === "private",
  // Whoever has no dm with the agent gets one; and agents have their mail.
  say: (who, kind) => kind === "dm" && inside(who) && !agents.includes(who),
  "mail to a parent": (who, kind) => kind === "team" && inside(who) && agents.includes(who),
  "mail to siblings": (who, kind) => kind === "team" && inside(who) && agents.includes(who),
  "mail at the end": (who, kind) => kind === "team" && inside(who) && agents.includes(who),
  triggered: (who) => agents.includes(who),
}
/** What only the owner of a session may do with it, whatever the space allows; an admin is none. */
const ofSession: Record<string, Face> = {
  rename: http("PATCH", (cell) => `/chat-sessions/${cell.session}`, { title: "ships" }),
  remove: http("DELETE", (cell) => `/chat-sessions/${cell.session}`),
}
/** The same acts through the client. Whoever is refused is refused by the house, so one kind and state are enough. */
const bySdk: Record<Exclude<Act, "enter">, Face> = {
  see: sdk((client, { space }) => client.spaces.get(space)),
  mark: sdk((client, { space }) => client.spaces.read(space, { seq: 1 })),
  post: sdk((client, { space }) => client.spaces.post(space, { text: "hello" })),
  call: sdk((client, { space, tool }) => client.tools.call(tool, { input: {}, space })),
  type: sdk((client, { space }) => client.spaces.typing(space)),
  react: sdk((client, { other }) => client.messages.react(other, "👋")),
  unreact: sdk((client, { other }) => client.messages.unreact(other, "👋")),
  editOwn: sdk((client, { own }) => client.messages.edit(own, { text: "said better" })),
  editOther: sdk((client, { other }) => client.messages.edit(other, { text: "said worse" })),
  removeOwn: sdk((client, { own }) => client.messages.remove(own)),
  removeOther: sdk((client, { other }) => client.messages.remove(other)),
  pin: sdk((client, { other }) => client.messages.pin(other)),
  topic: sdk((client, { space }) => client.spaces.change(space, { topic: "ships" })),
  rename: sdk((client, { space }) => client.spaces.change(space, { name: fresh("table") })),
  archive: sdk((client, { space }) => client.spaces.change(space, { archived: true })),
  restore: sdk((client, { space }) => client.spaces.change(space, { archived: false })),
  invite: sdk((client, { guest, space }) => client.spaces.addMember(space, guest)),
  expel: sdk((client, { guest, space }) => client.spaces.removeMember(space, guest)),
  leave: sdk((client, { me, space }) => client.spaces.removeMember(space, me.id)),
  join: sdk((client, { me, space }) => client.spaces.addMember(space, me.id)),
}
/** After these a space is another: they get one of their own. */
const lasting: ReadonlyArray<Act> = [
  "removeOwn",
  "removeOther",
  "archive",
  "restore",
  "expel",
  "leave",
  "join",
  "invite",
]
/** Seed 001 is strict: on its face only members see a space, of whatever kind (S1-38, S1-51). */
const strict: Record<"see" | "enter" | "post" | "reply", Face> = {
  see: tool("gateway", "read_messages", (cell) => ({ spaceId: cell.space })),
  enter: tool("gateway", "enter_space", (cell) => ({ spaceId: cell.space })),
  post: tool("gateway", "send_message", () => ({ text: "hello" }), true),
  reply: tool("gateway", "send_reply", (cell) => ({ text: "hello", replyToMessageId: cell.other }), true),
}

const people = Effect.gen(function* () {
  const { as } = yield* Guest
  const { transact } = yield* Journal
  const [principals, grants, tokens] = [yield* Principals, yield* Grants, yield* Tokens]
  const toolsets = ["stoa", "office", "gateway", "team"] as const
  const make = Effect.fnUntraced(function* (
    standing: string,
    kind: Principal["kind"],
    roles?: Principal["roles"],
    ...more: ReadonlyArray<object>
  ) {
    const name = fresh(standing)
    const wanted = { kind, name, toolsets, ...(roles === undefined ? {} : { roles }) }
    const principal = yield* Effect.orDie(transact(principals.add(wanted as never)))
    const { token } = yield* Effect.orDie(transact(tokens.issue({ principal: principal.id, context: "agent" })))
    const rules = [{ resource: "tools/*", actions: ["execute"] }, ...more]
    for (const rule of rules) yield* Effect.orDie(transact(grants.add({ principal: principal.id, ...rule } as never)))
    if (kind === "agent") yield* Effect.orDie(transact((yield* Agents).change(principal.id, { model: "demo" })))
    return { id: principal.id, name, token, client: as(token), principal } satisfies Someone
  })
  const denied = (action: string, effect: string) => ({ resource: "spaces/table-*", actions: [action], effect })
  const watching = { resource: "events/*", actions: ["read"] }
  const all: Record<Standing, Someone> = {
    owner: yield* make("owner", "person"),
    member: yield* make("member", "agent"),
    stranger: yield* make("stranger", "agent"),
    admin: yield* make("boss", "person", ["admin"]),
    guest: yield* make("guest", "service"),
    unread: yield* make("unread", "agent", undefined, denied("read", "deny")),
    mute: yield* make("mute", "agent", undefined, denied("write", "deny")),
    asking: yield* make("asking", "person", undefined, denied("write", "ask")),
    watcher: yield* make("watcher", "agent", undefined, watching),
    barred: yield* make("barred", "agent", undefined, watching, denied("read", "deny")),
  }
  const [parent, sibling] = [yield* make("parent", "agent"), yield* make("sibling", "agent")]
  for (const child of [sibling, ...agents.map((one) => all[one])])
    yield* Effect.orDie(transact((yield* Agents).change(child.id, { parent: parent.id })))
  const [host, guest] = [yield* make("host", "person"), yield* make("visitor", "person")]
  return { all, host, guest, parent, sibling }
})

for (const store of databases)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 60_000 })(
    `the rules of spaces on ${store}`,
    (it) => {
      it.effect(
        "X-29 X-30 S1-38 S1-51 every act, on every face, by everybody, in every kind and state: one answer",
        () =>
          Effect.gen(function* () {
            asked.clear()
            const { end: journalEnd, transact } = yield* Journal
            const [spaces, messages] = [yield* Spaces, yield* Messages]
            const { adminToken } = yield* Guest
            const tool = fresh("shown")
            const form = {
              name: tool,
              description: "Shows something.",
              inputSchema: { type: "object", properties: {} },
              executionType: "gateway",
              execution: { operation: "evaluate", expression: "1 + 1" },
            }
            assert.strictEqual((yield* call({ token: adminToken } as Someone, "POST", "/tools", form)).status, 201)
            const { all, guest, host, parent, sibling } = yield* people
            const sql = yield* SqlClient.SqlClient
            const sessions = yield* ChatSessions
            yield* setRules([])

            const setUp = Effect.fnUntraced(function* (who: Standing, kind: Kind, archived: boolean) {
              const me = all[who]
              // A dm is a pair's one and only: each gets a new partner.
              const partner =
                kind === "dm"
                  ? yield* Effect.orDie(
                      transact((yield* Principals).add({ kind: "agent", name: fresh("partner") } as never)),
                    )
                  : host.principal
              const opener = who === "owner" && kind !== "dm" ? me.principal : host.principal
              const others = inside(who) ? [me.principal] : []
              const members: Record<Kind, ReadonlyArray<Principal>> = {
                public: [guest.principal, host.principal, ...others],
                private: [guest.principal, host.principal, ...others],
                dm: [partner, others[0] ?? guest.principal],
                // Who mails in a team's space has its kin there.
                team: [guest, host, parent, sibling, ...agents.flatMap((one) => (one === who ? [] : all[one]))]
                  .map(({ principal }) => principal)
                  .concat(others),
              }
              const from = yield* journalEnd
              /** A private space has a session. */
              const withSession = Effect.gen(function* () {
                const session = yield* sessions.add({ viewer: houseViewer(opener) }, { agent: "hecate" })
                const by = houseViewer(opener)
                const there = yield* spaces.get(session.space, by)
                yield* spaces.change(there, { name: fresh("table") }, by)
                for (const one of members.private) yield* spaces.addMember(there, one, by)
                return { space: yield* spaces.get(session.space, by), session: session.id }
              })
              const alone = Effect.map(
                Effect.suspend(() =>
                  spaces.add(
                    { name: fresh("table"), kind, members: [...new Set(members[kind].map(({ id }) => id))] },
                    houseViewer(opener),
                    { absent: true },
                  ),
                ),
                (space) => ({ space, session: "" }),
              )
              return yield* Effect.orDie(
                transact(
                  Effect.gen(function* () {
                    const { session, space } = yield* kind === "private" ? withSession : alone
                    if (kind === "team") {
                      yield* sql`DELETE FROM team_spaces WHERE parent = ${parent.id}`
                      yield* sql`INSERT INTO team_spaces ${sql.insert({ parent: parent.id, space: space.id })}`
                    }
                    const said = (by: Principal) =>
                      messages.post({ ...space, kind: "public" }, houseViewer(by), { text: "said so" })
                    const other = yield* said(host.principal)
                    const own = yield* said(me.principal)
                    if (archived) yield* spaces.change(space, { archived: true }, houseViewer(host.principal))
                    return {
                      me,
                      space: space.id,
                      other: other.id,
                      own: own.id,
                      guest: guest.id,
                      tool,
                      session,
                      parent: parent.name,
                      partner: partner.id,
                      from,
                    } satisfies Cell
                  }),
                ),
              )
            })

            const wrong: Array<string> = []
            // The rules are the same code on both databases: there, those who ask the most of it.
            for (const who of isLong || store === "sqlite" ? standings : (["owner", "stranger", "asking"] as const))
              for (const kind of kinds)
                for (const archived of [false, true]) {
                  // Nobody owns a dm that the house opened for two.
                  if (kind === "dm" && who === "owner") continue
                  const shared = yield* setUp(who, kind, archived)
                  for (const act of acts) {
                    const right = model(act, who, kind, archived)
                    const sdkToo = act !== "enter" && kind === "private" && !archived ? { sdk: bySdk[act] } : {}
                    for (const [face, does] of Object.entries({ ...faces[act], ...sdkToo })) {
                      if (only[face]?.(who, kind) === false) continue
                      const cell =
                        lasting.includes(act) && right === "done" ? yield* setUp(who, kind, archived) : shared
                      const found = yield* does(cell)
                      const fits = onFace(face, who, right)
                      if (found !== fits)
                        wrong.push(
                          `${act} on ${face} by ${who} in ${archived ? "an archived " : ""}${kind}: ${found}, not ${fits}`,
                        )
                    }
                  }
                  for (const [way, does] of kind === "private" ? Object.entries(ofSession) : []) {
                    const seen = model("see", who, kind, archived)
                    const right = seen !== "done" ? seen : who === "owner" ? "done" : "refused"
                    const found = yield* does(right === "done" ? yield* setUp(who, kind, archived) : shared)
                    if (found !== right) wrong.push(`${way} a session by ${who} ${archived}: ${found}, not ${right}`)
                  }
                  for (const [way, does] of Object.entries(strict) as ReadonlyArray<[keyof typeof strict, Face]>) {
                    const act = way === "reply" ? "post" : way
                    const right = inside(who) ? model(act, who, kind, archived) : "unseen"
                    const found = yield* does(shared)
                    // A call placed where one may not call is refused before the tool is asked.
                    const placed = act === "post" ? model("call", who, kind, archived) : "done"
                    const fits = placed === "done" ? right : placed
                    if (found !== fits)
                      wrong.push(`${way} on the strict face by ${who} in ${kind} ${archived}: ${found}, not ${fits}`)
                  }
                }
            assert.deepStrictEqual(wrong, [])
            assert.deepStrictEqual(untried(asked), [])
            const rows = new Set(Object.values(tries).flat())
            assert.deepStrictEqual(
              acts.filter((act) => !rows.has(act)),
              [],
            )
          }),
        { timeout: 180_000 },
      )
    },
  )
