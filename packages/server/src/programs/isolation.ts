/**
 * What an agent's program sees of the machine, by bubblewrap: the system read-only, its own folders, and no network
 * unless it is allowed. It ends with the house. The arguments are pure.
 */
// edge: looks once for a program on this machine.
import { spawnSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"

export interface Bind {
  readonly path: string
  readonly write: boolean
  /** What was looked at under this path: if something else is there by the time it is mounted, nothing is started. */
  readonly id?: string
}

/** The user of a program if the house is root: otherwise it could use root's files, even without capabilities. */
export interface User {
  readonly uid: number
  readonly gid: number
}

export const nobody: User = { uid: 65534, gid: 65534 }

export interface Box {
  /**
   * What it may write to. The whole folder is bound: a program could replace a subfolder by a link, but not this one.
   */
  readonly workspace: string
  /** As of a `Bind`. */
  readonly id?: string
  /** The subfolder in which the program starts, resolved inside the sandbox, where a link cannot lead out. */
  readonly subdir: string
  readonly folder: string
  /** Where it keeps its own data between turns, such as its sessions. */
  readonly home: string
  /** More arguments of ours: the connection to the house if there is no network. */
  readonly more?: ReadonlyArray<string>
  readonly binds: ReadonlyArray<Bind>
  /** The house's own files: never visible, wherever they are. */
  readonly hidden: { readonly folder: string; readonly file: string | undefined }
  readonly network: boolean
  readonly user: User | undefined
  readonly system?: ReadonlyArray<string>
  /** The most that each of its temporary folders holds: they are memory of the machine. */
  readonly temporary: number
}

/** What programs need of a system; missing folders are skipped. */
const usualSystem = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]

const setpriv = "/usr/bin/setpriv"

export const isInside = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === "" || (!/^\.\.(\/|\\|$)/.test(way) && !isAbsolute(way))
}

/** Visible in every box. */
export const isOfSystem = (path: string): boolean => usualSystem.some((folder) => isInside(folder, path))

/** The paths under which a path is visible in the sandbox: /lib is often a part of /usr. */
const seenAs = (path: string, folders: ReadonlyArray<string>): ReadonlyArray<string> =>
  folders.flatMap((folder) => {
    if (!existsSync(folder)) return []
    const real = realpathSync(folder)
    return isInside(real, path) ? [join(folder, relative(real, path))] : []
  })

/** Whether it has to become another user first: only root can. */
const isOther = (user: User | undefined): user is User => user !== undefined && user.uid !== 0

/** Root drops its capabilities, and then becomes another user. */
const apart = (user: User | undefined): ReadonlyArray<string> => [
  ...(user === undefined ? ["--unshare-user"] : []),
  "--cap-drop",
  "ALL",
  ...(isOther(user) ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : []),
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
]

/**
 * The first thing in the sandbox: what was mounted must be what was looked at, whatever a program has put in its place
 * meanwhile. Root without its capabilities may not enter another user's folder, so the directory is changed here too,
 * after becoming that user.
 */
const enters = `want=$1 n=$2 have=; shift 2
while [ "$n" -gt 0 ]; do have="$have $(stat -c %d:%i -- "$1")"; shift; n=$((n - 1)); done
[ "$have" = "$want" ] || { echo "a folder was exchanged for another while it was mounted" >&2; exit 125; }
cd -- "$1" && shift && exec "$@"`

const become = (user: User | undefined, at: string, binds: ReadonlyArray<Bind>): ReadonlyArray<string> => {
  const known = binds.filter(({ id }) => id !== undefined)
  const ids = known.map(({ id }) => ` ${id}`).join("")
  return [
    "--chdir",
    "/",
    "--",
    ...(isOther(user)
      ? [setpriv, "--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups", "--inh-caps=-all", "--"]
      : []),
    "/bin/sh",
    "-c",
    enters,
    "sh",
    ids,
    String(known.length),
    ...known.map(({ path }) => path),
    at,
  ]
}

