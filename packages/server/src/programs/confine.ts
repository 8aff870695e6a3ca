/**
 * Folders and files inside a workspace, which a program may change while we work. Each part of a path is opened and
 * held separately, and no link is followed: what was checked is what is used.
 */
// edge: folders and files
import {
  closeSync,
  constants,
  fchownSync,
  fchmodSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs"
import { isAbsolute, join } from "node:path"
import type { User } from "./isolation.ts"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

const codeOf = (cause: unknown): string | undefined => (cause as { readonly code?: string }).code

/** The parts of a path inside a workspace; refuses paths that lead out of it. */
export const partsOf = (inner: string): ReadonlyArray<string> => {
  if (isAbsolute(inner)) throw new Error(`"${inner}" is absolute; give a path inside of the workspace`)
  const parts = inner.split(/[/\\]/).filter((part) => part !== "" && part !== ".")
  if (parts.includes("..") || inner.includes("\0")) throw new Error(`"${inner}" leads out of the workspace`)
  return parts
}

/** A file or folder as it was at one moment: all of this is of the same one, whatever its path leads to later. */
export interface Found {
  /** Its path without links. */
  readonly path: string
  readonly id: string
  readonly user: User
  readonly isFolder: boolean
}

/** Opens nothing for reading: only its place and owner are wanted. */
const O_PATH = 0o10000000

export const find = (path: string): Found => {
  const fd = openSync(path, process.platform === "linux" ? O_PATH : O_RDONLY)
  try {
    const { dev, gid, ino, uid } = fstatSync(fd, { bigint: true })
    return {
      path: process.platform === "linux" ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path),
      id: `${dev}:${ino}`,
      user: { uid: Number(uid), gid: Number(gid) },
      isFolder: fstatSync(fd).isDirectory(),
    }
  } finally {
    closeSync(fd)
  }
}

interface Held {
  readonly fd: number
  readonly path: string
}

/** A name inside a held folder. Only Linux supports this; elsewhere programs are not isolated anyway. */
const named = ({ fd, path }: Held, part: string): string =>
  process.platform === "linux" ? `/proc/self/fd/${fd}/${part}` : join(path, part)

const step = (at: Held, part: string, inner: string, user: User | undefined): Held => {
  let made = true
  try {
    mkdirSync(named(at, part), { mode: 0o700 })
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw cause
    made = false
  }
  try {
    const fd = openSync(named(at, part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    if (made && user !== undefined) fchownSync(fd, user.uid, user.gid)
    return { fd, path: join(at.path, part) }
  } catch (cause) {
    if (codeOf(cause) === "ELOOP" || codeOf(cause) === "ENOTDIR")
      throw new Error(`"${inner}" is not a folder, or contains a link, which could lead out of the workspace`, {
        cause,
      })
    throw cause
  }
}

/** A folder that may have been exchanged for another since it was looked at (`Found`). */
const sameAs = (fd: number, path: string, id: string | undefined): void => {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  if (id !== undefined && id !== `${dev}:${ino}`) throw new Error(`${path} was exchanged for another folder`)
}

const within = <A>(
  outer: string,
  id: string | undefined,
  inner: string,
  parts: ReadonlyArray<string>,
  user: User | undefined,
  use: (folder: Held) => A,
): A => {
  let at: Held = { fd: openSync(outer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path: outer }
  try {
    sameAs(at.fd, outer, id)
    for (const part of parts) {
      const next = step(at, part, inner, user)
      closeSync(at.fd)
      at = next
    }
    return use(at)
  } finally {
    closeSync(at.fd)
  }
}

/** A folder below another, created if it is missing. */
export const confine = (outer: string, inner: string, user?: User, id?: string): string =>
  within(outer, id, inner, partsOf(inner), user, ({ path }) => path)

const giveIn = (folder: Held, user: User): void => {
  for (const name of readdirSync(named(folder, "."))) {
    const path = named(folder, name)
    lchownSync(path, user.uid, user.gid)
    let fd: number
    try {
      fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } catch (cause) {
      if (["ELOOP", "ENOTDIR", "ENXIO"].includes(codeOf(cause) ?? "")) continue
      throw cause
    }
    try {
      giveIn({ fd, path: join(folder.path, name) }, user)
    } finally {
      closeSync(fd)
    }
  }
}

/** Gives a user a folder with all that is in it. */
export const give = (path: string, user: User): void => {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    fchownSync(fd, user.uid, user.gid)
    giveIn({ fd, path }, user)
  } finally {
    closeSync(fd)
  }
}

/** Creates a file below a folder, and replaces what had its name, link or not. */
export const putInside = (outer: string, inner: string, text: string, user?: User, id?: string): void => {
  const parts = partsOf(inner)
  within(outer, id, inner, parts.slice(0, -1), user, (folder) => {
    const name = named(folder, parts.at(-1)!)
    rmSync(name, { force: true })
    const fd = openSync(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      fchmodSync(fd, 0o600)
      if (user !== undefined) fchownSync(fd, user.uid, user.gid)
      writeSync(fd, text)
    } finally {
      closeSync(fd)
    }
  })
}
