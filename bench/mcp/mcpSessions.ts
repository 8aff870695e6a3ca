/** Sessions that clients open and forget: what the house holds after 10,000 of them, and after as many again. */
import { join } from "node:path"
import { addAgent } from "../kit/api.ts"
import type { LoadAnswer } from "../children/load.ts"
import { initializeOf } from "./mcpMessages.ts"
import { number, table } from "../kit/measure.ts"
import { memoryProbe, startChild, startHouse } from "../processes.ts"

const principals = 10
const each = 1000
const rounds = 4

export const sessions = async (folder: string): Promise<ReadonlyArray<string>> => {
  const house = await startHouse(join(folder, "hotel"), { nodeOptions: memoryProbe })
  const load = startChild("load")
  const tokens: Array<string> = []
  for (let made = 0; made < principals; made++) tokens.push(await addAgent(house, `guest-${made}`))
  const open = async (count: number) => {
    for (const token of tokens) {
      const asked = { port: house.port, token, ...initializeOf(), connections: 16, expect: "mcp-session-id" }
      const answer = await load.ask<LoadAnswer>({ ...asked, warmMillis: 0, millis: 20_000, count })
      if (answer.refused > 0 || answer.answered !== count)
        throw new Error(`${answer.answered} of ${count} sessions were opened: ${answer.fault ?? "too slow"}`)
    }
  }
  // The code is compiled and its caches are filled before anything is weighed.
  await open(each / 10)
  const found: Array<readonly [opened: number, NodeJS.MemoryUsage]> = [[0, await house.memory()]]
  for (let round = 1; round <= rounds; round++) {
    await open(each)
    found.push([round * principals * each, await house.memory()])
  }
  await load.stop()
  await house.stop()
  const megabytes = (bytes: number) => number(bytes / 1e6)
  const [, held] = found[1]!
  const [, last] = found.at(-1)!
  return [
    `Sessions opened by ${principals} principals and never used again (${number(each)} are kept of each, the latest; memory after collecting garbage). From ${number(found[1]![0])} to ${number(found.at(-1)![0])} opened: ${megabytes(last.heapUsed - held.heapUsed)} MB of heap, ${megabytes(last.rss - held.rss)} MB resident.`,
    "",
    table(
      ["sessions opened", "resident MB", "heap MB"],
      found.map(([opened, { heapUsed, rss }]) => [
        opened === 0 ? "none" : number(opened),
        megabytes(rss),
        megabytes(heapUsed),
      ]),
    ),
  ]
}
