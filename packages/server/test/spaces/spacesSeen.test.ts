/**
 * Rights hold on every way to see. Worlds are drawn at random: spaces of every kind, principals of every role, rules that
 * allow, ask, deny, name one space or many, and have ended or will. A model that knows nothing of the house's code says who
 * may see what; then everybody looks in every way there is, and all of them must show the same.
 */
import { assert, layer } from "@effect/vitest"
import type { Action, Principal, Role, Space, SpaceKind, Verdict } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { Messages } from "../../src/spaces/messages/Messages.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { isLong } from "../../../../test/long.ts"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { callsHouse } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { chances } from "./spacesLeak.ts"
import { call, type Frame, fresh, listen, type Someone } from "./spacesGuests.ts"

interface Rule {
  readonly resource: string
  readonly actions: ReadonlyArray<Action>
  readonly effect: Verdict
  readonly ended: boolean
}
interface Viewer {
  readonly who: Someone
  readonly rules: ReadonlyArray<Rule>
}
interface Place {
  readonly space: Space
  readonly members: ReadonlySet<string>
  readonly message: string
  /** A result of a call that was shown there. */
  file: string
}

const rule = (resource: string, ...actions: ReadonlyArray<Action>): Rule => ({
  resource,
  actions,
  effect: "allow",
  ended: false,
})
const ofRoles: Record<string, ReadonlyArray<Rule>> = {
  admin: [rule("*", "admin")],
  member: [rule("spaces/*", "read", "write")],
  "agent-standard": [rule("spaces/*", "read", "write")],
  guest: [],
}

// The model.
const glob = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^]*")}$`)
const said = (rules: ReadonlyArray<Rule>, action: Action, resources: ReadonlyArray<string>) => {
  const fitting = rules.filter(
    (one) =>
      !one.ended &&
      (one.actions.includes(action) || one.actions.includes("admin")) &&
      resources.some((resource) => glob(one.resource).test(resource)),
  )
  return (["deny", "ask", "allow"] as const).find((effect) => fitting.some((one) => one.effect === effect)) ?? "silence"
}
const verdictOn = ({ rules }: Viewer, { space }: Place) =>
  said(rules, "read", [`spaces/${space.name}`, `spaces/${space.id}`])
const isAdmin = ({ rules }: Viewer) => said(rules, "admin", ["spaces/*"]) === "allow"
const sees = (viewer: Viewer, place: Place, asAdmin = isAdmin(viewer)): boolean =>
  verdictOn(viewer, place) === "allow" && (place.space.kind === "public" || place.members.has(viewer.who.id) || asAdmin)
const watches = (viewer: Viewer, place: Place): boolean => {
  if (said(viewer.rules, "read", ["events/*"]) !== "allow") return sees(viewer, place)
  const verdict = verdictOn(viewer, place)
  return verdict === "allow" || verdict === "silence"
}
const reads = (viewer: Viewer, place: Place): boolean => {
  const verdict = said(viewer.rules, "read", [`files/${place.file}`])
  return verdict === "allow" || (verdict === "silence" && sees(viewer, place))
}

const words = ["red", "blue", "red-team", "harbour", "ships", "redder", "blue-sea", "fleet"]
const kindsOfSpaces: ReadonlyArray<SpaceKind> = ["public", "private", "team", "public", "private", "dm"]

