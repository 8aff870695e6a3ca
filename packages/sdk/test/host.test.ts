/** Functions of a process as tools of a real house: called, refused, canceled, and both sides killed amid a call. */
import { fileURLToPath } from "node:url"
import { connect, type FunctionOptions, type Host, type HostedContext, type Stoa, StoaError } from "@stoa/sdk"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { Home, type House } from "../../cli/test/kit/home.ts"

const home = new Home()
let house: House
/** Whose functions they are, and who calls them. */
let billing: string
let jim: string
beforeAll(async () => {
  house = await home.start()
  await house.admin.principals.add({ kind: "service", name: "billing" })
  await house.admin.grants.add({ principal: "billing", resource: "hosts/*", actions: ["write"] })
  await house.admin.principals.add({ kind: "agent", name: "Jim" })
  billing = (await house.admin.tokens.add({ principal: "billing" })).token
  jim = (await house.admin.tokens.add({ principal: "Jim" })).token
})
afterAll(() => home.remove())

const as = (token: string): Stoa => connect({ url: house.url, token })
const begun = new Set<Host>()
const hostOf = (token: string, options: Parameters<Stoa["host"]>[0]): Host => {
  const host = as(token).host(options)
  begun.add(host)
  return host
}
afterEach(async () => {
  await Promise.all([...begun].map((host) => host.stop({ withinMillis: 0 })))
  begun.clear()
})

const open: FunctionOptions = { description: "Does something.", inputSchema: { type: "object" } }
const sum: FunctionOptions = {
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
}

let made = 0
const fresh = (word: string) => `${word}_${++made}`
/** A promise and its end, in the hands of a test. */
const later = <A>() => {
  let resolve!: (value: A) => void
  const promise = new Promise<A>((done) => (resolve = done))
  return { promise, resolve }
}
const refusal = async (asked: Promise<unknown>): Promise<StoaError> => {
  const error: unknown = await asked.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(StoaError)
  return error as StoaError
}

describe("a hosted function", () => {
  it("is listed as it says of itself, called with checked input, and answers with checked output", async () => {
    const name = fresh("sum")
    const seen: Array<unknown> = []
    const host = hostOf(billing, { name: fresh("host") }).tool(name, sum, ({ a, b }, { principal, space }) => {
      seen.push({ a, b, principal, space })
      return a === 13 ? { wrong: true } : { sum: Number(a) + Number(b) }
    })
    await host.start()
    const listed = await as(jim).tools.get(name)
    expect(listed).toMatchObject({
      executionType: "external",
      source: "function",
      set: "configured",
      riskLevel: "medium",
    })
    expect(JSON.stringify(listed.inputSchema)).toBe(JSON.stringify(sum.inputSchema))
    const me = await as(jim).principals.me()
    expect(await as(jim).tools.call(name, { input: { a: 2, b: 3 } })).toMatchObject({
      state: "done",
      output: { sum: 5 },
      principal: me.id,
    })
    expect(await refusal(as(jim).tools.call(name, { input: { a: "2" } }))).toMatchObject({ tag: "ToolValidationError" })
    expect(await as(jim).tools.call(name, { input: { a: 1, b: 1 }, dryRun: true })).toMatchObject({
      dryRun: true,
      sends: { host: host.name, tool: name, input: { a: 1, b: 1 } },
    })
    expect(await as(jim).tools.call(name, { input: { a: 13, b: 0 } })).toMatchObject({
      state: "failed",
      error: { tag: "ToolExecutionError", message: expect.stringMatching(/output.*sum/s) },
    })
    expect(seen).toEqual([
      { a: 2, b: 3, principal: me.id, space: null },
      { a: 13, b: 0, principal: me.id, space: null },
    ])
  })

  it("that throws fails its call with its own words; one that gives nothing gives null; a circle is a failure", async () => {
    const name = fresh("odd")
    const circle: { self?: unknown } = {}
    circle.self = circle
    const host = hostOf(billing, { name: fresh("host") }).tool(name, open, ({ how }) => {
      if (how === "throw") throw new Error("the printer is on fire")
      return how === "circle" ? circle : undefined
    })
    await host.start()
    const call = (how: string) => as(jim).tools.call(name, { input: { how } })
    expect(await call("throw")).toMatchObject({ state: "failed", error: { message: "the printer is on fire" } })
    expect(await call("nothing")).toMatchObject({ state: "done", output: null })
    expect(await call("circle")).toMatchObject({
      state: "failed",
      error: { message: expect.stringMatching(/circular/) },
    })
  })

  it("stoa.tool is the short form: a bare schema, then another function on the same host", async () => {
    const [first, second] = [fresh("short"), fresh("short")]
    const client = as(billing)
    const host = await client.tool(first, { type: "object", description: "Says yes." }, () => "yes")
    begun.add(host)
    await expect(client.tool("list_spaces", { type: "object" }, () => "mine")).rejects.toThrow(
      /the name of a built-in tool/,
    )
    expect(await client.tool(second, { ...open, riskLevel: "low" }, () => "no")).toBe(host)
    expect(await as(jim).tools.get(first)).toMatchObject({ description: "Says yes." })
    expect(await as(jim).tools.call(first, {})).toMatchObject({ output: "yes" })
    expect(await as(jim).tools.call(second, {})).toMatchObject({ output: "no" })
    await host.stop()
    expect(await refusal(as(jim).tools.call(first, {}))).toMatchObject({ tag: "ToolNotFoundError" })
  })

  it("S4-95 that needs approval, whatever its risk, runs once it is approved, and not when it is denied", async () => {
    const name = fresh("wipe")
    let runs = 0
    const host = hostOf(billing, { name: fresh("host") }).tool(
      name,
      { ...open, riskLevel: "low", requiresApproval: true },
      () => ++runs,
    )
    await host.start()
    const waiting = await Promise.all([1, 2].map((n) => as(jim).tools.call(name, { input: { n } })))
    const [yes, no] = waiting as ReadonlyArray<{ id: string; state: string; on: { kind: string; id: string } }>
    expect([yes!.state, yes!.on.kind, runs]).toEqual(["waiting", "decision", 0])
    await house.admin.decisions.answer(no!.on.id, { verdict: "deny" })
    await house.admin.decisions.answer(yes!.on.id, { verdict: "approve" })
    expect(await as(jim).calls.get(yes!.id, { wait: 20 })).toMatchObject({ state: "done", output: 1 })
    expect(await as(jim).calls.get(no!.id, { wait: 20 })).toMatchObject({ state: "refused" })
    expect(runs).toBe(1)
  })

  it("whose call is canceled hears of it, and its late answer changes nothing", async () => {
    const name = fresh("slow")
    const [runs, aborted, go] = [later<string>(), later<void>(), later<void>()]
    const host = hostOf(billing, { name: fresh("host") }).tool(name, open, async (_, { callId, signal }) => {
      signal.addEventListener("abort", () => aborted.resolve())
      runs.resolve(callId)
      await go.promise
      return "late"
    })
    await host.start()
    const call = await as(jim).tools.call(name, { wait: 0 })
    expect(call).toMatchObject({ state: expect.stringMatching(/waiting|running/) })
    const id = await runs.promise
    await as(jim).calls.cancel(id)
    await aborted.promise
    go.resolve()
    await host.stop()
    expect(await as(jim).calls.get(id)).toMatchObject({ state: "canceled" })
  })

  it("works on so many calls at a time, and the others wait their turn", async () => {
    const name = fresh("busy")
    let [now, most] = [0, 0]
    const gate = later<void>()
    const host = hostOf(billing, { name: fresh("host"), concurrency: 2 }).tool(name, open, async () => {
      most = Math.max(most, ++now)
      if (most === 2) gate.resolve()
      await gate.promise
      now--
      return most
    })
    await host.start()
    const calls = await Promise.all(Array.from({ length: 7 }, (_, n) => as(jim).tools.call(name, { input: { n } })))
    expect(calls.map((call) => ("state" in call ? call.state : ""))).toEqual(calls.map(() => "done"))
    expect(most).toBe(2)
  })
})

