/** `stoa mcp`: the official clients on its stdin and stdout, as real processes, with houses that run, die and come back. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type StdioClient,
  stdioClient,
  stdioClients,
  type StdioEra,
  type StdioOptions,
} from "../../../server/test/mcp/mcpStdio.ts"
import { Home, type House } from "../kit/home.ts"

const main = join(import.meta.dirname, "../../bin/stoa.mjs")
const fixtures = join(import.meta.dirname, "../../../server/test/conformance/serve.ts")
const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
const eras = Object.keys(stdioClients) as ReadonlyArray<StdioEra>

const homes: Array<Home> = []
const clients: Array<StdioClient> = []
const newHome = () => {
  const home = new Home()
  homes.push(home)
  return home
}
afterAll(async () => {
  await Promise.all(clients.map(({ client }) => client.close()))
  await Promise.all(homes.map((home) => home.remove()))
})

const envOf = (home: Home, over: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../../node_modules/.cache/compiled"),
  ...home.env,
  ...over,
})

const opened = async (
  home: Home,
  era: StdioEra,
  args: ReadonlyArray<string> = [],
  over: Partial<StdioOptions> = {},
): Promise<StdioClient> => {
  const made = await stdioClient(era, {
    command: process.execPath,
    args: [main, "mcp", ...args],
    env: envOf(home),
    ...over,
  })
  clients.push(made)
  return made
}

interface Result {
  readonly content: ReadonlyArray<{ readonly text: string }>
  readonly structuredContent?: Readonly<Record<string, string>>
  readonly isError?: boolean
}
const use = async ({ client }: StdioClient, name: string, input: object = {}): Promise<Result> =>
  (await client.callTool({ name, arguments: input as never })) as never
const namesOf = async ({ client }: StdioClient) => (await client.listTools()).tools.map(({ name }) => name)

const tool = (name: string, over: object = {}) => ({
  name,
  description: "Says that it was done.",
  inputSchema: { type: "object", properties: {} },
  executionType: "internal" as const,
  execution: { output: { done: name } },
  ...over,
})

/** Lines in, lines out, with nothing between. */
class Lines {
  readonly child: ChildProcess
  readonly heard: Array<Record<string, unknown>> = []
  stderr = ""
  readonly ended: Promise<number | null>
  readonly #waiting = new Set<() => void>()

  constructor(home: Home, args: ReadonlyArray<string> = [], over: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [main, "mcp", ...args], { cwd: home.folder, env: envOf(home, over) })
    this.child.stderr!.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()))
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      this.heard.push(JSON.parse(line) as Record<string, unknown>)
      for (const look of this.#waiting) look()
    })
    this.ended = new Promise((done) =>
      this.child.once("close", (code) => {
        done(code)
        for (const look of this.#waiting) look()
      }),
    )
  }
  send(...messages: ReadonlyArray<unknown>): void {
    for (const it of messages)
      this.child.stdin!.write(
        `${typeof it === "string" ? it : JSON.stringify({ jsonrpc: "2.0", ...(it as object) })}\n`,
      )
  }
  until(wanted: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return new Promise((found, fail) => {
      const look = () => {
        const match = this.heard.find(wanted)
        if (match === undefined && this.child.exitCode === null) return
        this.#waiting.delete(look)
        if (match !== undefined) found(match)
        else fail(new Error(`ended without it:\n${this.stderr}`))
      }
      this.#waiting.add(look)
      look()
    })
  }
  answer(id: unknown): Promise<Record<string, unknown>> {
    return this.until((message) => message["id"] === id && message["method"] === undefined)
  }
  end(): Promise<number | null> {
    this.child.stdin!.end()
    return this.ended
  }
}

const initialize = (capabilities: object = {}, protocolVersion = "2025-11-25") => ({
  id: "i",
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "lines", version: "1" } },
})
const initialized = { method: "notifications/initialized" }
const envelope = (over: object = {}) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "lines", version: "1" },
    ...over,
  },
})

