/**
 * How much of the machine one turn may use. The kernel limits processes, open files and the size of a file
 * (`boundArguments`); what it cannot limit for a whole turn is watched (`watch.ts`).
 */
// edge: looks once for what this machine can limit.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import type { ProgramBounds } from "@stoa/contract"
import { cellArguments, nobody, type User } from "./isolation.ts"

export type Bounds = Required<ProgramBounds>

const usual: Bounds = { processes: 512, memoryMiB: 4096, openFiles: 4096, diskMiB: 8192 }

export const boundsOf = (given: ProgramBounds = {}): Bounds => ({ ...usual, ...given })

export const mebibyte = 1024 * 1024

const prlimit = "/usr/bin/prlimit"
const unshare = "/usr/bin/unshare"

/**
 * What the kernel limits, before the program's own arguments. Processes are counted per user and namespace of users:
 * in one of its own, a turn does not count what others run as the same user. An unprivileged house has given it one
 * already.
 */
export const boundArguments = (
  { diskMiB, openFiles, processes }: Bounds,
  user: User | undefined,
): ReadonlyArray<string> => {
  const limits = { nproc: processes, nofile: openFiles, fsize: diskMiB * mebibyte, core: 0 }
  return [
    ...(user === undefined ? [] : [unshare, "--user", "--map-current-user", "--"]),
    prlimit,
    ...Object.entries(limits).map(([name, most]) => `--${name}=${most}:${most}`),
    "--",
  ]
}

/** Whether processes can be limited in this way: old kernels count all processes of the user, everywhere. */
export const canBound = (bwrap: string): boolean => {
  const user = process.getuid?.() === 0 ? nobody : undefined
  const bounds = boundArguments({ ...usual, processes: 16 }, user)
  const cell = cellArguments({ binds: [], at: "/", user })
  const script = "/bin/true & wait $!"
  const tried = spawnSync(bwrap, [...cell, ...bounds, "/bin/sh", "-c", script], { env: {}, timeout: 5000 })
  return tried.status === 0
}

/** Whether the processes of a turn can be found: their number and memory are watched. */
export const canWatch = (): boolean => existsSync(`/proc/self/task/${process.pid}/children`)