describe("who may", () => {
  it("offer to everybody: whoever was let; to oneself: anybody, and nobody else sees it", async () => {
    const name = fresh("mine")
    const options = { name: fresh("host") }
    const shared = hostOf(jim, options).tool(name, open, () => "hi")
    expect(await refusal(shared.start())).toMatchObject({ tag: "Forbidden", status: 403 })
    const own = hostOf(jim, { ...options, shared: false }).tool(name, open, () => "hi")
    await own.start()
    expect(await as(jim).tools.call(name, {})).toMatchObject({ state: "done", output: "hi" })
    expect(await refusal(as(billing).tools.call(name, {}))).toMatchObject({ status: 404 })
    expect(await refusal(house.admin.tools.get(name))).toMatchObject({ status: 404 })
    // Its name is not taken from anybody.
    const same = hostOf(billing, { name: fresh("host") }).tool(name, open, () => "theirs")
    await same.start()
    expect(await as(billing).hosts.list()).toMatchObject({
      items: [{ name: same.name, shared: true, connected: true }],
    })
  })

  it("answer: the host's owner alone, and once", async () => {
    const name = fresh("asked")
    const runs = later<HostedContext>()
    const host = hostOf(billing, { name: fresh("host") }).tool(name, open, (_, context) => {
      runs.resolve(context)
      return new Promise(() => {})
    })
    await host.start()
    await as(jim).tools.call(name, { wait: 0 })
    const { callId } = await runs.promise
    await house.admin.principals.add({ kind: "agent", name: fresh("Dwight") })
    const outsider = (await house.admin.tokens.add({ principal: `Dwight_${made}` })).token
    const forged = { output: "forged" }
    expect(await refusal(as(outsider).results.submit(callId, forged))).toMatchObject({ status: 404 })
    expect(await refusal(house.admin.results.submit(callId, forged))).toMatchObject({ status: 404 })
    expect(await refusal(as(jim).results.submit(callId, forged))).toMatchObject({ status: 403 })
    expect(await as(billing).results.submit(callId, { output: "mine" })).toMatchObject({
      state: "done",
      output: "mine",
    })
    expect(await refusal(as(billing).results.submit(callId, forged))).toMatchObject({ status: 409 })
  })

  it("a second process under the same name takes the place of the first, which is told", async () => {
    const name = fresh("twice")
    const options = { name: fresh("host") }
    const first = hostOf(billing, options).tool(name, open, () => "first")
    await first.start()
    const second = hostOf(billing, options).tool(name, open, () => "second")
    await second.start()
    await expect(first.ended).rejects.toThrow(/Another process took the place/)
    // One that was replaced takes nothing away from the one that replaced it.
    await first.stop()
    expect(await as(jim).tools.call(name, {})).toMatchObject({ output: "second" })
  })
})