describe("a house that runs", () => {
  const home = newHome()
  let house: House
  let token: string
  beforeAll(async () => {
    house = await home.start()
    await house.admin.principals.add({ kind: "agent", name: "Jim", toolsets: ["office"] })
    token = (await house.admin.tokens.add({ principal: "Jim" })).token
    await house.admin.tools.add(tool("motto"))
    await house.admin.tools.add(tool("wipe", { requiresApproval: true }))
  })

  it.for(eras)("S3-01 S3-06 %s lists and calls, as whoever the token it was started with says", async (era) => {
    const admin = await opened(home, era)
    expect(await namesOf(admin)).toEqual(expect.arrayContaining(["motto", "whoami"]))
    expect(await use(admin, "whoami")).toMatchObject({ structuredContent: { name: "admin" } })
    const jim = await opened(home, era, ["--token", token])
    expect(jim.client.getServerVersion()).toMatchObject({ name: "stoa" })
    expect(await namesOf(jim)).toEqual(expect.arrayContaining(["motto", "wipe", "send_message"]))
    expect(await namesOf(jim)).not.toContain("whoami")
    expect(JSON.parse((await use(jim, "motto")).content[0]!.text)).toEqual({ done: "motto" })
    await expect(use(jim, "whoami")).rejects.toMatchObject({ code: -32602 })
    const office = await opened(home, era, ["--toolset", "office"], {
      env: envOf(home, { STOA_TOKEN: token, STOA_URL: house.url }),
    })
    expect(await namesOf(office)).toContain("send_message")
    expect(await namesOf(office)).not.toContain("motto")
  })

  it.for(eras)("%s: a call that needs a person waits, is approved, and is then done", async (era) => {
    const jim = await opened(home, era, ["--token", token])
    const asked = await use(jim, "wipe")
    expect(asked.structuredContent).toMatchObject({ state: "waiting" })
    const { call, decision } = asked.structuredContent!
    await house.admin.decisions.answer(decision!, { verdict: "approve" })
    const admin = await opened(home, era)
    expect(await house.admin.calls.get(call!, { wait: 10 })).toMatchObject({ state: "done", output: { done: "wipe" } })
    expect((await use(admin, "call_status", { call })).content[0]!.text).toContain('"state":"done"')
  })

  it.for(eras)("%s: --server shows one server alone, under its own names", async (era) => {
    await house.admin.mcpServers.add({
      name: `every-${era.replace(/\W/g, "")}`,
      command: process.execPath,
      args: [everything, "stdio"],
    })
    const desk = await opened(home, era, ["--server", `every-${era.replace(/\W/g, "")}`])
    expect(await namesOf(desk)).toContain("echo")
    expect(await namesOf(desk)).not.toContain("motto")
    expect((await use(desk, "echo", { message: "hi" })).content[0]!.text).toBe("Echo: hi")
  })

  it.for(eras)("%s hears of a tool that came, without asking", async (era) => {
    const jim = await opened(home, era, ["--token", token])
    const heard = new Promise<string>((resolve) => {
      if (era === "sdk 1.32") jim.client.fallbackNotificationHandler = async ({ method }) => resolve(method)
      else jim.client.setNotificationHandler("notifications/tools/list_changed", ({ method }) => resolve(method))
    })
    if (era === "client 2.4") await jim.client.listen({ toolsListChanged: true })
    const name = `fresh-${era.replace(/\W/g, "")}`
    let added = false
    // The stream of an old client opens by itself, at a moment nobody is told of: the tool comes again until it is seen.
    const again = setInterval(() => {
      void (added ? house.admin.tools.remove(name) : house.admin.tools.add(tool(name)))
      added = !added
    }, 200)
    expect(await heard).toBe("notifications/tools/list_changed")
    clearInterval(again)
  })

  it("nothing but messages on stdout; bad, long and empty lines cost nobody else their answer; the end of input is exit 0", async () => {
    const lines = new Lines(home)
    lines.send("nonsense", "", "x".repeat(4 * 1024 * 1024 + 1), "7", initialize(), initialized)
    lines.send({ id: 1, method: "ping" }, { id: "1", method: "tools/list" }, { id: 2, method: "no/such" })
    expect(await lines.answer(1)).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
    expect(await lines.answer("1")).toMatchObject({ result: { tools: expect.anything() } })
    expect(await lines.answer(2)).toMatchObject({ error: { code: -32601 } })
    const faults = lines.heard.filter((one) => !("id" in one)).map(({ error }) => (error as { code: number }).code)
    expect(faults).toEqual([-32700, -32600, -32700])
    expect(await lines.end()).toBe(0)
    expect(lines.heard.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true)
  })

  it("lines from a file are all answered before it ends, batches of their revision too", async () => {
    const lines = new Lines(home)
    lines.send(initialize({}, "2025-03-26"), initialized)
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }))
    lines.child.stdin!.end(`${JSON.stringify(batch)}\n{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
    expect(await lines.ended).toBe(0)
    expect(lines.heard).toHaveLength(3)
    expect(lines.heard).toContainEqual([1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} })))
  })

  it("a client that does not read holds back nothing but itself", async () => {
    const lines = new Lines(home)
    lines.child.stdout!.pause()
    lines.send(initialize(), initialized)
    for (let id = 0; id < 300; id++) lines.send({ id, method: "tools/list" })
    const other = await opened(home, "client 2.4")
    expect(await use(other, "motto")).toMatchObject({ structuredContent: { done: "motto" } })
    lines.child.stdout!.resume()
    await Promise.all([lines.answer(299), lines.answer(0)])
    await lines.until(() => lines.heard.length === 301)
    expect(await lines.end()).toBe(0)
  })

  it("a dead token, an unknown toolset and an address without a house are errors that say so", async () => {
    const dead = new Lines(home, ["--token", "no-such-token-at-all"])
    dead.send(initialize())
    expect(await dead.answer("i")).toMatchObject({ error: { code: -32603, data: { status: 401 } } })
    expect(await dead.end()).toBe(0)
    const nowhere = new Lines(home, ["--toolset", "nowhere"])
    nowhere.send({ id: 1, method: "tools/list", params: envelope() })
    expect(await nowhere.answer(1)).toMatchObject({ error: { data: { status: 404 } } })
    expect(await nowhere.end()).toBe(0)
    // Said at once, and not when the first request has waited for long.
    const away = new Lines(home, [], { STOA_URL: "http://127.0.0.1:9" })
    const [said] = (await once(away.child.stderr!, "data")) as [Buffer]
    expect(said.toString()).toBe("stoa: No house answers at http://127.0.0.1:9 yet; it is tried again.\n")
    expect(await away.end()).toBe(0)
    const both = await home.stoa("mcp", "--toolset", "office", "--server", "x")
    expect(both).toMatchObject({ code: 2, stdout: "", stderr: "stoa: Give --toolset or --server, not both.\n" })
  })
})

describe("what the house says before it answers", () => {
  const home = newHome()
  let url: string
  let house: ChildProcess
  beforeAll(async () => {
    house = spawn(process.execPath, [fixtures], { stdio: ["ignore", "pipe", "inherit", "ipc"] })
    const line = await new Promise<string>((done) => createInterface({ input: house.stdout! }).once("line", done))
    url = new URL((JSON.parse(line) as { toolset: string }).toolset).origin
  })
  afterAll(() => void house.kill("SIGTERM"))
  const args = () => ["--toolset", "conformance", "--url", url]
  const answers = { form: { username: "pam", email: "pam@example.com" }, model: "Paris" }

  it.for(eras)("%s is asked by the house, and its answers come back", async (era) => {
    const desk = await opened(home, era, args(), { answers })
    const elicited = await use(desk, "test_elicitation", { message: "Who are you?" })
    expect(elicited.content[0]!.text).toBe(
      'User response: action=accept, content={"username":"pam","email":"pam@example.com"}',
    )
    const sampled = await use(desk, "test_sampling", { prompt: "Capital of France?" })
    expect(sampled.content[0]!.text).toBe("LLM response: Paris")
  })

  it.for(eras)("%s is told of progress, and finds the answer of a stream that was let go", async (era) => {
    const desk = await opened(home, era, args())
    const steps: Array<number> = []
    const options = { onprogress: ({ progress }: { readonly progress: number }) => void steps.push(progress) }
    const called = { name: "test_tool_with_progress", arguments: {} }
    await (era === "sdk 1.32"
      ? (desk.client.callTool as unknown as (...all: ReadonlyArray<unknown>) => Promise<unknown>).call(
          desk.client,
          called,
          undefined,
          options,
        )
      : desk.client.callTool(called, options))
    expect(steps).toEqual([0, 50, 100])
    expect((await use(desk, "test_reconnection")).content[0]!.text).toBe("You came back for this")
  })

  it("parameters that a tool wants as headers are sent as such, for a client that has no headers", async () => {
    const lines = new Lines(home, args())
    const call = (id: number, region: string) => ({
      id,
      method: "tools/call",
      params: { name: "test_x_mcp_header", arguments: { region }, ...envelope() },
    })
    lines.send(call(1, "eu"), call(2, "Großraum Büro "))
    expect(await lines.answer(1)).toMatchObject({ result: { content: [{ text: "Region: eu" }] } })
    expect(await lines.answer(2)).toMatchObject({ result: { content: [{ text: "Region: Großraum Büro " }] } })
    expect(await lines.end()).toBe(0)
  })

  it("a request that is taken back is not answered, in both eras", async () => {
    const lines = new Lines(home, args())
    const slow = (id: number, meta: object) => ({
      id,
      method: "tools/call",
      params: { name: "test_tool_with_progress", arguments: {}, ...meta },
    })
    const progress = (token: string) => (it: Record<string, unknown>) =>
      (it["params"] as { progressToken?: string } | undefined)?.progressToken === token
    lines.send(initialize(), initialized, slow(1, { _meta: { progressToken: "old" } }))
    lines.send(slow(2, envelope({ progressToken: "new" })))
    await Promise.all([lines.until(progress("old")), lines.until(progress("new"))])
    lines.send(...[1, 2].map((requestId) => ({ method: "notifications/cancelled", params: { requestId } })))
    lines.send(slow(3, { _meta: { progressToken: "last" } }))
    await lines.answer(3)
    expect(lines.heard.filter(({ id }) => id === 1 || id === 2)).toEqual([])
    expect(await lines.end()).toBe(0)
  })

  it("a client that leaves amid a question ends the bridge all the same", async () => {
    const lines = new Lines(home, args())
    lines.send(initialize({ elicitation: {} }), initialized)
    lines.send({ id: 1, method: "tools/call", params: { name: "test_elicitation", arguments: { message: "?" } } })
    await lines.until(({ method }) => method === "elicitation/create")
    expect(await lines.end()).toBe(0)
  })
})

describe("a house that is killed and comes back", () => {
  it.for(eras)("%s goes on with its session, and no call is made twice", async (era) => {
    const home = newHome()
    const first = await home.start()
    await first.admin.tools.add(tool("motto"))
    await first.admin.tools.add(tool("wipe", { requiresApproval: true }))
    await first.admin.principals.add({ kind: "agent", name: "Jim" })
    const { token } = await first.admin.tokens.add({ principal: "Jim" })
    const desk = await opened(home, era, ["--token", token])
    expect(await use(desk, "motto")).toMatchObject({ structuredContent: { done: "motto" } })
    // Whoever had a session is told that everything may be other than it was.
    const changed = new Promise<string>((resolve) => {
      if (era === "sdk 1.32") desk.client.fallbackNotificationHandler = async ({ method }) => resolve(method)
      else resolve("notifications/tools/list_changed")
    })
    const waits = (await use(desk, "wipe")).structuredContent!
    await first.kill()
    // Asked while nobody is there: answered by the house that comes.
    const meanwhile = use(desk, "motto")
    const second = await home.start()
    expect(await meanwhile).toMatchObject({ structuredContent: { done: "motto" } })
    expect(await changed).toBe("notifications/tools/list_changed")
    await second.admin.decisions.answer(waits["decision"]!, { verdict: "approve" })
    expect(await second.admin.calls.get(waits["call"]!, { wait: 10 })).toMatchObject({ state: "done" })
    expect((await use(desk, "call_status", { call: waits["call"] })).content[0]!.text).toContain('"state":"done"')
    const calls = (await second.admin.calls.list({ limit: 100 })).items.map((call) => call.tool).toSorted()
    expect(calls).toEqual(["call_status", "motto", "motto", "wipe"])
    expect(await second.stop()).toMatchObject({ code: 0 })
  })
})

it("a call that was cut off by a kill is asked about again, not made again", async () => {
  const home = newHome()
  let asked = 0
  const first = Promise.withResolvers<void>()
  const slow = createServer((_, response) => {
    asked++
    first.resolve()
    // Whoever asks a second time would be answered.
    if (asked > 1) response.end("{}")
  })
  await new Promise<void>((done) => slow.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`
  home.configure({
    tools: [tool("slow", { executionType: "gateway", execution: { method: "POST", url } })],
    egress: { allow: ["127.0.0.1"] },
  })
  const house = await home.start()
  const lines = new Lines(home)
  lines.send(initialize(), initialized, { id: 1, method: "tools/call", params: { name: "slow", arguments: {} } })
  await first.promise
  await house.kill()
  const second = await home.start()
  const { result } = (await lines.answer(1)) as { readonly result: Result }
  expect(result.isError).toBe(true)
  expect((await second.admin.calls.list({ limit: 10 })).items).toMatchObject([{ tool: "slow", state: "failed" }])
  expect(asked).toBe(1)
  expect(await lines.end()).toBe(0)
  slow.closeAllConnections()
  slow.close()
  await second.stop()
})