const world = Effect.fnUntraced(function* (seed: number) {
  const { below, pick } = chances(seed)
  const { adminToken, as } = yield* Guest
  const { transact } = yield* Journal
  const sql = yield* SqlClient.SqlClient
  const [principals, grants, tokens, spaces, messages] = [
    yield* Principals,
    yield* Grants,
    yield* Tokens,
    yield* Spaces,
    yield* Messages,
  ]
  const make = Effect.fnUntraced(function* (kind: Principal["kind"], roles: ReadonlyArray<Role>) {
    const principal = yield* Effect.orDie(
      transact(principals.add({ kind, name: fresh("viewer"), roles, toolsets: ["stoa"] } as never)),
    )
    const { token } = yield* Effect.orDie(transact(tokens.issue({ principal: principal.id, context: "agent" })))
    return { id: principal.id, name: principal.name, token, client: as(token), principal } satisfies Someone
  })
  const maker = yield* make("agent", ["agent-standard"])
  const people: Array<Someone> = []
  for (const [kind, role] of [
    ["person", "member"],
    ["agent", "agent-standard"],
    ["agent", "agent-standard"],
    ["service", "guest"],
    ["service", "guest"],
    ["person", "admin"],
    ["person", "member"],
  ] as const)
    people.push(yield* make(kind, [role]))
  // Somebody owns the one who speaks: that opens no space.
  yield* Effect.orDie(transact(principals.change(maker.id, { owner: people[0]!.id as never })))

  const mark = fresh("zebra").replace("-", "")
  const places: Array<Place> = []
  for (let at = 0; at < 8; at++) {
    const kind = kindsOfSpaces[at % kindsOfSpaces.length]!
    const members = new Set<string>([maker.id])
    if (kind === "dm") members.add(people[at % people.length]!.id)
    else for (const one of people) if (below(3) === 0) members.add(one.id)
    // Some have the name of another that the maker of the second cannot see.
    const again = at > 5 ? places[at - 5]!.space.name : undefined
    const name = again ?? `${words[at]}-${seed}-${fresh("s")}`
    const opener = { ...houseViewer(people[0]!.principal), all: false }
    const unseeing = { ...opener, principal: { ...opener.principal, id: "prn_nobody" as never } }
    places.push(
      yield* Effect.orDie(
        transact(
          Effect.gen(function* () {
            const wanted = { name, kind, members: [...members] }
            const space = yield* spaces.add(wanted, kind === "dm" ? houseViewer(maker.principal) : unseeing, {
              absent: true,
            })
            const { id } = yield* messages.post(space, houseViewer(maker.principal), { text: `${mark} was here` })
            return { space, members, message: id, file: "" }
          }),
        ),
      ),
    )
  }
  const service = yield* http((asked, response) => void response.end(JSON.stringify(asked.url!.repeat(3000))))
  const form = {
    name: fresh("long"),
    description: "Says something long.",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    executionType: "gateway",
    execution: { url: `${service.url}/{{input.text}}` },
  }
  assert.strictEqual((yield* call({ token: adminToken } as Someone, "POST", "/tools", form)).status, 201)
  for (const place of places) {
    const { id } = place.space
    const { body } = yield* call(maker, "POST", `/tools/${form.name}/call`, { input: { text: id }, space: id })
    place.file = String((body["outputFile"] as { file?: string } | undefined)?.file)
    assert.match(place.file, /^fil_/, JSON.stringify(body).slice(0, 300))
  }

  const viewers: Array<Viewer> = []
  for (const who of people) {
    const rules: Array<Rule> = who.principal.roles.flatMap((role) => ofRoles[role]!)
    const count = below(5)
    for (let n = 0; n < count; n++) {
      const one = pick(places).space
      const resource = pick([
        `spaces/${one.name}`,
        `spaces/${one.id}`,
        `spaces/${one.name.slice(0, 3)}*`,
        `*-${seed}-*`,
        "spaces/*",
        `spaces/spc_*`,
        "events/*",
        "files/*",
        `*`,
      ])
      const effect = resource === "*" ? "allow" : pick(["allow", "allow", "ask", "deny", "deny"] as const)
      const actions = pick([["read"], ["read"], ["read", "write"], ["write"], ["admin"]] as const)
      const end = pick(["none", "none", "later", "past"] as const)
      const expiresAt = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
      const granted = yield* Effect.orDie(
        transact(
          grants.add({
            principal: who.id,
            resource,
            actions,
            effect,
            ...(end === "none" ? {} : { expiresAt }),
          }),
        ),
      )
      // One that has ended is a row like any other: nobody takes it away.
      if (end === "past")
        yield* Effect.orDie(sql`UPDATE grants SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${granted.id}`)
      rules.push({ resource, actions, effect, ended: end === "past" })
    }
    yield* Effect.orDie(transact(grants.add({ principal: who.id, resource: "tools/*", actions: ["execute"] } as never)))
    viewers.push({ who, rules })
  }
  return { maker, mark, owner: people[0]!.id, places, viewers }
})
type World = Effect.Success<ReturnType<typeof world>>

