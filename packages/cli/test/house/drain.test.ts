/** A house that is told to stop amid a burst: whoever has sent a request is answered, on connections that are kept alive too. */
import { writeFileSync } from "node:fs"
import { connect as dial } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const home = new Home()
const there = new Home()
afterAll(() => Promise.all([home.remove(), there.remove()]))

interface Answer {
  readonly status: number
  readonly headers: string
}

/** One connection that asks again as soon as it was answered, until it is told to go. */
class Busy {
  readonly answers: Array<Answer> = []
  readonly done: Promise<string>
  /** Sent, and not answered. */
  asked: string | undefined
  #heard = Buffer.alloc(0)

  constructor(
    port: number,
    next: () => { readonly name: string; readonly text: string },
    answered: (name: string, answer: Answer) => void,
  ) {
    const socket = dial(port, "127.0.0.1")
    const ask = () => {
      const { name, text } = next()
      this.asked = name
      socket.write(text)
    }
    this.done = new Promise((done) => {
      let why = "closed"
      socket.on("connect", ask)
      socket.on("error", (error: NodeJS.ErrnoException) => void (why = error.code ?? error.message))
      // A request that is cut off is one that was asked and not answered.
      socket.on("close", () => done(this.asked === undefined ? "answered" : `${this.asked}: ${why}`))
      socket.on("data", (chunk) => {
        this.#heard = Buffer.concat([this.#heard, chunk])
        const answer = this.#whole()
        if (answer === undefined) return
        const name = this.asked!
        this.asked = undefined
        this.answers.push(answer)
        answered(name, answer)
        if (!/^connection: close$/im.test(answer.headers)) ask()
      })
    })
  }

  #whole(): Answer | undefined {
    const end = this.#heard.indexOf("\r\n\r\n")
    if (end < 0) return undefined
    const headers = this.#heard.subarray(0, end).toString("latin1")
    const length = Number(/^content-length: (\d+)$/im.exec(headers)?.[1] ?? 0)
    if (this.#heard.length < end + 4 + length) return undefined
    this.#heard = this.#heard.subarray(end + 4 + length)
    return { status: Number(headers.slice(9, 12)), headers }
  }
}

const requestOf = ({ port, token }: House, path: string, body: unknown, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body)
  const fields = {
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
}

/** How often the same is tried: which request is where when the house is told to stop is not the same twice. */
const rounds = [1, 2, 3]

describe("SIGTERM amid a burst on connections that are kept alive", () => {
  let made = 0
  const kept = new Map<string, number>()

  for (const round of rounds)
    it(`every request that was sent is answered: with its result, or 503 and when to come back (${round})`, async () => {
      const house = await home.start()
      const http = () => {
        const name = `burst-${++made}`
        return { name, text: requestOf(house, "/api/v1/principals", { kind: "agent", name }) }
      }
      const mcp = () => {
        const name = `mcp-${++made}`
        const params = { name: "whoami", arguments: {}, _meta: envelope }
        const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "whoami" }
        const message = { jsonrpc: "2.0", id: name, method: "tools/call", params }
        return { name, text: requestOf(house, "/mcp/stoa", message, headers) }
      }
      let count = 0
      const answered = (name: string, { status }: Answer) => {
        kept.set(name, status)
        if (++count === 300) house.process.child.kill("SIGTERM")
      }
      const clients = Array.from({ length: 60 }, (_, n) => new Busy(house.port, n % 2 === 0 ? http : mcp, answered))
      const ends = await Promise.all(clients.map((one) => one.done))
      expect(ends.filter((end) => end !== "answered")).toEqual([])
      const all = clients.flatMap((one) => one.answers)
      expect(all.filter(({ status }) => ![200, 201, 503].includes(status))).toEqual([])
      const late = all.filter(({ status }) => status === 503)
      expect(late.filter(({ headers }) => !/^retry-after: \d+$/im.test(headers))).toEqual([])
      expect(await house.process.ended).toMatchObject({ code: 0, signal: null })
    })

  it("what was answered with 503 has not happened, and everything else has", async () => {
    const house = await home.start()
    const names = new Set<string>()
    for (let cursor: string | undefined; ;) {
      const page = await house.admin.principals.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })
      for (const { name } of page.items) names.add(name)
      if (page.next === null) break
      cursor = page.next
    }
    const wanted = [...kept].filter(([name, status]) => name.startsWith("burst-") && status === 201)
    expect([...names].filter((name) => name.startsWith("burst-")).toSorted()).toEqual(
      wanted.map(([name]) => name).toSorted(),
    )
    await house.stop()
  })

  it("a question that a client of the old era left open keeps no house from closing, and its call is not given up", async () => {
    const house = await home.start()
    const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
    await house.admin.mcpServers.add({ name: "every", command: process.execPath, args: [everything, "stdio"] })
    const left = new AbortController()
    const send = (message: object, more: Record<string, string> = {}) =>
      fetch(`${house.url}/mcp/servers/every`, {
        method: "POST",
        signal: left.signal,
        headers: {
          authorization: `Bearer ${house.token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...more,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      })
    const clientInfo = { name: "old", version: "1" }
    const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }
    const session = (await send({ method: "initialize", params })).headers.get("mcp-session-id")!
    const asks = { method: "tools/call", params: { name: "trigger-elicitation-request", arguments: {} } }
    const reader = (await send(asks, { "mcp-session-id": session })).body!.getReader()
    for (let heard = ""; !heard.includes("elicitation/create");)
      heard += new TextDecoder().decode((await reader.read()).value)
    const [call] = (await house.admin.calls.list({ state: "waiting" })).items
    left.abort()
    expect(await house.stop()).toMatchObject({ code: 0, signal: null })
    const next = await home.start()
    // The server waited on a stream of that house: nobody has cancelled it, and nobody knows what it did.
    const after = await next.admin.calls.get(call!.id)
    expect(after).toMatchObject({ state: "failed", error: { tag: "ToolExecutionError" } })
    await next.stop()
  })
})

it("a step that is under way when the house is told to stop is taken to its end, and is not taken again", async () => {
  const rules = join(there.folder, "rules.json")
  const first = { when: { step: 1 }, say: "thought about", call: [{ tool: "whoami" }], waitMs: 1000 }
  writeFileSync(rules, JSON.stringify({ rules: [first, { when: {}, say: "done" }] }))
  there.configure({ models: { script: { provider: "scripted", rules } } })
  const house = await there.start()
  const agent = await house.admin.principals.add({ kind: "agent", name: "thinker" })
  await house.admin.agents.change(agent.id, { model: "script" })
  const { run } = await house.admin.agents.trigger("thinker", { text: "go" })
  await expect.poll(async () => (await house.admin.runs.get(run)).state).toBe("running")
  expect(await house.stop()).toMatchObject({ code: 0 })
  const stopped = Date.now()
  const again = await there.start()
  await expect.poll(async () => (await again.admin.runs.get(run)).state).toBe("completed")
  const { items } = await again.admin.runs.steps(run)
  expect(items).toHaveLength(2)
  // The first was written before the house was gone.
  expect(Date.parse(String(items[0]!.saidAt))).toBeLessThanOrEqual(stopped)
})
