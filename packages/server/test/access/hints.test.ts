/** Hints are what somebody says of a tool. Who may call it does not depend on them, and who reads the list need not know them. */
import { assert, describe, it, layer } from "@effect/vitest"
import { type ToolAnnotations } from "@stoa/contract"
import { mcpToolDefinition } from "@stoa/tools"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { initialized, newRequest, oldRequest } from "../mcp/mcpKit.ts"

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const
/** Each hint true, false, or not stated: 81 ways. */
const ways: ReadonlyArray<ToolAnnotations> = hints.reduce<ReadonlyArray<Record<string, boolean>>>(
  (made, hint) => made.flatMap((one) => [one, { ...one, [hint]: true }, { ...one, [hint]: false }]),
  [{}],
)

const answering = {
  description: "Answers",
  inputSchema: { type: "object", properties: {} },
  executionType: "internal",
  execution: { output: 1 },
}
/** None of these is read-only to a client, though nothing outside changes by them. */
const consequential = [
  { ...answering, name: "risky", riskLevel: "high" },
  { ...answering, name: "paid", price: 0.01 },
  { ...answering, name: "asking-people", executionType: "space", execution: {} },
  { ...answering, name: "starting-a-run", execution: { agentConfig: { agentId: "plain" } } },
]

const nameOf = (n: number) => `hinted${n}`
const config = {
  ...roomy,
  agents: [{ name: "plain" }, { name: "shut-out" }, { name: "asked" }],
  policies: [
    { principal: "shut-out", resource: "tools/*", actions: ["execute"], effect: "deny" },
    { principal: "asked", resource: "tools/*", actions: ["execute"], effect: "ask" },
  ],
  tools: [
    ...ways.map((annotations, n) => ({ ...answering, name: nameOf(n), execution: { output: { n } }, annotations })),
    ...consequential,
  ],
}

describe("S2-68 X-22 hints of an MCP server", () => {
  it("lower no risk: only a stated destructiveHint changes it, and upwards", () => {
    for (const annotations of ways) {
      const tool = { name: "t", description: "", inputSchema: { type: "object" as const }, annotations }
      const { riskLevel } = mcpToolDefinition("server", tool as never)
      assert.strictEqual(
        riskLevel,
        annotations.destructiveHint === true ? "high" : "medium",
        JSON.stringify(annotations),
      )
    }
  })
})

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, config }), { excludeTestServices: true, timeout: 60_000 })(`hints on ${store}`, (on) => {
    on.effect("S2-68 whatever a tool's hints say, the same callers are let in, asked about and refused", () =>
      Effect.gen(function* () {
        const { admin, raw } = yield* Guest
        const answers = (who: string) =>
          Effect.gen(function* () {
            const { token } = yield* ask(() => admin.tokens.add({ principal: who }))
            const call = async (n: number) => {
              const answer = await raw(`/api/v1/tools/${nameOf(n)}/call`, {
                method: "POST",
                headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
                body: JSON.stringify({ input: {}, wait: 0 }),
              })
              const { state, tag } = (await answer.json()) as { state?: string; tag?: string }
              return `${answer.status} ${state ?? tag}`
            }
            return yield* ask(() => Promise.all([...ways.keys()].map(call)))
          })
        const destructive = ways.map(({ destructiveHint }) => destructiveHint === true)
        assert.strictEqual(new Set(yield* answers("shut-out")).size, 1)
        const asked = yield* answers("asked")
        assert.deepStrictEqual(new Set(asked), new Set(["202 waiting"]))
        // The one that makes anything stricter, as a higher risk.
        assert.deepStrictEqual(
          yield* answers("plain"),
          destructive.map((one) => (one ? "202 waiting" : "200 done")),
        )
      }),
    )

    on.effect("S2-68 a list says the hints that are stated, and none that are not", () =>
      Effect.gen(function* () {
        const { adminToken, url } = yield* Guest
        const { body } = yield* ask(() => newRequest(`${url}/mcp`, adminToken, "tools/list"))
        const listed = new Map(
          (body.result.tools as ReadonlyArray<{ name: string; annotations?: object }>).map((it) => [it.name, it]),
        )
        for (const [n, annotations] of ways.entries()) {
          const { annotations: said = {} } = listed.get(nameOf(n))!
          // What a tool changes is known of one that only answers: nothing, unless its author says otherwise.
          const { destructiveHint = false } = annotations
          assert.deepStrictEqual(said, { readOnlyHint: !destructiveHint, ...annotations })
        }
        for (const { name } of consequential)
          assert.deepStrictEqual(listed.get(name)!.annotations, { readOnlyHint: false }, name)
      }),
    )

    on.effect("S2-69 a client of 2024-11-05 lists the same tools, without annotations, and later ones have them", () =>
      Effect.gen(function* () {
        const { adminToken, url } = yield* Guest
        const at = `${url}/mcp`
        const listOf = (revision: string) =>
          ask(async () => {
            const session = await initialized(at, adminToken, {}, revision)
            const tools: Array<{ readonly name: string; readonly annotations?: object }> = []
            for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
              const { body } = await oldRequest(
                at,
                adminToken,
                "tools/list",
                cursor === undefined ? {} : { cursor },
                session,
              )
              tools.push(...(body.result.tools as typeof tools))
              cursor = body.result.nextCursor as string | undefined
            }
            return tools
          })
        const oldest = yield* listOf("2024-11-05")
        assert.isAtLeast(oldest.length, ways.length)
        assert.isTrue(oldest.every((tool) => !("annotations" in tool)))
        for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
          const tools = yield* listOf(revision)
          assert.deepStrictEqual(
            tools.map(({ name }) => name),
            oldest.map(({ name }) => name),
          )
          assert.isTrue(tools.filter(({ name }) => name.startsWith("hinted")).every((tool) => "annotations" in tool))
        }
      }),
    )
  })
