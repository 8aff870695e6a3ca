/**
 * The stdio bridge of `stoa mcp` for a program in a sandbox, which sees the folder of the bridge and a Node to run it, and
 * nothing else of the house.
 */
// edge: looks once for files of this machine.
import { existsSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { socketName } from "./socket.ts"

export interface Bridge {
  readonly folder: string
  readonly main: string
  readonly node: string
}

/** Paths inside the sandbox. */
export const inBox = {
  turn: "/run/stoa/turn",
  bridge: "/run/stoa/bridge",
  node: "/run/stoa/node",
  socket: `/run/stoa/turn/${socketName}`,
}

/** The command line is another package, which may or may not be installed. */
export const findBridge = (): Bridge | undefined => {
  try {
    const cli = dirname(createRequire(import.meta.url).resolve("@stoa/cli/package.json"))
    const found = ["src/mcp/main.ts", "dist/mcp/main.js"]
      .map((path) => join(cli, path))
      .find((path) => existsSync(path))
    if (found === undefined) return undefined
    const main = realpathSync(found)
    return { folder: dirname(main), main: main.slice(dirname(main).length + 1), node: realpathSync(process.execPath) }
  } catch {
    return undefined
  }
}

/** The arguments that bind it into the sandbox. */
export const bridgeBinds = ({ folder, node }: Bridge, turn: string): ReadonlyArray<string> => [
  "--dir",
  dirname(inBox.turn),
  ...[
    [turn, inBox.turn],
    [folder, inBox.bridge],
    [node, inBox.node],
  ].flatMap(([from, to]) => ["--ro-bind", from!, to!]),
]

/** How an MCP client in the sandbox starts it. */
export const bridgeEntry = ({ main }: Bridge, url: string, token: string) => ({
  command: inBox.node,
  // Node's warnings about the kind of file are of no use to the program.
  args: ["--no-warnings", join(inBox.bridge, main)],
  env: { STOA_SOCKET: inBox.socket, STOA_URL: url, STOA_TOKEN: token },
})
