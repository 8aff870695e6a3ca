/** What an MCP server was told in confidence is in nothing the client tells of it, its last words included. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { Redactor } from "../../src/secrets/Redactor.ts"
import { leaksIn } from "../secrets/leaks.ts"
import { client } from "./mcpKit.ts"

const key = ["sk-live", "4f9Xq27Lm0ZtB81v"].join("-")

describe("secrets of MCP servers", () => {
  it.live("G-17 a program that dies with its key on its lips is told of without it", () =>
    Effect.gen(function* () {
      const { layer } = client({ ports: { redactor: new Redactor([key]) }, limits: { maxRetries: 1 } })
      const dying = {
        name: "dying",
        transport: "stdio",
        command: process.execPath,
        args: ["-e", "console.error('my key is ' + process.env.KEY + ' ' + btoa(process.env.KEY)); process.exit(1)"],
        env: { KEY: key },
      } as const
      const error = yield* Effect.flatMap(MCPClient, (mcp) => Effect.flip(mcp.connect(dying))).pipe(
        Effect.provide(layer),
      )
      assert.include(error.message, "my key is [secret]")
      assert.deepStrictEqual(leaksIn(error.message, key), [])
    }),
  )
})
