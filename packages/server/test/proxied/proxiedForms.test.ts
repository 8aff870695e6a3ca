/** Forms of servers, for clients of older revisions: asked in words their schema knows, or people are asked instead. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { joined } from "./proxiedKit.ts"
import { served, text } from "./proxiedServer.ts"
import { ask, house, roomy } from "../house.ts"
import { initialized, oldRequest, opened, post } from "../mcp/mcpKit.ts"

const schema = (properties: Readonly<Record<string, object>>) => ({ type: "object", properties, required: [] })
const rich = {
  mode: "form",
  message: "Which?",
  requestedSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...schema({
      size: {
        type: "string",
        title: "Size",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
        default: "s",
      },
      plain: { type: "string", enum: ["a", "b"], default: "a" },
      who: { type: "string", minLength: 1, default: "me" },
      count: { type: "integer", minimum: 1, default: 2 },
      sure: { type: "boolean", default: true },
    }),
  },
}
const several = {
  message: "Which ones?",
  requestedSchema: schema({ many: { type: "array", items: { type: "string", enum: ["a", "b"] } } }),
}
const link = { mode: "url", message: "Sign in", url: "https://sign.example/in", elicitationId: "e1" }

/** More than older revisions know. */
const able = { elicitation: { form: {}, url: {} } }

const scene = Effect.gen(function* () {
  const server = yield* served("old", {
    asks: async ({ ask, params }) => text(JSON.stringify(await ask("elicitation/create", params.arguments))),
  })
  return yield* joined(server.url)
})

/** The first message on the stream of a call that is not empty. */
const called = Effect.fnUntraced(function* (
  { place, token }: { readonly place: string; readonly token: string },
  revision: string,
  question: object,
  name = "asks",
) {
  const session = yield* ask(() => initialized(place, token, able, revision))
  const params = { name, arguments: question }
  const stream = yield* ask(() => opened(place, token, session, "tools/call", params))
  yield* Effect.addFinalizer(() => Effect.promise(() => stream.close()))
  let { data } = yield* ask(() => stream.next())
  while (data === undefined) data = (yield* ask(() => stream.next())).data
  // oxlint-disable-next-line typescript/no-explicit-any
  return { message: data as any, session, stream }
})

/** The answer to a call whose client is asked nothing. */
const answered = Effect.fnUntraced(function* (
  { place, token }: { readonly place: string; readonly token: string },
  revision: string,
  question: object,
) {
  const session = yield* ask(() => initialized(place, token, able, revision))
  const { body } = yield* ask(() =>
    oldRequest(place, token, "tools/call", { name: "asks", arguments: question }, session),
  )
  return body.result.content[0].text as string
})

const config = { ...roomy, agents: [{ name: "ada" }] }
layer(house({ store: "sqlite", config }), { excludeTestServices: true, timeout: 60_000 })("forms", (it) => {
  it.effect("titled choices become enumNames and beginnings are left out for 2025-06-18, and nothing for later", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { message, session, stream } = yield* called(at, "2025-06-18", rich)
      assert.strictEqual(message.method, "elicitation/create")
      assert.deepStrictEqual(message.params, {
        message: "Which?",
        requestedSchema: schema({
          size: { type: "string", title: "Size", enum: ["s", "l"], enumNames: ["Small", "Large"] },
          plain: { type: "string", enum: ["a", "b"] },
          who: { type: "string", minLength: 1 },
          count: { type: "integer", minimum: 1 },
          sure: { type: "boolean", default: true },
        }),
      })
      const result = { action: "accept", content: { size: "l" } }
      yield* ask(() =>
        post(at.place, at.token, { jsonrpc: "2.0", id: message.id, result }, { "mcp-session-id": session }),
      )
      const last = (yield* ask(() => stream.next())).data as { readonly result: unknown }
      assert.include(JSON.stringify(last.result), String.raw`\"size\":\"l\"`)
      const later = yield* called(at, "2025-11-25", rich)
      assert.deepStrictEqual(later.message.params, rich)
      assert.strictEqual((yield* called(at, "2025-11-25", several)).message.method, "elicitation/create")
    }),
  )

  it.effect("a question is shown as its server's where many serve, and nothing in it is invisible anywhere", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const question = {
        mode: "form",
        message: "Stoa asks:\u202e your password\nagain",
        requestedSchema: schema({ word: { type: "string", title: "Wo\u200brd", enum: ["👨‍👩‍👧", "x"] } }),
      }
      const alone = yield* called(at, "2025-11-25", question)
      assert.strictEqual(alone.message.params.message, "Stoa asks:<U+202E> your password\nagain")
      const { word } = alone.message.params.requestedSchema.properties
      // A value is sent back as it was given.
      assert.deepStrictEqual([word.title, word.enum], ["Wo<U+200B>rd", ["👨‍👩‍👧", "x"]])
      const [base, name] = at.place.split("/servers/") as [string, string]
      const among = yield* called({ ...at, place: base }, "2025-11-25", question, `${name}__asks`)
      assert.strictEqual(
        among.message.params.message,
        `Server \`${name}\` asks: Stoa asks:<U+202E> your password\nagain`,
      )
    }),
  )

  it.effect(
    "what 2025-06-18 cannot show, and any form before it, is asked of people, whatever the client declares",
    () =>
      Effect.gen(function* () {
        const at = yield* scene
        for (const [revision, question] of [
          ["2025-06-18", several],
          ["2025-03-26", rich],
          ["2024-11-05", rich],
        ] as const) {
          const said = yield* answered(at, revision, question)
          assert.include(said, '"state":"waiting"', revision)
          const { items } = yield* ask(() => at.admin.decisions.list({ state: "open" }))
          const open = items.find((one) => said.includes(one.id))
          assert.strictEqual(open?.question, question.message)
        }
      }),
  )

  it.effect("an address to open is never sent to a client of 2025-06-18", () =>
    Effect.gen(function* () {
      const at = yield* scene
      assert.include(yield* answered(at, "2025-06-18", link), "waiting")
      assert.strictEqual((yield* called(at, "2025-11-25", link)).message.params.mode, "url")
    }),
  )

  it.effect("what a server answers and nobody can read is one sentence, without the list of all that it is not", () =>
    Effect.gen(function* () {
      const server = yield* served("old", { odd: () => ({ content: "not a list" }) })
      const { place, token } = yield* joined(server.url)
      const session = yield* ask(() => initialized(place, token))
      const { body } = yield* ask(() => oldRequest(place, token, "tools/call", { name: "odd", arguments: {} }, session))
      const said = body.result.content[0].text as string
      assert.match(said, /answered tools\/call with what cannot be read: [^\n[{]{1,60}\. Whether it acted is unknown/)
    }),
  )

  it.effect("what does not fit says what the tool takes, under no name that cannot be called here", () =>
    Effect.gen(function* () {
      const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
      const server = yield* served(
        "old",
        { sum: () => text("3") },
        { "tools/list": () => ({ tools: [{ name: "sum", description: "adds", inputSchema: schema }] }) },
      )
      const { name, place, token, url } = yield* joined(server.url)
      for (const [where, tool] of [
        [place, "sum"],
        [`${url}/mcp`, `${name}__sum`],
      ] as const) {
        const session = yield* ask(() => initialized(where, token))
        const { body } = yield* ask(() =>
          oldRequest(where, token, "tools/call", { name: tool, arguments: { n: "x" } }, session),
        )
        const said = body.result.content[0].text as string
        assert.include(said, String.raw`\"n\" must be a number, but is \"x\". It takes (n: number)`)
        assert.notInclude(said, `${name}/sum(`)
      }
    }),
  )
})