/** Frames up to the one that tells a principal of a new token of its own: everything before it has come. */
const heard = Effect.fnUntraced(function* (
  { who }: Viewer,
  options: { readonly after?: number },
  act: Effect.Effect<void>,
) {
  const { transact } = yield* Journal
  const tokens = yield* Tokens
  const frames: Array<Frame> = []
  const stream = yield* listen(who, options)
  if (stream.status !== 200) return { status: stream.status, frames }
  yield* act
  const { id } = yield* Effect.orDie(transact(tokens.issue({ principal: who.id })))
  for (;;) {
    const frame = yield* stream.next
    if (frame.data?.body?.["token"] === id) return { status: 200, frames }
    frames.push(frame)
  }
}, Effect.scoped)

const spacesOf = (frames: ReadonlyArray<Frame>) =>
  new Set(frames.filter(({ event }) => event === "message.created").map(({ data }) => String(data!.space)))

const looks = Effect.fnUntraced(function* (viewer: Viewer, { maker, mark, owner, places }: World, from: number) {
  const { url } = yield* Guest
  const { transact } = yield* Journal
  const messages = yield* Messages
  const { who } = viewer
  const wrong: Array<string> = []
  const check = (way: string, place: Place, found: boolean, right: boolean) => {
    if (found !== right)
      wrong.push(
        `${way} of a ${place.space.kind} space ${place.space.name}: ${found}, not ${right}; ${JSON.stringify(viewer.rules)}`,
      )
  }
  const get = (path: string) => call(who, "GET", path)
  const tool = (name: string, input: object) =>
    ask(() => newRequest(`${url}/mcp/stoa`, who.token, "tools/call", { name, arguments: input }))
  const ids = (body: Record<string, unknown>) =>
    new Set(((body["items"] ?? []) as ReadonlyArray<{ id: string; space?: string }>).map((one) => one.space ?? one.id))

  const listed = ids((yield* get("/spaces?limit=100")).body)
  const started = JSON.stringify((yield* get("/start")).body)
  const asked = JSON.stringify((yield* tool("search", { query: mark, limit: 100 })).body)
  const found = ids((yield* get(`/messages?q=${mark}&limit=100`)).body)
  const mcpListed = JSON.stringify((yield* tool("list_spaces", { limit: 100 })).body)
  const mcpFound = JSON.stringify((yield* tool("search_messages", { query: mark, limit: 100 })).body)
  const resources = JSON.stringify((yield* ask(() => newRequest(`${url}/mcp/stoa`, who.token, "resources/list"))).body)
  const past = spacesOf((yield* heard(viewer, { after: from }, Effect.void)).frames)
  const sayAll = Effect.forEach(
    places,
    ({ space }) => Effect.orDie(transact(messages.post(space, houseViewer(maker.principal), { text: "live" }))),
    { discard: true },
  )
  const live = spacesOf((yield* heard(viewer, {}, sayAll)).frames)
  const inspected = yield* get(`/agents/${maker.id}/activity`)
  const activity = yield* spacesOfMessages(inspected.body["messages"] as ReadonlyArray<{ id: string }> | undefined)
  const waited = (yield* tool("wait_for_messages", { after: 0, seconds: 0, limit: 100 })).text

  for (const place of places) {
    const { id, name } = place.space
    const right = sees(viewer, place)
    check("list", place, listed.has(id), right)
    check("search", place, found.has(id), right)
    check("start", place, started.includes(id), right)
    check("MCP list", place, mcpListed.includes(id), right)
    check("MCP search of everything", place, asked.includes(place.message), right)
    check("MCP search", place, mcpFound.includes(place.message), right)
    check("catch-up", place, past.has(id), watches(viewer, place))
    check("live", place, live.has(id), watches(viewer, place))
    check("resources", place, resources.includes(id), sees(viewer, place, false))
    // Its owner may look, whatever else it is refused.
    if (who.id === owner) assert.strictEqual(inspected.status, 200)
    if (inspected.status === 200) check("an agent's activity", place, activity.has(id), right)
    if (!right) assert.notInclude(waited, place.message)
    for (const path of [
      `/spaces/${id}`,
      `/spaces/${id}/messages`,
      `/messages/${place.message}`,
      `/messages/${place.message}/history`,
      `/messages?q=${mark}&space=${id}`,
    ]) {
      const { status } = yield* get(path)
      check(`GET ${path} (${status})`, place, status === 200, right)
      if (status !== 200) assert.include([403, 404], status)
    }
    check("file", place, (yield* call2(who, `/files/${place.file}`)) === 200, reads(viewer, place))
    const own = yield* Effect.scoped(listen(who, { path: `/spaces/${id}/events` }))
    check("space's stream", place, own.status === 200, right)
    const read = JSON.stringify((yield* tool("read_messages", { space: id })).body)
    check("MCP read", place, read.includes(place.message), right)
    const uri = `stoa://spaces/${id}`
    const resource = yield* ask(() => newRequest(`${url}/mcp/stoa`, who.token, "resources/read", { uri }))
    check("resource", place, resource.text.includes(place.message), right)
    // By name: the one it sees, or all of them to choose from.
    const namesakes = places.filter((one) => one.space.name === name && sees(viewer, one)).map((one) => one.space.id)
    const named = yield* get(`/spaces/${name}`)
    if (namesakes.length === 1) assert.strictEqual(named.body["id"], namesakes[0])
    else if (namesakes.length > 1) {
      assert.deepStrictEqual([named.status, named.body["tag"]], [409, "Ambiguous"])
      assert.sameMembers(named.body["ids"] as Array<string>, namesakes)
    } else assert.include([403, 404], named.status)
  }
  return wrong
})

