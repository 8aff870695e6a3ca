/** Tools for the Claude Agent SDK, of a real house. That package itself is tried by `npm run test:clients`. */
import { connect } from "@stoa/sdk"
import { type ClaudeTool, getTools } from "@stoa/sdk/claude"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Home, type House } from "../../cli/test/kit/home.ts"

const home = new Home()
let house: House
let pam: string
let jim: string
const strict = {
  type: "object",
  properties: { word: { type: "string", pattern: "^w" } },
  if: { required: ["word"] },
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ["word"] },
  additionalProperties: false,
}
beforeAll(async () => {
  house = await home.start()
  const { admin } = house
  for (const name of ["Pam", "Jim"]) await admin.principals.add({ kind: "agent", name, toolsets: ["office"] })
  pam = (await admin.tokens.add({ principal: "Pam" })).token
  jim = (await admin.tokens.add({ principal: "Jim" })).token
  await admin.spaces.add({ name: "general", kind: "public", members: ["Pam", "Jim"] })
  const tool = { description: "Says a word.", inputSchema: strict, executionType: "internal" as const }
  await admin.tools.add({ ...tool, name: "word", execution: { output: { said: "word" } } })
  await admin.tools.add({ ...tool, name: "wipe", execution: { output: "wiped" }, requiresApproval: true })
})
afterAll(() => home.remove())

const toolOf = (tools: ReadonlyArray<ClaudeTool>, name: string): ClaudeTool =>
  tools.find((tool) => tool.name === name) ?? expect.fail(`there is no ${name}`)
const schemaOf = (tool: ClaudeTool) =>
  (tool.inputSchema as { _zod: { toJSONSchema: () => Record<string, unknown> } })._zod.toJSONSchema()
const options = (token: string) => ({ url: house.url, token })

it("S0-03 two agents' sets are separate, and a call of one never acts as the other", async () => {
  const sets = await Promise.all([getTools(options(pam)), getTools(options(jim))])
  expect(sets[0]).not.toBe(sets[1])
  const names = sets.map((tools) => tools.map(({ name }) => name))
  expect(names[0]).toEqual(names[1])
  expect(names[0]).toEqual(expect.arrayContaining(["do_nothing", "react_to_message", "send_message", "wipe", "word"]))
  for (const [at, tool] of sets[0].entries()) expect(tool).not.toBe(sets[1][at])
  // All at once, with the handlers of one lifted out of their objects.
  const said = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const { handler } = toolOf(sets[n % 2]!, "send_message")
      return handler({ channelId: "general", text: String(n) }, {})
    }),
  )
  const { items } = await house.admin.spaces.messages("general", { limit: 100 })
  for (const [n, result] of said.entries()) {
    const { messageId } = JSON.parse(result.content[0]!.text) as { messageId: string }
    const message = items.find(({ id }) => id === `msg_${messageId}`)
    expect(message).toMatchObject({ text: String(n), author: { name: n % 2 === 0 ? "Pam" : "Jim" } })
  }
})

it("S0-04 no tool takes who calls, and saying it changes nothing", async () => {
  const tools = await getTools(options(pam))
  for (const tool of tools)
    expect(Object.keys(schemaOf(tool)["properties"] ?? {}).filter((it) => /agent|caller|actor/i.test(it))).toEqual([])
  const last = async () => (await house.admin.spaces.messages("general", { limit: 1 })).items[0]
  const before = await last()
  const { handler } = toolOf(tools, "send_message")
  const named = await handler({ channelId: "general", text: "as Jim", agentId: "Jim" }, {})
  expect(named).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("agentId") }] })
  expect(await last()).toEqual(before)
  const extra = { agentId: "Jim", authInfo: { token: jim } }
  expect((await handler({ channelId: "general", text: "as myself" }, extra)).isError).toBeUndefined()
  expect(await last()).toMatchObject({ text: "as myself", author: { name: "Pam" } })
})

