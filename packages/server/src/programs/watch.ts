/**
 * Watches what a turn uses of the machine, and says in a sentence what was too much. The processes of a turn are the
 * descendants of the one that was started: in a box none can leave them.
 */
// edge: reads /proc and the free space of the disk
import { readdirSync, readFileSync, statfsSync } from "node:fs"
import { Effect } from "effect"
import { type Bounds, mebibyte } from "./bounds.ts"

const everyMs = 250
const diskEveryMs = 2000
/** Measuring takes at most this share of the time. */
const diskShare = 20
/** Less free space than this endangers the house. */
const reserveMiB = 256

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // It has just ended.
    return ""
  }
}
const tasksOf = (pid: string): ReadonlyArray<string> => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

interface Used {
  readonly pids: ReadonlyArray<string>
  /** Processes and threads. */
  readonly tasks: number
}

/** Stops counting when there are too many, so that a look is never long. */
const processesOf = (pid: number, most: number): Used => {
  const pids: Array<string> = []
  const open = [String(pid)]
  let tasks = 0
  for (let one = open.pop(); one !== undefined && tasks < most; one = open.pop()) {
    const own = tasksOf(one)
    if (own.length === 0) continue
    pids.push(one)
    tasks += own.length
    for (const task of own) {
      const children = read(`/proc/${one}/task/${task}/children`).trim()
      if (children !== "") open.push(...children.split(" "))
    }
  }
  return { pids, tasks }
}

const kibibytes = (text: string, ...names: ReadonlyArray<string>): number =>
  names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0), 0)
const total = (pids: ReadonlyArray<string>, file: string, ...names: ReadonlyArray<string>): number =>
  pids.reduce((sum, pid) => sum + kibibytes(read(`/proc/${pid}/${file}`), ...names), 0)

/** Pages that processes share are counted for each of them first, and exactly only if that is too much. */
const memoryOf = (pids: ReadonlyArray<string>, most: number): number => {
  const roughly = total(pids, "status", "RssAnon", "RssShmem")
  if (roughly <= most) return roughly
  return total(pids, "smaps_rollup", "Pss_Anon", "Pss_Shmem") || roughly
}

const usedTooMuch = (pid: number, { memoryMiB, processes }: Bounds): string | undefined => {
  const { pids, tasks } = processesOf(pid, processes)
  if (tasks >= processes) return `started ${processes} processes and threads or more (bounds.processes)`
  if (memoryOf(pids, memoryMiB * 1024) > memoryMiB * 1024)
    return `used more than ${memoryMiB} MiB of memory (bounds.memoryMiB)`
  return undefined
}

export interface Disk {
  /** The bytes in the folders of the turn; undefined if they could not be measured. */
  readonly measure: Effect.Effect<number | undefined>
  /** A folder that a person has named may hold more before the turn than the turn may add. */
  readonly isNamed: boolean
  readonly house: string
}

const watchDisk = Effect.fnUntraced(function* ({ house, isNamed, measure }: Disk, { diskMiB }: Bounds) {
  const most = diskMiB * mebibyte
  const before = (yield* measure) ?? 0
  // Whoever has too much already may remove some, and add none.
  const limit = isNamed ? before + most : Math.max(most, before)
  for (;;) {
    const { bavail, bsize } = statfsSync(house)
    if (bavail * bsize < reserveMiB * mebibyte)
      return `was stopped because the house has less than ${reserveMiB} MiB of disk space left`
    const from = performance.now()
    const bytes = yield* measure
    if (bytes !== undefined && bytes > limit) return `filled its folders with more than ${diskMiB} MiB (bounds.diskMiB)`
    yield* Effect.sleep(Math.max(diskEveryMs, (performance.now() - from) * diskShare))
  }
})

const watchProcesses = Effect.fnUntraced(function* (pid: number, bounds: Bounds) {
  for (;;) {
    const over = usedTooMuch(pid, bounds)
    if (over !== undefined) return over
    yield* Effect.sleep(everyMs)
  }
})

/** Ends with a sentence when the turn has used too much. */
export const watch = (pid: number, bounds: Bounds, disk: Disk): Effect.Effect<string> =>
  Effect.raceFirst(watchProcesses(pid, bounds), watchDisk(disk, bounds))
