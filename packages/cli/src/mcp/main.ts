/**
 * `stoa mcp --socket` on its own: what the house starts beside a program that has no network. It needs only Node and
 * the files of this folder, so that nothing else of the house has to be there.
 */
// edge: a program of its own.
import { House } from "./house.ts"
import { turnSettings } from "./Settings.ts"
import { fetchOver } from "./socket.ts"
import { bridge } from "./stdio.ts"

const say = (line: string): void => void process.stderr.write(`stoa: ${line}\n`)
const { socket, token, url } = turnSettings()

if (socket === undefined || url === undefined || token === undefined) {
  say(
    "STOA_SOCKET, STOA_URL and STOA_TOKEN say where the house is and who comes in; the house sets them for each turn.",
  )
  process.exitCode = 2
} else {
  const target = () => ({ url, token, given: true, folder: "", running: false })
  const house = new House({
    target,
    embed: () => Promise.reject(new Error("none is started here")),
    say,
    fetch: fetchOver(socket),
  })
  const end = () => void process.stdin.destroy()
  process.on("SIGINT", end).on("SIGTERM", end)
  try {
    await bridge({ house, path: "/mcp", input: process.stdin, output: process.stdout, say })
  } finally {
    await house.close()
  }
}
