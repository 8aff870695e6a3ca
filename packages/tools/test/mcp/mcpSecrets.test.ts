/** What an MCP server was told in confidence is in nothing the client tells of it, its last words included. */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { temporary } from "../../../../test/temporary.ts"
import { MCPClient } from "../../src/mcp/client/MCPClient.ts"
import { StdioTransport } from "../../src/mcp/transport/stdioTransport.ts"
import { Redactor } from "../../src/secrets/Redactor.ts"
import { leaksIn } from "../secrets/leaks.ts"
import { client, until } from "./mcpKit.ts"

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

  it.live("a program that no longer reads is told of when it has said its last", () =>
    Effect.gen(function* () {
      const folder = temporary()
      const [deaf, go] = [join(folder, "deaf"), join(folder, "go")]
      const transport = new StdioTransport(
        {
          command: "/bin/sh",
          args: ["-c", 'exec 0<&-; : > "$1"; until [ -e "$2" ]; do sleep 0.01; done; echo why >&2', "sh", deaf, go],
          env: { PATH: "/usr/bin:/bin" },
          graceMs: 60_000,
        },
        1_000_000,
      )
      yield* Effect.promise(() => transport.start())
      yield* until(() => existsSync(deaf))
      const told = transport.send({ jsonrpc: "2.0", id: 1, method: "ping" }).then(
        () => "sent",
        () => transport.stderrEnd,
      )
      writeFileSync(go, "")
      assert.strictEqual(yield* Effect.promise(() => told), "why")
      yield* Effect.promise(() => transport.close())
    }),
  )
})
