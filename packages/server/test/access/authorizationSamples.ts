/** One request for every route of the contract, with things of its own: what one standing does must not change another's. */
import type { Stoa } from "@stoa/sdk"

export interface Sample {
  /** For the parameters of the path, by name. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
}

export interface World {
  readonly admin: Stoa
  /** Acts as a fresh agent. */
  readonly agent: () => Promise<{ readonly id: string; readonly name: string; readonly client: Stoa }>
  readonly fresh: (word: string) => string
  /** A private space; of those who are tried, one is in it. */
  readonly room: string
}

const id = (prefix: string) => `${prefix}_00000000-0000-7000-8000-000000000000`
const toolForm = (name: string, over: object = {}) => ({
  name,
  description: "Says hello.",
  inputSchema: { type: "object", properties: {} },
  executionType: "internal" as const,
  ...over,
})
const nothing = () => Promise.resolve({})

const tool = async ({ admin, fresh }: World, over: object = {}) => {
  const name = fresh("tool")
  await admin.tools.add(toolForm(name, over))
  return name
}
/** A call of somebody else's that waits for a person. */
const waiting = async (world: World) => {
  const { client } = await world.agent()
  const made = await client.tools.call(await tool(world, { requiresApproval: true }), { input: {}, wait: 0 })
  return made as { readonly id: string; readonly on: { readonly id: string } }
}
const message = async ({ admin, room }: World) => (await admin.spaces.post(room, { text: "hello" })).id
const space = async ({ admin, fresh }: World) => (await admin.spaces.add({ name: fresh("space"), kind: "public" })).id
const someone = async (world: World) => (await world.agent()).id
const grant = async (world: World) => {
  const made = await world.admin.grants.add({
    principal: await someone(world),
    resource: "tools/x",
    actions: ["execute"],
  })
  return (made as { readonly id: string }).id
}

/** A record of somebody else's that nobody else may read. */
const record = async (world: World) => {
  const { client } = await world.agent()
  return (await client.memory.put({ kind: "note", content: "mine" })).id
}

/** A run of somebody else's, which stays where it is: its agent is held. */
const run = async ({ admin, agent }: World) => {
  const { id } = await agent()
  await admin.agents.change(id, { model: "demo", gate: "held" })
  return (await admin.agents.trigger(id, { text: "wait" })).run
}

/** A host that somebody else declared, by its id. */
const host = async ({ agent, fresh }: World) => {
  const { client } = await agent()
  return (await client.hosts.declare(fresh("host"), { tools: [], shared: false })).id
}

/** A decision that the admin is asked, as the link that answers it. */
const link = async (world: World) => {
  const { url } = await world.admin.decisions.link((await waiting(world)).on.id, {})
  return url.slice(url.lastIndexOf("/") + 1)
}

/** A chat session of somebody else's. */
const session = async (world: World) => {
  const { client } = await world.agent()
  return (await client.chatSessions.add({ agent: "hecate" })).id
}