it("S0-53 a result is one text item that holds JSON; what is wrong with an input is said in words", async () => {
  const tools = await getTools(options(pam))
  const { content, isError } = await toolOf(tools, "do_nothing").handler({}, {})
  expect([content.length, content[0]!.type, isError]).toEqual([1, "text", undefined])
  expect(JSON.parse(content[0]!.text)).toEqual({ action: "none" })
  const bad = await toolOf(tools, "word").handler({ word: 7 }, {})
  expect(bad).toMatchObject({ isError: true, content: [{ type: "text", text: expect.stringContaining("word") }] })
})

it("a tool's JSON Schema is kept as it is, and every input gets as far as the house", async () => {
  const word = toolOf(await getTools(options(pam)), "word")
  expect(schemaOf(word)).toEqual(strict)
  expect(word).toMatchObject({ description: "Says a word.", annotations: { readOnlyHint: expect.any(Boolean) } })
  const { _zod, safeParse } = word.inputSchema as {
    _zod: { run: (payload: unknown) => unknown }
    safeParse: (input: unknown) => unknown
  }
  const strange = { word: 7, more: [null] }
  expect(safeParse(strange)).toEqual({ success: true, data: strange })
  expect(_zod.run({ value: strange, issues: [] })).toEqual({ value: strange, issues: [] })
})

it("an admin gets an agent's set by its name: it acts as the agent, and goes on when its token was revoked", async () => {
  const tools = await getTools("Pam", { ...options(house.token), toolset: "office" })
  expect(tools.map(({ name }) => name).toSorted()).toEqual([
    "do_nothing",
    "react_to_message",
    "search_memory",
    "send_message",
    "store_memory",
    "update_memory",
  ])
  const say = async (text: string) => {
    expect((await toolOf(tools, "send_message").handler({ channelId: "general", text }, {})).isError).toBeUndefined()
    const { items } = await house.admin.spaces.messages("general", { limit: 1 })
    expect(items[0]).toMatchObject({ text, author: { name: "Pam" } })
  }
  await say("by name")
  const issued = (await house.admin.tokens.list({ principal: "Pam", limit: 100 })).items.filter(
    ({ label }) => label === "claude-agent-sdk",
  )
  expect(issued).toMatchObject([{ expiresAt: expect.any(String) }])
  await house.admin.tokens.revoke(issued[0]!.id)
  await say("by name, again")
  await expect(getTools("nobody", options(house.token))).rejects.toMatchObject({ status: 404 })
})

it("what needs a person answers that it waits; with patience it stays for the answer", async () => {
  const waits = await toolOf(await getTools(options(jim)), "wipe").handler({}, {})
  expect(waits.structuredContent).toMatchObject({ state: "waiting", decision: expect.stringMatching(/^dcs_/) })
  await house.admin.decisions.answer(String(waits.structuredContent!["decision"]), { verdict: "deny" })
  const other = async () => {
    for await (const item of house.admin.feed({ after: 0 })) {
      if (item.type !== "event" || item.event.kind !== "decision.asked") continue
      const { decision } = item.event.body as { readonly decision: string }
      if (decision !== waits.structuredContent!["decision"]) return decision
    }
    return expect.fail("nothing was asked")
  }
  const patient = toolOf(await getTools({ ...options(jim), patience: 20 }), "wipe").handler({}, {})
  expect(await house.admin.decisions.answer(await other(), { verdict: "approve" })).toMatchObject({ state: "answered" })
  expect(await patient).toEqual({ content: [{ type: "text", text: '"wiped"' }] })
})

it("a right that was taken away, a dead token and a house that is gone are words for the model", async () => {
  const { id, token } = await house.admin.tokens.add({ principal: "Jim" })
  const tools = await getTools(options(token))
  await house.admin.tools.remove("word")
  const gone = await toolOf(tools, "word").handler({}, {})
  expect(gone).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("word") }] })
  await house.admin.tokens.revoke(id)
  expect(await toolOf(tools, "do_nothing").handler({}, {})).toMatchObject({ isError: true })
  await expect(connect(options(token)).principals.me()).rejects.toMatchObject({ status: 401 })
  await expect(getTools(options(token))).rejects.toMatchObject({ status: 401 })
  await expect(getTools({ url: "http://127.0.0.1:1", token })).rejects.toThrow(/^No house answers/)
})
