/** The suites of the seeds' contracts against a house, and against servers that break one: they must notice. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  engramsSuite,
  gatewaySuite,
  mcpToolClient,
  type Office,
  officeSuite,
  type ToolClient,
  type ServiceOutcome,
  type ServiceWorld,
  startHouse,
  teamSuite,
  type TestHouse,
  toolServiceSuite,
} from "@stoa/sdk/testing"
import * as Tools from "../../tools/src/index.ts"

let house: TestHouse
beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house.stop())

let made = 0
const someone = async (toolset: "office" | "gateway" | "engrams" | "team", more: object = {}) => {
  const { id } = await house.admin.principals.add({
    kind: "agent",
    name: `${toolset}-${++made}`,
    toolsets: [toolset],
    ...more,
  })
  const { token } = await house.admin.tokens.add({ principal: id })
  return { id, name: `${toolset}-${made}`, client: await mcpToolClient({ url: `${house.url}/mcp/${toolset}`, token }) }
}
const space = async (...members: ReadonlyArray<{ readonly id: string }>) =>
  (await house.admin.spaces.add({ name: `space-${++made}`, kind: "private", members: members.map(({ id }) => id) })).id

const pair = async (toolset: "office" | "gateway") => {
  const [one, other] = [await someone(toolset), await someone(toolset)]
  return { one: one.client, other: other.client, shared: await space(one, other), closed: await space(other) }
}
const office = async (): Promise<Office> => {
  const { shared, ...rest } = await pair("office")
  return { ...rest, channel: shared }
}

/** The library's own service, as the suite speaks to one. */
const service = (): ServiceWorld => {
  const audit: Array<{ readonly resource: string; readonly result: string }> = []
  const ports = Layer.mergeAll(
    Layer.succeed(Tools.AuditPort, { record: (entry) => Effect.sync(() => void audit.push(entry)) }),
    Layer.succeed(Tools.IdentityPort, {
      authorize: (agentId: string) => (agentId === "refused" ? Effect.fail("no") : Effect.void),
    }),
  )
  const runtime = ManagedRuntime.make(Layer.provide(Tools.ToolServiceLive, ports))
  const use = <A, E>(ask: (tools: Tools.ToolService["Service"]) => Effect.Effect<A, E>) =>
    runtime.runPromise(Effect.flatMap(Tools.ToolService, ask))
  return {
    register: (tool, handler) =>
      use((tools) =>
        tools.register(tool as never, (input) =>
          Effect.tryPromise({
            try: async () => await handler(input),
            catch: (cause) => new Tools.ToolExecutionError({ message: String(cause), toolName: tool.name, cause }),
          }),
        ),
      ),
    execute: (toolName, input, agentId = "agent-1") =>
      use((tools) =>
        Effect.match(tools.execute({ toolName, arguments: input, agentId, sessionId: "s" }), {
          onFailure: (error) => error as unknown as ServiceOutcome,
          onSuccess: (output) => output as unknown as ServiceOutcome,
        }),
      ),
    list: (filter) => use((tools) => tools.listTools(filter as never)),
    formats: () => use((tools) => tools.toFunctionCallingFormat()),
    audited: () => audit,
  }
}

describe("a house holds each seed's contract", () => {
  for (const { run, title } of officeSuite(office)) it(`office: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of gatewaySuite(async () => {
    const { shared, ...rest } = await pair("gateway")
    return { ...rest, space: shared }
  }))
    it(`gateway: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of engramsSuite(async () => {
    const [wallet, otherWallet] = [`0xone${++made}`, `0xother${made}`]
    const [one, other] = [await someone("engrams", { wallet }), await someone("engrams", { wallet: otherWallet })]
    return { one: one.client, other: other.client, wallet, otherWallet }
  }))
    it(`engrams: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of teamSuite(async () => {
    const root = await someone("team")
    const below = async (parent: { readonly id: string }) => {
      const child = await someone("team")
      await house.admin.agents.change(child.id, { parent: parent.id, autoWake: false })
      return child
    }
    const [one, two] = [await below(root), await below(root)]
    return { root, one, two, kid: await below(one) }
  }))
    it(`team: ${title}`, () => expect(run()).resolves.toBeUndefined())
  for (const { run, title } of toolServiceSuite(() => Promise.resolve(service())))
    it(`tool service: ${title}`, () => expect(run()).resolves.toBeUndefined())
})

it("G-42 the kit has a scripted model, a clock that is moved, faults that are injected, and a suite for each of the five contracts", async () => {
  const never = () => Promise.reject(new Error("not opened"))
  const suites = [
    officeSuite(never),
    gatewaySuite(never),
    engramsSuite(never),
    teamSuite(never),
    toolServiceSuite(never),
  ]
  suites.forEach((cases, seed) => {
    expect(cases.length).toBeGreaterThan(5)
    for (const { ids } of cases) for (const id of ids) expect(id).toMatch(new RegExp(`^S${seed}-`))
  })
  await using own = await startHouse({
    configuration: {
      people: [{ name: "Pam" }],
      agents: [{ name: "Clerk", model: "scripted", toolsets: ["gateway"] }],
      spaces: [{ name: "desk", kind: "private", members: ["Pam", "Clerk"] }],
    },
    rules: [
      {
        when: { text: "remind", step: 1 },
        call: [{ tool: "set_plans", input: { plans: [{ name: "ring", instruction: "call", runAfter: "1 day" }] } }],
      },
    ],
  })
  const pam = await own.as("Pam")
  // The answer is lost on its way, and what was asked happens once all the same.
  own.fault({ method: "POST", path: /messages$/, act: "lost" })
  await pam.spaces.post("desk", { text: "remind me" })
  expect((await own.event("run.ended")).body).toMatchObject({ state: "completed" })
  expect((await pam.spaces.messages("desk")).items.map(({ text }) => text)).toEqual(["remind me"])
  const fired = own.event("run.queued", ({ body }) => (body as { trigger?: string }).trigger === "plan")
  own.advance("25 hours")
  expect((await fired).kind).toBe("run.queued")
})

/** One tool's answers, changed. */
const broken = (client: ToolClient, tool: string, value: unknown, isError = false): ToolClient => ({
  ...client,
  call: async (name, input) =>
    name === tool ? { isError, value, text: JSON.stringify(value) } : await client.call(name, input),
})

it("a server that breaks the contract is noticed, with what was found", async () => {
  const failing = async (change: (world: Office) => Office) => {
    const failed: Array<string> = []
    for (const { ids, run } of officeSuite(async () => change(await office())))
      await run().catch((error: Error) => failed.push(`${ids.join(" ")}: ${error.message}`))
    return failed
  }
  expect(await failing((world) => world)).toEqual([])
  const odd = await failing((world) => ({ ...world, one: broken(world.one, "do_nothing", { action: "something" }) }))
  expect(odd).toEqual([expect.stringMatching(/^S0-28: .*something/)])
  const open = await failing((world) => ({ ...world, one: broken(world.one, "send_message", { messageId: "m" }) }))
  expect(open.map((one) => one.split(":")[0])).toEqual(expect.arrayContaining(["S0-07 S0-08 S0-15", "S0-16"]))
})
