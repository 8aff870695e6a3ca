/**
 * What a program of an agent sees of the machine, by bubblewrap: the system read-only, its own folders, no network unless it
 * is allowed, and an end with ours. The arguments are pure.
 */
// edge: looks once for a program on this machine.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

export interface Bind {
  readonly path: string
  readonly write: boolean
}

export interface Box {
  readonly workspace: string
  readonly folder: string
  readonly binds: ReadonlyArray<Bind>
  readonly network: boolean
}

/** What a system's programs need of it; what is not there is left out. */
const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]

/** The arguments before the program's own. Later ones lie over earlier ones, so that a workspace inside of /tmp is there. */
export const boxArguments = ({ binds, folder, network, workspace }: Box): ReadonlyArray<string> => [
  "--die-with-parent",
  "--new-session",
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  ...(network ? [] : ["--unshare-net"]),
  ...system.flatMap((path) => ["--ro-bind-try", path, path]),
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--tmpfs",
  "/tmp",
  ...binds.flatMap(({ path, write }) => [write ? "--bind" : "--ro-bind", path, path]),
  "--bind",
  workspace,
  workspace,
  "--ro-bind",
  folder,
  folder,
  "--chdir",
  workspace,
  "--",
]

const places = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]

/** The bubblewrap of this machine, if it has one that works: some machines forget, and some forbid it. */
export const findBubblewrap = (given: string | undefined): string | undefined => {
  const found = given ?? places.find((path) => existsSync(path))
  if (found === undefined || !existsSync(found)) return undefined
  const tried = spawnSync(found, ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--", "/bin/true"], {
    env: {},
    timeout: 5000,
  })
  return tried.status === 0 ? found : undefined
}