describe("when one of the two dies", () => {
  const spawned = (host: string, tool: string) =>
    home.program(process.execPath, [fileURLToPath(new URL("./kit/hostProcess.ts", import.meta.url))], {
      env: { STOA_URL: house.url, STOA_TOKEN: billing, HOST_NAME: host, TOOL_NAME: tool },
    })

  it("a killed host fails its call clearly, a new process does not get it, and without one a call fails at once", async () => {
    const [host, tool] = [fresh("host"), fresh("lost")]
    const first = spawned(host, tool)
    await first.said(/started/)
    const call = (await as(jim).tools.call(tool, { wait: 0 })) as { readonly id: string }
    await first.said(new RegExp(`runs ${call.id}`))
    await first.signal("SIGKILL")
    const second = spawned(host, tool)
    await second.said(/started/)
    expect(await as(jim).tools.call(tool, { input: { quick: true } })).toMatchObject({ state: "done" })
    expect(second.stdout).not.toContain(call.id)
    await second.signal("SIGKILL")
    // Within its time to come back a call waits for it; nobody gets it.
    const early = as(jim).tools.call(tool, { wait: 60 })
    expect(await as(jim).calls.get(call.id, { wait: 60 })).toMatchObject({
      state: "failed",
      error: {
        tag: "ToolExecutionError",
        message: `The process that offers "${tool}" disconnected; it may have run`,
      },
    })
    expect(await early).toMatchObject({
      state: "failed",
      error: { message: expect.stringMatching(/disconnected before it got this call; it did not run/) },
    })
    expect(await as(jim).tools.call(tool, { wait: 60 })).toMatchObject({
      state: "failed",
      error: { message: expect.stringMatching(/is not connected, and nothing was run/) },
    })
  }, 90_000)

  it("S4-118 an approval outlives a house that is killed before it is given, and one that is killed right after it", async () => {
    const tool = fresh("asked")
    let runs = 0
    const host = hostOf(billing, { name: fresh("host") }).tool(tool, { ...open, requiresApproval: true }, () => ++runs)
    await host.start()
    const waiting = (await as(jim).tools.call(tool, {})) as {
      readonly id: string
      readonly on: { readonly id: string }
    }
    await house.kill()
    house = await home.restart(house)
    expect(await house.admin.decisions.answer(waiting.on.id, { verdict: "approve" })).toMatchObject({
      state: "answered",
    })
    await house.kill()
    house = await home.restart(house)
    // Cut off at the very moment it began it is failed and has not run; otherwise it ran, once.
    const { state } = await as(jim).calls.get(waiting.id, { wait: 60 })
    expect([state, runs]).toEqual(runs === 1 ? ["done", 1] : ["failed", 0])
  })

  it("a killed house finds the result of what ran meanwhile, and what still runs is not run again", async () => {
    const tool = fresh("steady")
    const runs: Array<string> = []
    const gates = new Map<string, ReturnType<typeof later<string>>>()
    const started = new Map(["a", "b"].map((key) => [key, later<string>()]))
    const reconnected = later<void>()
    const host = hostOf(billing, { name: fresh("host"), onReconnect: () => reconnected.resolve() }).tool<{
      key: string
    }>(tool, open, async ({ key }, { callId }) => {
      runs.push(key)
      const gate = later<string>()
      gates.set(key, gate)
      started.get(key)?.resolve(callId)
      return gate.promise
    })
    await host.start()
    for (const key of ["a", "b"]) await as(jim).tools.call(tool, { input: { key }, wait: 0 })
    const [a, b] = [await started.get("a")!.promise, await started.get("b")!.promise]
    await house.kill()
    // Done while nobody is there to hear of it.
    gates.get("a")!.resolve("while you were away")
    await reconnected.promise
    house = await home.restart(house)
    expect(await as(jim).calls.get(a, { wait: 60 })).toMatchObject({ state: "done", output: "while you were away" })
    gates.get("b")!.resolve("after all")
    expect(await as(jim).calls.get(b, { wait: 60 })).toMatchObject({ state: "done", output: "after all" })
    // The host is there again, and takes new calls.
    started.set("c", later<string>())
    const third = as(jim).tools.call(tool, { input: { key: "c" }, wait: 60 })
    await started.get("c")!.promise
    gates.get("c")!.resolve("new")
    expect(await third).toMatchObject({ state: "done", output: "new" })
    expect(runs).toEqual(["a", "b", "c"])
  })
})