/** What an agent says lately is looked at by its owner and by admins; each message is of one space. */
const spacesOfMessages = Effect.fnUntraced(function* (messages: ReadonlyArray<{ id: string }> = []) {
  const sql = yield* SqlClient.SqlClient
  const found = new Set<string>()
  for (const { id } of messages) {
    const rows = yield* Effect.orDie(sql<{ space: string }>`SELECT space FROM messages WHERE id = ${id}`)
    found.add(rows[0]!.space)
  }
  return found
})

/** Bytes, not JSON. */
const call2 = Effect.fnUntraced(function* (who: Someone, path: string) {
  const { raw } = yield* Guest
  const answer = yield* ask(() => raw(`/api/v1${path}`, { headers: { authorization: `Bearer ${who.token}` } }))
  yield* ask(() => answer.arrayBuffer())
  return answer.status
})

/** All of them on both by `npm run test:long`. */
const worlds = { sqlite: [1, 2], postgres: [3] }

for (const store of ["sqlite", "postgres"] as const)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`who sees what on ${store}`, (it) => {
    for (const seed of isLong ? [1, 2, 3, 4] : worlds[store])
      it.effect(
        `X-30 S0-71 G-09 every way to see shows the same, whatever the rules: world ${seed}`,
        () =>
          Effect.gen(function* () {
            const from = yield* (yield* Journal).end
            const made = yield* world(seed)
            for (const viewer of made.viewers) assert.deepStrictEqual(yield* looks(viewer, made, from), [])
          }).pipe(Effect.scoped),
        { timeout: 120_000 },
      )
  })
