/** A tool, a call, and what governs it: without a server, in any Effect program. */
// #region first
import assert from "node:assert/strict"
import { DecisionsPort, ToolService, ToolServiceLive, toolFromFunction } from "@stoa/tools"
import { Effect } from "effect"

const add = toolFromFunction(
  {
    name: "add",
    description: "Add two numbers",
    parameters: [
      { name: "a", type: "number", description: "First number", required: true },
      { name: "b", type: "number", description: "Second number", required: false, default: 1 },
    ],
    riskLevel: "low",
    timeoutMs: 5000,
    requiresApproval: false,
  },
  ({ a, b }) => Number(a) + Number(b),
)

const first = Effect.gen(function* () {
  const tools = yield* ToolService
  yield* tools.register(add.definition, add.handler)
  const caller = { agentId: "pam", sessionId: "first" }
  const output = yield* tools.execute({ toolName: "add", arguments: { a: 2 }, ...caller })
  const wrong = yield* Effect.flip(tools.execute({ toolName: "add", arguments: { a: "two" }, ...caller }))
  return { output, wrong, forModels: yield* tools.toFunctionCallingFormat() }
})
// #endregion

// #region approval
const wipe = toolFromFunction(
  {
    name: "wipe",
    description: "Wipe a folder",
    parameters: [],
    riskLevel: "high",
    timeoutMs: 5000,
    requiresApproval: false,
  },
  () => "wiped",
)

const asked = Effect.gen(function* () {
  const tools = yield* ToolService
  yield* tools.register(wipe.definition, wipe.handler)
  const call = { toolName: "wipe", arguments: {}, agentId: "pam", sessionId: "first" }
  // By default there is nobody to ask, so the call is refused.
  const refused = yield* Effect.flip(tools.execute(call))
  // The port decides. The question names the tool, the agent and the exact arguments.
  const approved = yield* tools.execute(call).pipe(
    Effect.provideService(DecisionsPort, {
      ask: (question) =>
        Effect.succeed(question.principal === "pam" ? { state: "approved" } : { state: "denied", reason: "not you" }),
    }),
  )
  return { refused, approved }
})
// #endregion

// #region run
const { forModels, output, wrong } = await Effect.runPromise(Effect.provide(first, ToolServiceLive))
assert.equal(output.result, 3)
// #endregion
assert.equal(wrong._tag, "ToolValidationError")
assert.match(wrong.message, /expected number, got string.*add\(a: number, b\?: number = 1\)/)
assert.deepEqual(forModels[0]?.input_schema["required"], ["a"])

const { approved, refused } = await Effect.runPromise(Effect.provide(asked, ToolServiceLive))
assert.equal(refused._tag, "ToolAuthorizationError")
assert.equal(approved.result, "wiped")
console.log("a tool was registered, called, refused and approved")