/** The arguments before the program's own. Later mounts cover earlier ones, so a workspace inside /tmp is visible. */
export const boxArguments = (box: Box): ReadonlyArray<string> => {
  const {
    binds,
    folder,
    hidden,
    home,
    id,
    more = [],
    network,
    subdir,
    system = usualSystem,
    temporary,
    user,
    workspace,
  } = box
  const seen = [...system, ...binds.map(({ path }) => path)]
  const covered = [hidden.folder, ...seenAs(hidden.folder, system)]
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
    // Writable for the user that it becomes, not only for root.
    ...["/tmp", "/dev/shm"].flatMap((path) => ["--perms", "1777", "--size", String(temporary), "--tmpfs", path]),
    // Before the mounts that hide the house's own files, so that no link shows them.
    ...binds.flatMap(({ path }) => ["--dir", dirname(path)]),
    ...binds.flatMap(({ path, write }) => [write ? "--bind" : "--ro-bind", path, path]),
    ...covered.flatMap((path) => ["--tmpfs", path]),
    ...(hidden.file === undefined ? [] : seenAs(hidden.file, seen)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    // Otherwise the parents of a private folder would be created as private too, and its user could not reach it.
    ...[workspace, folder, home].flatMap((path) => ["--dir", dirname(path)]),
    ...[workspace, home].flatMap((path) => ["--bind", path, path]),
    "--ro-bind",
    folder,
    folder,
    ...more,
    // Whatever else is made for the sandbox is memory too, and without a limit: nothing is written there.
    ...["/dev", ...covered, "/"].flatMap((path) => ["--remount-ro", path]),
    ...become(user, join(workspace, subdir), [
      { path: workspace, write: true, ...(id === undefined ? {} : { id }) },
      ...binds,
    ]),
  ]
}

/** For a command of the house's own, such as git: what it works on, the programs of the system, and nothing else. */
export interface Cell {
  readonly binds: ReadonlyArray<Bind>
  readonly at: string
  readonly user: User | undefined
  /** It can look into every folder that it sees, whatever their owner allows. */
  readonly looks?: true
}
const tools = usualSystem.filter((path) => path !== "/etc" && path !== "/opt")

export const cellArguments = ({ at, binds, looks, user }: Cell): ReadonlyArray<string> => [
  "--die-with-parent",
  "--new-session",
  ...apart(user),
  ...(looks === true ? ["--cap-add", "CAP_DAC_READ_SEARCH"] : []),
  "--unshare-net",
  ...tools.flatMap((path) => ["--ro-bind-try", path, path]),
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--perms",
  "1777",
  "--tmpfs",
  "/tmp",
  ...binds.flatMap(({ path }) => ["--dir", dirname(path)]),
  ...binds.flatMap(({ path, write }) => [write ? "--bind" : "--ro-bind", path, path]),
  ...become(user, at, binds),
]

const places = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]

/** The bubblewrap of this machine, if there is one that works: some machines do not have it, and some forbid it. */
export const findBubblewrap = (isRoot: boolean): string | undefined => {
  const found = places.find((path) => existsSync(path))
  if (found === undefined) return undefined
  const user = isRoot ? nobody : undefined
  const tried = spawnSync(found, [...apart(user), "--ro-bind", "/", "/", ...become(user, "/", []), "/bin/true"], {
    env: {},
    timeout: 5000,
  })
  return tried.status === 0 ? found : undefined
}

/** How programs are isolated from this machine, looked up once; `bwrap` is undefined if they may not run. */
export const makeIsolation = (programs: "isolated" | "unisolated") => {
  let found: { readonly bwrap: string | undefined } | undefined
  const bubblewrap = () => (found ??= { bwrap: findBubblewrap(process.getuid?.() === 0) }).bwrap
  return programs === "unisolated"
    ? () => ({ kind: "none" as const, bwrap: undefined })
    : () => {
        const bwrap = bubblewrap()
        return bwrap === undefined ? undefined : { kind: "bubblewrap" as const, bwrap }
      }
}
export type Isolation = ReturnType<typeof makeIsolation>
