/** An idle house: what it holds in memory, what it does with the processor, and whom it talks to (nobody). */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { number, table } from "./kit/measure.ts"
import { processorSeconds, sleep, startChild, startHouse, temporaryFolder } from "./processes.ts"

const seconds = 10
const listening = "0A"

const field = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const socketsOf = (pid: number): ReadonlySet<string> => {
  const inodes = new Set<string>()
  for (const fd of readdirSync(`/proc/${pid}/fd`))
    try {
      const found = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))
      if (found !== null) inodes.add(found[1]!)
    } catch {
      // Closed while we looked.
    }
  return inodes
}

/** Every internet socket of the process that does not listen: nobody calls it here, so each is one it made itself. */
const outgoing = (pid: number): ReadonlyArray<string> => {
  const own = socketsOf(pid)
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((cells) => own.has(cells[9] ?? "") && cells[3] !== listening)
      .map((cells) => `${table} to ${cells[2]}`),
  )
}

export const idle = async (): Promise<string> => {
  const house = await startHouse(join(temporaryFolder(), "house"))
  const bare = startChild("bare")
  await bare.ask({ status: 200, headers: {}, body: "" })
  const pids = [house.pid, bare.pid]
  const before = pids.map(processorSeconds)
  const seen = new Set<string>()
  let looks = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; looks++) {
    for (const one of outgoing(house.pid)) seen.add(one)
    await sleep(50)
  }
  const rows = pids.map((pid, index) => [
    index === 0 ? "house" : "bare node:http, from TypeScript too",
    number(field(pid, "VmRSS")),
    number(field(pid, "VmHWM")),
    `${number(((processorSeconds(pid) - before[index]!) / seconds) * 100)} %`,
  ])
  const times = field(house.pid, "VmRSS") / field(bare.pid, "VmRSS")
  await bare.stop()
  await house.stop()
  return [
    `After ${seconds} s without a request. Aim: under 180 MB, no outgoing connection.`,
    "",
    table(["who", "resident MB", "highest MB", "processor"], rows),
    "",
    `${number(times)} x the memory of bare node:http. Outgoing connections in ${looks} looks over ${seconds} s: ${seen.size === 0 ? "none" : [...seen].join(", ")}.`,
  ].join("\n")
}