/** By group and endpoint. A new route is tried once it has one. */
export const samples: Readonly<Record<string, (world: World) => Promise<Sample>>> = {
  "session.open": async (world) => {
    const { token } = await world.admin.tokens.add({ principal: await someone(world) })
    return { body: { token } }
  },
  "session.look": nothing,
  "session.close": nothing,
  "page.start": nothing,
  "demo.get": nothing,
  "demo.change": async () => ({ body: { budget: 1 } }),
  "demo.remove": nothing,
  "principals.list": nothing,
  "principals.agents": nothing,
  "principals.me": nothing,
  "principals.get": async (world) => ({ params: { principal: await someone(world) } }),
  "principals.add": async ({ fresh }) => ({ body: { kind: "agent", name: fresh("new") } }),
  "principals.change": async (world) => ({
    params: { principal: await someone(world) },
    body: { roles: ["agent-basic"] },
  }),
  "principals.signingKey": async ({ admin, fresh }) => ({
    params: { principal: (await admin.principals.add({ kind: "service", name: fresh("service") })).id },
  }),
  "principals.retire": async (world) => ({ params: { principal: await someone(world) } }),
  "agents.tree": nothing,
  "agents.inspect": async (world) => ({ params: { agent: await someone(world) } }),
  "agents.spawn": async (world) => ({
    params: { agent: await someone(world) },
    body: { name: world.fresh("child"), instructions: "Work." },
  }),
  "agents.say": async (world) => ({ params: { agent: await someone(world) }, body: { text: "Hello" } }),
  "agents.stop": async (world) => ({ params: { agent: await someone(world) }, body: {} }),
  "agents.get": async (world) => ({ params: { agent: await someone(world) } }),
  "agents.prompt": async (world) => ({ params: { agent: await someone(world) } }),
  "agents.change": async (world) => ({ params: { agent: await someone(world) }, body: { persona: "Somebody else." } }),
  "agents.trigger": async (world) => ({ params: { agent: await someone(world) }, body: { text: "Hello" } }),
  "runs.list": nothing,
  "runs.get": async (world) => ({ params: { run: await run(world) } }),
  "runs.messages": async (world) => ({ params: { run: await run(world) } }),
  "runs.steps": async (world) => ({ params: { run: await run(world) } }),
  "runs.cancel": async (world) => ({ params: { run: await run(world) } }),
  "runs.retry": async (world) => ({ params: { run: await run(world) }, body: {} }),
  "runs.toolResults": async (world) => ({
    params: { run: await run(world) },
    body: { callId: id("call"), result: 1 },
  }),
  "runs.spend": nothing,
  "deadLetters.list": nothing,
  "deadLetters.retry": () => Promise.resolve({ params: { letter: id("dls") } }),
  "deadLetters.dismiss": () => Promise.resolve({ params: { letter: id("dls") } }),
  "waits.list": nothing,
  "waits.release": () => Promise.resolve({ params: { wait: id("wai") } }),
  "models.list": nothing,
  "tokens.list": nothing,
  "tokens.add": async (world) => ({ body: { principal: await someone(world) } }),
  "tokens.rotate": async (world) => ({
    params: { id: (await world.admin.tokens.add({ principal: await someone(world) })).id },
  }),
  "tokens.revoke": async (world) => ({
    params: { id: (await world.admin.tokens.add({ principal: await someone(world) })).id },
  }),
  "grants.list": nothing,
  "grants.add": async (world) => ({
    body: { principal: await someone(world), resource: "tools/x", actions: ["execute"] },
  }),
  "grants.revoke": async (world) => ({ params: { id: await grant(world) } }),
  "grants.judge": async () => ({ query: "action=execute&resource=tools/x" }),
  "delegations.list": nothing,
  "delegations.add": async (world) => ({
    body: { to: await someone(world), resource: "tools/x", actions: ["execute"], reason: "tried" },
  }),
  "delegations.revoke": async (world) => {
    const { client } = await world.agent()
    const to = await someone(world)
    const made = await client.delegations.add({ to, resource: "tools/x", actions: ["execute"], reason: "tried" })
    return { params: { id: made.id } }
  },
  "allowLists.list": nothing,
  "allowLists.get": async () => ({ params: { toolset: "stoa", context: "agent" } }),
  "allowLists.set": async () => ({
    params: { toolset: "team", context: "crossroads" },
    body: { tools: ["broadcast"] },
  }),
  "allowLists.reset": async () => ({ params: { toolset: "team", context: "crossroads" } }),
  "limits.list": nothing,
  "secrets.list": nothing,
  "secrets.set": async () => ({ params: { name: "TRIED" }, body: { value: "a value that is long enough" } }),
  "secrets.remove": async ({ admin, fresh }) => {
    const name = fresh("GONE")
    await admin.secrets.set(name, { value: "a value that is long enough" })
    return { params: { name } }
  },
  "audit.list": nothing,
  "audit.chain": nothing,
  "audit.export": nothing,
  "house.reload": nothing,
  "house.doctor": nothing,
  "house.figures": nothing,
  "house.backup": nothing,
  "house.file": async () => ({ params: { id: `fil_${"0".repeat(64)}` } }),
  "house.accept": async () => ({ body: { check: "audit" } }),
  "chatSessions.list": nothing,
  "chatSessions.add": async () => ({ body: { agent: "hecate" } }),
  "chatSessions.get": async (world) => ({ params: { id: await session(world) } }),
  "chatSessions.change": async (world) => ({ params: { id: await session(world) }, body: { title: "other" } }),
  "chatSessions.remove": async (world) => ({ params: { id: await session(world) } }),
  "chatSessions.messages": async (world) => ({ params: { id: await session(world) } }),
  "chatSessions.post": async (world) => ({ params: { id: await session(world) }, body: { text: "tried" } }),
  "wallet.challenge": async () => ({ body: { wallet: `0x${"ab".repeat(20)}` } }),
  "wallet.token": async () => ({ body: { challenge: id("wch"), signature: "0x00" } }),
  "memory.list": nothing,
  "memory.put": async () => ({ body: { kind: "note", content: "tried" } }),
  "memory.export": nothing,
  "memory.embedding": nothing,
  "memory.import": async () => ({ body: { lines: [{ kind: "note", content: "tried" }] } }),
  "memory.erase": async () => ({ body: { confirm: "nobody is called so" } }),
  "memory.diff": async (world) => ({ params: { id: await record(world) } }),
  "memory.get": async (world) => ({ params: { id: await record(world) } }),
  "memory.change": async (world) => ({ params: { id: await record(world) }, body: { content: "other" } }),
  "memory.remove": async (world) => ({ params: { id: await record(world) } }),
  "memory.restore": async (world) => ({ params: { id: await record(world) } }),
  "memory.history": async (world) => ({ params: { id: await record(world) } }),
  "memory.revert": async (world) => ({ params: { id: await record(world) }, body: { version: 1 } }),
  "memory.offers": nothing,
  "memory.waiting": nothing,
  "memory.answer": async (world) => ({ params: { id: await record(world) }, body: { taken: true } }),
  "memory.shares": async (world) => ({ params: { id: await record(world) } }),
  "memory.share": async (world) => ({
    params: { id: await record(world), principal: await someone(world) },
    body: { right: "read" },
  }),
  "memory.unshare": async (world) => ({ params: { id: await record(world), principal: await someone(world) } }),
  "metrics.read": nothing,
  "events.watch": nothing,
  "spaces.list": nothing,
  "spaces.get": async ({ room }) => ({ params: { space: room } }),
  "spaces.add": async ({ fresh }) => ({ body: { name: fresh("added"), kind: "private" } }),
  "spaces.change": async ({ room }) => ({ params: { space: room }, body: { topic: "tried" } }),
  "spaces.addMember": async (world) => ({ params: { space: world.room, principal: await someone(world) } }),
  "spaces.removeMember": async (world) => {
    const principal = await someone(world)
    await world.admin.spaces.addMember(world.room, principal)
    return { params: { space: world.room, principal } }
  },
  "spaces.post": async ({ room }) => ({ params: { space: room }, body: { text: "hello" } }),
  "spaces.messages": async ({ room }) => ({ params: { space: room } }),
  "spaces.read": async ({ room }) => ({ params: { space: room }, body: { seq: 0 } }),
  "spaces.typing": async ({ room }) => ({ params: { space: room } }),
  "spaces.watch": async (world) => ({ params: { space: await space(world) } }),
  "messages.search": async () => ({ query: "q=hello" }),
  "messages.get": async (world) => ({ params: { message: await message(world) } }),
  "messages.history": async (world) => ({ params: { message: await message(world) } }),
  "messages.edit": async (world) => ({ params: { message: await message(world) }, body: { text: "other" } }),
  "messages.remove": async (world) => ({ params: { message: await message(world) } }),
  "messages.react": async (world) => ({ params: { message: await message(world), emoji: "👍" } }),
  "messages.unreact": async (world) => ({ params: { message: await message(world), emoji: "👍" } }),
  "messages.pin": async (world) => ({ params: { message: await message(world) } }),
  "messages.unpin": async (world) => ({ params: { message: await message(world) } }),
  "tools.list": nothing,
  "tools.get": async (world) => ({ params: { name: await tool(world) } }),
  "tools.form": async (world) => ({ params: { name: await tool(world) } }),
  "tools.signingKey": async (world) => ({
    params: {
      name: await tool(world, { executionType: "external", execution: { webhookUrl: "http://127.0.0.1:9/hook" } }),
    },
  }),
  "tools.add": async ({ fresh }) => ({ body: toolForm(fresh("added")) }),
  "tools.import": async () => ({ query: "dryRun=true", body: { document: { openapi: "3.1.0", paths: {} } } }),
  "tools.change": async (world) => {
    const name = await tool(world)
    return { params: { name }, body: toolForm(name, { description: "Says it again." }) }
  },
  "tools.remove": async (world) => ({ params: { name: await tool(world) } }),
  "tools.call": async (world) => ({ params: { name: await tool(world) }, body: { input: {} } }),
  "calls.list": nothing,
  "calls.get": async (world) => ({ params: { call: (await waiting(world)).id } }),
  "calls.cancel": async (world) => ({ params: { call: (await waiting(world)).id } }),
  "results.submit": async (world) => ({ params: { call: (await waiting(world)).id }, body: { output: 1 } }),
  "decisions.list": nothing,
  "decisions.get": async (world) => ({ params: { decision: (await waiting(world)).on.id } }),
  "decisions.answer": async (world) => ({
    params: { decision: (await waiting(world)).on.id },
    body: { verdict: "deny" },
  }),
  "decisions.link": async (world) => ({ params: { decision: (await waiting(world)).on.id }, body: {} }),
  "decisions.approvals": nothing,
  "decisions.revoke": async () => ({ params: { approval: id("apv") } }),
  "pauses.list": nothing,
  "pauses.set": async (world) => ({ body: { subject: `tools/${await tool(world)}` } }),
  "pauses.lift": async (world) => {
    const subject = `tools/${await tool(world)}`
    await world.admin.pauses.set({ subject })
    return { params: { subject } }
  },
  "mcpServers.list": nothing,
  "mcpServers.get": async () => ({ params: { server: "nowhere" } }),
  "mcpServers.add": async ({ fresh }) => ({ body: { name: fresh("server"), url: "http://127.0.0.1:9/mcp" } }),
  "mcpServers.remove": async () => ({ params: { server: "nowhere" } }),
  "mcpServers.look": async ({ fresh }) => ({ body: { name: fresh("server"), command: "/nonexistent" } }),
  "mcpServers.log": async () => ({ params: { server: "nowhere" } }),
  "mcpServers.figures": async () => ({ params: { server: "nowhere" } }),
  "mcpServers.tools": async () => ({ params: { server: "nowhere" } }),
  "mcpServers.accept": async () => ({ params: { server: "nowhere", tool: "x" }, query: `digest=${"0".repeat(64)}` }),
  "hosts.list": nothing,
  "hosts.get": async (world) => ({ params: { host: await host(world) } }),
  "hosts.declare": async ({ fresh }) => ({ params: { host: fresh("host") }, body: { tools: [] } }),
  "hosts.remove": async (world) => ({ params: { host: await host(world) } }),
  "hosts.calls": async () => ({ params: { host: "nowhere" } }),
  "health.alive": nothing,
  "health.ready": nothing,
}

/** Of each route that is no part of the contract, by method and path. */
export const pageSamples: Readonly<Record<string, (world: World) => Promise<Sample>>> = {
  "GET /": nothing,
  "GET /docs": nothing,
  "GET /assets/:file": async () => ({ params: { file: "none.js" } }),
  "GET /docs/errors/:tag": async () => ({ params: { tag: "Missing" } }),
  "GET /docs/guide/:page": async () => ({ params: { page: "memory" } }),
  "GET /config.schema.json": nothing,
  "GET /openapi.json": nothing,
  "GET /cards/:name": async () => ({ params: { name: "none" } }),
  "GET /d/:token": async (world) => ({ params: { token: await link(world) } }),
  "POST /d/:token": async (world) => ({ params: { token: await link(world) }, body: { verdict: "deny" } }),
  "POST /d/:token/:verdict": async (world) => ({ params: { token: await link(world), verdict: "deny" } }),
  "* /*": nothing,
}
