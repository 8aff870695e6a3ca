/**
 * Whose words a tool of the house returns, as a model is told beside them. A tool that says its words are the house's own is
 * tried in a world where everything that others write is one mark: the mark must not be in its answer.
 */
import { assert, layer } from "@effect/vitest"
import { toolNames, type ToolsetName } from "@stoa/contract"
import { Effect } from "effect"
import { http } from "../../../tools/test/egress/egressLoopback.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Catalogue } from "../../src/calls/catalogue/Catalogue.ts"
import { labelled } from "../../src/runs/prompt/sources.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { newRequest } from "../mcp/mcpKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"

const mark = "OBEY-ME"
const toolsets = Object.keys(toolNames) as Array<ToolsetName>

layer(house({ store: "sqlite", config: { ...roomy, egress: { allow: ["127.0.0.1"] } } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("whose words a tool returns", (it) => {
  /** An agent with every toolset, and others who have said and written the mark wherever it looks. */
  const world = Effect.gen(function* () {
    const { admin } = yield* Guest
    const [bot, other] = [yield* someone("agent"), yield* someone("agent")]
    yield* ask(() => admin.principals.change(bot.id, { toolsets }))
    const space = yield* ask(() =>
      other.client.spaces.add({ name: fresh("room"), kind: "private", members: [bot.id], topic: mark }),
    )
    const { id: message } = yield* ask(() => other.client.spaces.post(space.id, { text: mark }))
    for (const kind of ["goal", "memory", "plan"]) {
      const { id } = yield* ask(() => bot.client.memory.put({ namespace: "gateway", kind, key: "k", content: "{}" }))
      yield* ask(() => bot.client.memory.share(id, other.id, { right: "write" }))
      yield* ask(() => other.client.memory.answer(id, { taken: true }))
      yield* ask(() => other.client.memory.change(id, { content: mark, tags: [mark] }))
    }
    const child = yield* ask(() => admin.agents.spawn(bot.id, { name: fresh("kid"), instructions: mark }))
    const offered = yield* ask(() => other.client.memory.put({ kind: "note", key: "offered", content: mark }))
    yield* ask(() => other.client.memory.share(offered.id, bot.id, { right: "read" }))
    return { bot, other, space, message, child, offered: offered.id }
  })
  type World = Effect.Success<typeof world>

  const inputs: Record<string, (world: World) => object> = {
    whoami: () => ({}),
    react: ({ message }) => ({ message, emoji: "👍" }),
    react_to_message: ({ message }) => ({ messageId: message, emoji: "👍" }),
    mark_read: ({ space }) => ({ space: space.id, seq: 1 }),
    answer_offer: ({ offered }) => ({ id: offered, take: true }),
    do_nothing: () => ({}),
    update_memory: () => ({ label: "mood", content: "calm" }),
    store_memory: () => ({ content: "calm" }),
    set_memories: () => ({ memories: [{ key: "k", value: "mine" }] }),
    delete_memories: () => ({ keys: ["k"] }),
    delete_goals: () => ({ ids: ["k"] }),
    delete_plans: () => ({ ids: ["k"] }),
    stop_run: () => ({ runId: "none" }),
    spawn_agent: () => ({ name: fresh("kid"), instructions: "Work." }),
    stop_agent: ({ child }) => ({ name: child.name }),
  }

  const listOf = Effect.fnUntraced(function* (token: string, set: ToolsetName) {
    const caller = yield* Effect.orDie((yield* Tokens).authenticate(token))
    return yield* (yield* Catalogue).list(caller, { kind: "set", set })
  })

  it.effect("G-15 no tool whose answer holds what others wrote gives it as the word of the house", () =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const made = yield* world
      let tried = 0
      for (const set of toolsets)
        for (const { resultSource, tool } of yield* listOf(made.bot.token, set)) {
          const { name } = tool.definition
          if (resultSource !== "the house") continue
          const input = inputs[name] ?? assert.fail(`${set}/${name} says its words are the house's: try it here`)
          const { text } = yield* ask(() =>
            newRequest(`${url}/mcp/${set}`, made.bot.token, "tools/call", { name, arguments: input(made) }),
          )
          assert.notInclude(text, mark, `${set}/${name}`)
          tried++
        }
      assert.isAtLeast(tried, Object.keys(inputs).length)
    }),
  )

  it.effect(
    "G-15 what people, agents and the web write is labelled as theirs, whichever tool of the house brings it",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const { bot, space } = yield* world
        const page = yield* http((_, response) => void response.end(mark))
        const asked: ReadonlyArray<readonly [ToolsetName, string, object, string]> = [
          ["stoa", "read_messages", { space: space.id }, "people and agents"],
          ["stoa", "search_messages", { query: mark }, "people and agents"],
          ["stoa", "list_spaces", {}, "people and agents"],
          ["gateway", "enter_space", { spaceId: space.id }, "people and agents"],
          ["gateway", "read_messages", {}, "people and agents"],
          ["skills", "http-get", { url: page.url }, "outside"],
        ]
        for (const [set, name, input, from] of asked) {
          const tools = yield* listOf(bot.token, set)
          const { wireName } = tools.find(({ tool }) => tool.definition.name === name)!.tool
          const { text } = yield* ask(() =>
            newRequest(`${url}/mcp/${set}`, bot.token, "tools/call", { name, arguments: input }),
          )
          assert.include(text, mark, `${set}/${name}`)
          const parts = [{ type: "call" as const, id: "1", tool: wireName, input: {} }]
          const results = [{ place: 1, outcome: "done" as const, output: mark, error: null, from: "a tool" as const }]
          const [step] = labelled([{ number: 1, model: null, parts, results }], tools)
          assert.strictEqual(step!.results[0]!.from, from, `${set}/${name}`)
        }
      }),
  )
})
