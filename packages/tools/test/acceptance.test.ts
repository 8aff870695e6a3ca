/** The seed's success list, point by point, from the package root and with nothing but its defaults. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Tools from "../src/index.ts"
import { definition, input } from "./kit.ts"

const source = join(import.meta.dirname, "../src")
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))

describe("the package", () => {
  it("S4-05 all that the seed's pages import comes from the root", () => {
    const values = [
      "ToolParameterSchema",
      "ToolDefinitionSchema",
      "ToolInputSchema",
      "ToolOutputSchema",
      "MCPServerSchema",
      "MCPRequestSchema",
      "MCPResponseSchema",
      "FunctionCallingToolSchema",
      "ToolNotFoundError",
      "ToolExecutionError",
      "ToolTimeoutError",
      "ToolValidationError",
      "MCPConnectionError",
      "ToolAuthorizationError",
      "ToolService",
      "ToolServiceLive",
      "defaultToolsConfig",
    ]
    for (const name of values) assert.property(Tools, name)
    // What the seed keeps in files of its own, by what it does: adapter, sandbox, time guard, MCP client, discovery, skills.
    for (const name of [
      "toolFromFunction",
      "Sandbox",
      "runInTime",
      "MCPClient",
      "discoverMCPServersIn",
      "builtinSkills",
    ])
      assert.property(Tools, name)
  })

  it.effect("S4-116 registry, validation, sandbox, authorization, export and skills work together from the root", () =>
    Effect.gen(function* () {
      const tools = yield* Tools.ToolService
      // Registry: register, look up, list.
      yield* tools.register(definition(), (args) => Effect.succeed(Number(args["a"]) + Number(args["b"])))
      assert.strictEqual((yield* tools.getTool("add")).name, "add")
      // Skills: the five stand beside it, and discovery and the four transports are configuration of one operation.
      assert.strictEqual((yield* tools.listTools({ source: "builtin" })).length, 5)
      // Validation: type, required, enum.
      assert.strictEqual(
        (yield* Effect.flip(tools.execute(input({ arguments: { a: 1 } }))))._tag,
        "ToolValidationError",
      )
      // Authorization before execution.
      const denied = tools
        .execute(input())
        .pipe(Effect.provideService(Tools.IdentityPort, { authorize: () => Effect.fail("no") }))
      assert.strictEqual((yield* Effect.flip(denied))._tag, "ToolAuthorizationError")
      // Sandbox: a crash is the call's own.
      yield* tools.register(definition({ name: "crash" }), () => {
        throw new Error("boom")
      })
      assert.strictEqual((yield* Effect.flip(tools.execute(input({ toolName: "crash" }))))._tag, "ToolExecutionError")
      assert.strictEqual((yield* tools.execute(input())).result, 5)
      // Export for both vendors.
      assert.strictEqual((yield* tools.toFunctionCallingFormat()).length, (yield* tools.toOpenAIFormat()).length)
      assert.isFunction(tools.connectMCPServer)
    }).pipe(Effect.provide(Tools.ToolServiceBuiltin)),
  )

  it("S4-115 everything is an Effect: async and await stand only in adapters that say why", () => {
    assert.isAbove(files.length, 30)
    for (const file of files) {
      const text = readFileSync(join(source, file), "utf8")
      const edge = text
        .split("\n")
        .slice(0, 10)
        .some((line) => line.startsWith("// edge:"))
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|`[^`]*`|"[^"\n]*"/g, "")
      if (!edge) assert.notMatch(code, /\basync\b|(?<![.\w])await\b/, file)
    }
  })

  it.effect(
    "S4-32 a subscriber by type hears the events, a broken one disturbs nobody, and one that left hears nothing",
    () =>
      Effect.gen(function* () {
        const tools = yield* Tools.ToolService
        const heard: Array<string> = []
        const leave = Tools.eventListeners.listen((event) => {
          if (event.type === "tools.executed") heard.push(String(event.payload["toolName"]))
        })
        const leaveBroken = Tools.eventListeners.listen(() => {
          throw new Error("a listener's own fault")
        })
        yield* tools.register(definition(), () => Effect.succeed(1))
        yield* tools.execute(input())
        leave()
        yield* tools.execute(input())
        leaveBroken()
        assert.deepStrictEqual(heard, ["add"])
      }).pipe(Effect.provide(Tools.ToolServiceLive)),
  )
})
