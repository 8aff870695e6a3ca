/**
 * How far a call travels: the files, functions and lines of ours that run for it, and what stands between the door and the
 * tool's handler. Counted by V8 in a house of its own (precise coverage, a breakpoint in the handler), not timed.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { addAgent } from "./kit/api.ts"
import { callOf, hello } from "./mcp/mcpMessages.ts"
import { number, table } from "./kit/measure.ts"
import { freePort, type House, root, sleep, startHouse, temporaryFolder } from "./processes.ts"

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}
interface Script {
  readonly url: string
  readonly functions: ReadonlyArray<{ readonly functionName: string; readonly ranges: ReadonlyArray<Range> }>
}
interface Place {
  readonly scriptId: string
  readonly lineNumber: number
}
interface Frame {
  readonly callFrameId: string
  readonly functionName: string
  readonly location: Place
  readonly url: string
}
type Json = Readonly<Record<string, unknown>>

/** A debugger on the house, over its own protocol. */
const attach = async (port: number) => {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as ReadonlyArray<{
    readonly webSocketDebuggerUrl: string
  }>
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  await new Promise((resolve) => socket.addEventListener("open", resolve))
  const waiting = new Map<number, (result: Json) => void>()
  const hearers = new Map<string, (params: unknown) => void>()
  let last = 0
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as { id?: number; method?: string; params?: unknown; result?: Json }
    if (message.id !== undefined) waiting.get(message.id)?.(message.result ?? {})
    else hearers.get(message.method!)?.(message.params)
  })
  return {
    on: <A>(event: string, hear: (params: A) => void) => void hearers.set(event, hear as (params: unknown) => void),
    send: <A = Json>(method: string, params: object = {}): Promise<A> =>
      new Promise((resolve) => {
        waiting.set(++last, resolve as never)
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    close: () => socket.close(),
  }
}
type Debugger = Awaited<ReturnType<typeof attach>>

const ours = (url: string): string | undefined =>
  /\/packages\/[^/]+\/src\/.+\.ts$/.test(url) ? url.slice(url.indexOf("/packages/") + "/packages/".length) : undefined

/** Lines of a file that ran: each with at least one character of code in an executed range. */
const linesOf = (file: string, { functions }: Script): number => {
  const text = readFileSync(join(root, "packages", file), "utf8")
  const ran = new Uint8Array(text.length)
  // Outer ranges come before what lies in them.
  const ranges = functions.flatMap((one) => one.ranges)
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  for (const { count, endOffset, startOffset } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  let lines = 0
  let at = 0
  for (const line of text.split("\n")) {
    const code = !/^\s*(?:\/\/|\/?\*|$)/.test(line)
    if (code && ran.subarray(at, at + line.length).includes(1)) lines++
    at += line.length + 1
  }
  return lines
}

interface Trip {
  readonly files: ReadonlySet<string>
  readonly functions: number
  readonly lines: number
}

const tripOf = (scripts: ReadonlyArray<Script>): Trip => {
  const files = new Set<string>()
  let functions = 0
  let lines = 0
  for (const script of scripts) {
    const file = ours(script.url)
    const ran = script.functions.filter((one) => one.functionName !== "" || one.ranges[0]!.startOffset > 0)
    const some = ran.filter((one) => one.ranges[0]!.count > 0)
    if (file === undefined || some.length === 0) continue
    files.add(file)
    functions += some.length
    lines += linesOf(file, script)
  }
  return { files, functions, lines }
}

const repeats = 5

/** What runs each time it is made, and not only now and then, as timers do. */
const trip = async (debug: Debugger, make: () => Promise<void>): Promise<Trip> => {
  await debug.send("Profiler.enable")
  await debug.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  for (let n = 0; n < 10; n++) await make()
  const trips: Array<Trip> = []
  for (let n = 0; n < repeats; n++) {
    await sleep(300)
    await debug.send("Profiler.takePreciseCoverage")
    await make()
    const { result } = await debug.send<{ readonly result: ReadonlyArray<Script> }>("Profiler.takePreciseCoverage")
    trips.push(tripOf(result))
  }
  await debug.send("Profiler.stopPreciseCoverage")
  const files = new Set([...trips[0]!.files].filter((file) => trips.every((one) => one.files.has(file))))
  const least = (of: (one: Trip) => number) => Math.min(...trips.map(of))
  return { files, functions: least((one) => one.functions), lines: least((one) => one.lines) }
}

/** Where a continuation of a fiber was written: the generator that goes on, or the function that is called next. */
const continuations = `(function () {
  const found = []
  for (let at = this._stack.length - 1; at >= 0; at--) {
    const one = this._stack[at]
    if (one.iterator !== undefined) { found.push(one.iterator); continue }
    const keys = [...Object.getOwnPropertySymbols(one), ...Object.getOwnPropertyNames(one)]
    const next = keys.map((key) => one[key]).filter((value) => typeof value === "function")
    if (next.length > 0) found.push(next.at(-1))
  }
  return found
}).call(this)`

/** The frames of ours that stand when a tool's handler is called, innermost first. */
const framesAt = async (debug: Debugger, make: () => Promise<void>): Promise<ReadonlyArray<string>> => {
  const urls = new Map<string, string>()
  debug.on<{ scriptId: string; url: string }>("Debugger.scriptParsed", (it) => void urls.set(it.scriptId, it.url))
  await debug.send("Debugger.enable")
  const handler = [...urls.values()].find((url) => url.endsWith("/kinds/static.ts"))!
  const text = readFileSync(new URL(handler), "utf8").split("\n")
  const lineNumber = text.findIndex((line) => line.includes("=> answer"))
  const columnNumber = text[lineNumber]!.indexOf("=> answer") + 3
  await debug.send("Debugger.setBreakpointByUrl", { url: handler, lineNumber, columnNumber })
  const nameOf = (functionName: string, { lineNumber: line, scriptId }: Place): string | undefined => {
    const file = ours(urls.get(scriptId) ?? "")
    return file === undefined ? undefined : `${file}:${line + 1} ${functionName}`
  }
  const standing = await new Promise<ReadonlyArray<string>>((resolve) => {
    const look = async ({ callFrames }: { readonly callFrames: ReadonlyArray<Frame> }) => {
      const found: Array<string> = []
      for (const { callFrameId, functionName, location } of callFrames) {
        const here = nameOf(functionName, location)
        if (here !== undefined) found.push(here)
        if (functionName !== "runLoop") continue
        const { result } = await debug.send<{ result: { objectId?: string } }>("Debugger.evaluateOnCallFrame", {
          callFrameId,
          expression: continuations,
        })
        if (result.objectId === undefined) continue
        const { result: items } = await debug.send<{
          result: ReadonlyArray<{ name: string; value?: { objectId?: string } }>
        }>("Runtime.getProperties", { objectId: result.objectId, ownProperties: true })
        for (const item of items) {
          if (item.value?.objectId === undefined || !/^\d+$/.test(item.name)) continue
          const { internalProperties = [], result: own } = await debug.send<{
            internalProperties?: ReadonlyArray<{ name: string; value?: { value?: Place; objectId?: string } }>
            result: ReadonlyArray<{ name: string; value?: { value?: string } }>
          }>("Runtime.getProperties", { objectId: item.value.objectId, ownProperties: true })
          const of = (name: string) => internalProperties.find((one) => one.name === name)?.value
          const place = (of("[[GeneratorLocation]]") ?? of("[[FunctionLocation]]"))?.value
          const name = own.find((one) => one.name === "name")?.value?.value ?? ""
          const there = place === undefined ? undefined : nameOf(name, place)
          if (there !== undefined) found.push(there)
        }
      }
      await debug.send("Debugger.resume")
      resolve(found)
    }
    debug.on("Debugger.paused", (paused: { readonly callFrames: ReadonlyArray<Frame> }) => void look(paused))
    void make()
  })
  await debug.send("Debugger.disable")
  return standing
}

const fileOf = (frame: string): string => frame.slice(0, frame.indexOf(":"))

/** How often the way leads back to a file that it had left. */
const returnsOf = (frames: ReadonlyArray<string>): number => {
  const files = frames.map(fileOf).filter((file, at, all) => file !== all[at - 1])
  return files.length - new Set(files).size
}

const asked = { ...hello, name: "asked", requiresApproval: true }

const request = async (house: House, method: string, path: string, token: string, body?: object): Promise<Json> => {
  const response = await fetch(`http://127.0.0.1:${house.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return text === "" ? {} : (JSON.parse(text) as Json)
}

export const journey = async (): Promise<string> => {
  const folder = temporaryFolder()
  const inspect = await freePort()
  const house = await startHouse(join(folder, "house"), {
    nodeOptions: [`--inspect=127.0.0.1:${inspect}`],
    config: { tools: [hello, asked] },
    sources: true,
  })
  const agent = await addAgent(house, "walker")
  const debug = await attach(inspect)

  const { body, headers, path } = callOf("2026-07-28", "hello")
  const call = async () => {
    const response = await fetch(`http://127.0.0.1:${house.port}${path}`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${agent}`, "content-type": "application/json" },
      body: body!,
    })
    const said = await response.text()
    if (!said.includes('"ok')) throw new Error(`the call failed: ${said}`)
  }
  const approved = async () => {
    const made = await request(house, "POST", "/api/v1/tools/asked/call", agent, { input: { word: "x" }, wait: 0 })
    const { id } = made["on"] as { readonly id: string }
    await request(house, "POST", `/api/v1/decisions/${id}/answer`, house.token, { verdict: "approve" })
    for (;;) {
      const now = await request(house, "GET", `/api/v1/calls/${String(made["id"])}`, agent)
      if (now["state"] === "done") return
      await sleep(5)
    }
  }
  const direct = await trip(debug, call)
  const waiting = await trip(debug, approved)
  const frames = await framesAt(debug, call)
  debug.close()
  await house.stop()
  const row = (name: string, { files, functions, lines }: Trip, more: ReadonlyArray<string>) => [
    name,
    String(files.size),
    String(functions),
    number(lines),
    ...more,
  ]
  const rooms = new Map<string, number>()
  for (const file of direct.files) {
    const room = file
      .split("/")
      .slice(0, file.startsWith("server/") ? 3 : 1)
      .join("/")
    rooms.set(room, (rooms.get(room) ?? 0) + 1)
  }
  if (process.env["JOURNEY"] !== undefined) console.log([...direct.files].toSorted().join("\n"), "\n")
  return [
    table(
      ["journey", "files", "functions", "lines", "frames", "returns to a file"],
      [
        row("`tools/call` of a static tool over MCP", direct, [String(frames.length), String(returnsOf(frames))]),
        row("a call that waits, its approval, its result (HTTP)", waiting, ["-", "-"]),
      ],
    ),
    "",
    `Files by room: ${[...rooms].map(([room, count]) => `${room} ${count}`).join(", ")}.`,
    "",
    "What stands when the handler is called, innermost first (JavaScript frames and what the fiber goes on with):",
    "",
    ...frames.map((frame) => `- ${frame}`),
  ].join("\n")
}
