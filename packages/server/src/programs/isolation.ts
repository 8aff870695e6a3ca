/**
 * What a program of an agent sees of the machine, by bubblewrap: the system read-only, its own folders, no network unless it
 * is allowed, and an end with ours. The arguments are pure.
 */
// edge: looks once for a program on this machine.
import { spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"

export interface Bind {
  readonly path: string
  readonly write: boolean
}

/** Whom a program runs as, where the house is root: root's files are root's, whatever else is taken from it. */
export interface User {
  readonly uid: number
  readonly gid: number
}

export const nobody: User = { uid: 65534, gid: 65534 }

export interface Box {
  /** What it may write to. It is bound whole: no program can put a link in its place, as it could with a part of it. */
  readonly workspace: string
  /** Where in it the program begins, found inside of the box, where a link leads nowhere else. */
  readonly subdir: string
  readonly folder: string
  /** Where it keeps what is its own between turns, such as its sessions. */
  readonly home: string
  /** More arguments of ours: the way to the house, where there is no network. */
  readonly more?: ReadonlyArray<string>
  readonly binds: ReadonlyArray<Bind>
  /** The house's own: never seen, wherever it lies. */
  readonly hidden: { readonly folder: string; readonly file: string | undefined }
  readonly network: boolean
  readonly user: User | undefined
  readonly system?: ReadonlyArray<string>
}

/** What a system's programs need of it; what is not there is left out. */
const usualSystem = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]

const setpriv = "/usr/bin/setpriv"

export const isInside = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === "" || (!/^\.\.(\/|\\|$)/.test(way) && !isAbsolute(way))
}

/** Seen in every box. */
export const isOfSystem = (path: string): boolean => usualSystem.some((folder) => isInside(folder, path))

/** Under which names a path is seen in the box: /lib is often a part of /usr. */
const seenAs = (path: string, folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.flatMap((folder) => {
    if (!existsSync(folder)) return []
    const real = realpathSync(folder)
    return isInside(real, path) ? [join(folder, relative(real, path))] : []
  })

/** Root gives up what it could do with its capabilities, and then that it is root. */
const apart = (user: User | undefined): ReadonlyArray<string> => [
  ...(user === undefined ? ["--unshare-user"] : []),
  "--cap-drop",
  "ALL",
  ...(user === undefined ? [] : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]),
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
]

/** Root without its capabilities may not enter what is another's: the other goes there itself. */
const goesThere = 'cd -- "$1" && shift && exec "$@"'

const become = (user: User | undefined, at: string): ReadonlyArray<string> =>
  user === undefined
    ? ["--chdir", at, "--"]
    : [
        "--chdir",
        "/",
        "--",
        setpriv,
        "--reuid",
        String(user.uid),
        "--regid",
        String(user.gid),
        "--clear-groups",
        "--inh-caps=-all",
        "--",
        "/bin/sh",
        "-c",
        goesThere,
        "sh",
        at,
      ]

/** The arguments before the program's own. Later ones lie over earlier ones, so that a workspace inside of /tmp is there. */
export const boxArguments = (box: Box): ReadonlyArray<string> => {
  const { binds, folder, hidden, home, more = [], network, subdir, system = usualSystem, user, workspace } = box
  const seen = [...system, ...binds.map(({ path }) => path)]
  return [
    "--die-with-parent",
    "--new-session",
    ...apart(user),
    ...(network ? [] : ["--unshare-net"]),
    ...system.flatMap((path) => ["--ro-bind-try", path, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    // Whoever it becomes writes there, and not only root.
    "--perms",
    "1777",
    "--tmpfs",
    "/tmp",
    // Before what hides the house's own: a link shows nothing of it.
    ...binds.flatMap(({ path }) => ["--dir", dirname(path)]),
    ...binds.flatMap(({ path, write }) => [write ? "--bind" : "--ro-bind", path, path]),
    ...[hidden.folder, ...seenAs(hidden.folder, system)].flatMap((path) => ["--tmpfs", path]),
    ...(hidden.file === undefined ? [] : seenAs(hidden.file, seen)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    // Else the folders above one that is closed to others were closed too, to whoever it is for.
    ...[workspace, folder, home].flatMap((path) => ["--dir", dirname(path)]),
    ...[workspace, home].flatMap((path) => ["--bind", path, path]),
    "--ro-bind",
    folder,
    folder,
    ...more,
    ...become(user, join(workspace, subdir)),
  ]
}

const places = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]

/** The bubblewrap of this machine, if it has one that works: some machines forget, and some forbid it. */
export const findBubblewrap = (isRoot: boolean): string | undefined => {
  const found = places.find((path) => existsSync(path))
  if (found === undefined) return undefined
  const user = isRoot ? nobody : undefined
  const tried = spawnSync(found, [...apart(user), "--ro-bind", "/", "/", ...become(user, "/"), "/bin/true"], {
    env: {},
    timeout: 5000,
  })
  return tried.status === 0 ? found : undefined
}