describe("no house", () => {
  it.for(eras)("%s gets one of its own, on the local folder, gone when the client goes", async (era) => {
    const home = newHome()
    const desk = await opened(home, era)
    expect(await use(desk, "whoami")).toMatchObject({ structuredContent: { name: "admin" } })
    // Other commands find it.
    expect(JSON.parse((await home.stoa("agents", "add", "Pam", "--json")).stdout)).toMatchObject({ name: "Pam" })
    const token = readFileSync(join(home.data, "admin.token"), "utf8").trim()
    expect(desk.stderr()).toMatch(/^stoa: No house runs here: started one at http:\/\/127\.0\.0\.1:\d+ on /)
    expect(desk.stderr()).not.toContain(token)
    await desk.client.close()
    for (const name of ["pid", "address", "embedded"])
      expect([name, existsSync(join(home.data, name))]).toEqual([name, false])
    const house = await home.start()
    expect((await house.admin.principals.agents()).items).toMatchObject([{ name: "Pam" }])
    // The link that nobody saw is still to be shown.
    expect(house.process.stdout).toContain(`#token=${token}`)
    await house.stop()
  })

  it("several clients share one, and those who stay go on when its owner goes", async () => {
    const home = newHome()
    const desks = await Promise.all(eras.map((era) => opened(home, era)))
    for (const desk of desks) expect(await use(desk, "whoami")).toMatchObject({ structuredContent: { name: "admin" } })
    const owner = desks.find(({ pid }) => readFileSync(join(home.data, "pid"), "utf8").trim() === String(pid))!
    const other = desks.find((it) => it !== owner)!
    await owner.client.close()
    expect(await use(other, "whoami")).toMatchObject({ structuredContent: { name: "admin" } })
    expect(readFileSync(join(home.data, "pid"), "utf8").trim()).toBe(String(other.pid))
    await other.client.close()
    expect(existsSync(join(home.data, "pid"))).toBe(false)
  })

  it("SIGTERM is an end like any other: exit 0, and the folder is free", async () => {
    const home = newHome()
    const lines = new Lines(home)
    lines.send(initialize(), initialized, { id: 1, method: "tools/call", params: { name: "whoami", arguments: {} } })
    await lines.answer(1)
    lines.child.kill("SIGTERM")
    expect(await lines.ended).toBe(0)
    for (const name of ["pid", "address", "embedded"])
      expect([name, existsSync(join(home.data, name))]).toEqual([name, false])
  })

  it("a folder that cannot be used is exit 2 with the reason, and nothing on stdout", async () => {
    const home = newHome()
    home.configure({ agents: [{ nome: "Faulty" }] })
    const ended = await home.stoa("mcp")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^stoa: \S+stoa\.config\.json was not applied/)
  })
})
