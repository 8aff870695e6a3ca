// edge: the file system speaks in promises.
/**
 * Files under one folder and nowhere else. A path is first resolved (following symbolic links, as far as it exists) and
 * judged; then it is walked from the folder by open handles that follow no link, so that nothing swapped in between
 * leads out.
 */
import { randomUUID } from "node:crypto"
import { constants, existsSync } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises"
import { basename, dirname, join, relative, resolve, sep } from "node:path"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** A message for a model. Any other file system error is shown by its code alone: messages name real paths. */
export class PathRefusal extends Error {}

export interface ConfinedFolder {
  readonly prefix: string
  /** Names that are refused everywhere. */
  readonly forbiddenNames: ReadonlyArray<string>
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
const inside = (base: string, path: string): boolean =>
  path === base || path.startsWith(base.endsWith(sep) ? base : `${base}${sep}`)
const outside = (path: string) => new PathRefusal(`Path traversal detected: "${path}" is outside the allowed folder.`)

/** Segments from the real base to the real path. The part that does not exist yet is taken as written. */
const resolvePath = async ({ forbiddenNames, prefix }: ConfinedFolder, path: string) => {
  if (path.includes("\0")) throw new PathRefusal("Path traversal detected: the path holds a NUL character.")
  if (path.trim() === "" || path.length > 4096)
    throw new PathRefusal("The path must have between 1 and 4096 characters.")
  const named = resolve(prefix)
  const base = await realpath(named)
  const wanted = resolve(named, path)
  const from = [named, base].find((it) => inside(it, wanted))
  if (from === undefined) throw outside(path)
  const missing: Array<string> = []
  let at = join(base, relative(from, wanted))
  let real: string | undefined
  while (real === undefined) {
    try {
      real = await realpath(at)
    } catch (error) {
      if (codeOf(error) === "ELOOP") throw new PathRefusal(`"${path}" is a link that leads to itself.`)
      if (codeOf(error) === "ENOTDIR") throw new PathRefusal(`A part of "${path}" is a file, not a folder.`)
      // A link whose target is missing: writing through it would create that target, anywhere.
      const dangling = await lstat(at).then(
        (it) => it.isSymbolicLink(),
        () => false,
      )
      if (codeOf(error) !== "ENOENT" || dangling || at === base) throw outside(path)
      missing.unshift(basename(at))
      at = dirname(at)
    }
  }
  if (!inside(base, real)) throw outside(path)
  const segments = [...relative(base, real).split(sep), ...missing].filter((it) => it !== "")
  const forbidden = segments.find((it) => forbiddenNames.includes(it.toLowerCase()))
  if (forbidden !== undefined) throw new PathRefusal(`"${forbidden}" is closed to tools.`)
  return { base, segments }
}

interface OpenFolder {
  readonly handle: FileHandle
  readonly path: string
}
/** A name in an open folder. On Linux through the handle itself, which no rename can redirect. */
const byHandle = existsSync("/proc/self/fd")
const within = ({ handle, path }: OpenFolder, name: string): string =>
  byHandle ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)

const openFolder = (path: string) => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/** Opens the folder that holds the last segment. */
const openParent = async (base: string, parents: ReadonlyArray<string>, make: boolean): Promise<OpenFolder> => {
  let at: OpenFolder = { handle: await openFolder(base), path: base }
  for (const name of parents) {
    const next = within(at, name)
    try {
      if (make) await mkdir(next).catch((error) => (codeOf(error) === "EEXIST" ? undefined : Promise.reject(error)))
      const handle = await openFolder(next)
      await at.handle.close()
      at = { handle, path: join(at.path, name) }
    } catch (error) {
      await at.handle.close()
      throw ["ELOOP", "ENOTDIR"].includes(codeOf(error))
        ? new PathRefusal("A folder on the way changed; try again.")
        : error
    }
  }
  return at
}

const withParent = async <A>(
  folder: ConfinedFolder,
  path: string,
  make: boolean,
  use: (parent: OpenFolder, name: string, segments: ReadonlyArray<string>) => Promise<A>,
): Promise<A> => {
  const { base, segments } = await resolvePath(folder, path)
  const name = segments.at(-1)
  if (name === undefined) throw new PathRefusal(`"${path}" is a folder, not a file.`)
  const parent = await openParent(base, segments.slice(0, -1), make)
  try {
    return await use(parent, name, segments)
  } finally {
    await parent.handle.close()
  }
}

const regular = (path: string, it: { isFile: () => boolean; isDirectory: () => boolean }) => {
  if (it.isDirectory()) throw new PathRefusal(`"${path}" is a folder, not a file.`)
  if (!it.isFile()) throw new PathRefusal(`"${path}" is a device, pipe or socket, not a file.`)
}

export const readConfined = (folder: ConfinedFolder, path: string, maxBytes: number): Promise<Buffer> =>
  withParent(folder, path, false, async (parent, name) => {
    // Without O_NONBLOCK, opening a pipe waits for a writer that never comes.
    const file = await open(within(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      regular(path, await file.stat())
      // Counted while reading: the size of a growing file, or of one in /proc, is not reliable.
      const chunks: Array<Buffer> = []
      for (let length = 0; ;) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536)
        length += bytesRead
        if (length > maxBytes)
          throw new PathRefusal(`"${path}" has more than ${maxBytes} bytes, the most that can be read.`)
        if (bytesRead === 0) return Buffer.concat(chunks)
        chunks.push(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  })

/** All of it or none: written beside, synced, then moved over. Returns the path from the base. */
export const writeConfined = (
  folder: ConfinedFolder,
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<string> =>
  withParent(folder, path, true, async (parent, name, segments) => {
    const target = within(parent, name)
    const before = await lstat(target).catch(() => undefined)
    if (before !== undefined) regular(path, before)
    const beside = within(parent, `.stoa-${randomUUID()}.tmp`)
    const file = await open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
    try {
      try {
        await file.writeFile(bytes)
        if (before !== undefined) await file.chmod(before.mode & 0o777)
        await file.sync()
      } finally {
        await file.close()
      }
      signal.throwIfAborted()
      await rename(beside, target)
    } catch (error) {
      await unlink(beside).catch(() => undefined)
      throw error
    }
    await parent.handle.sync()
    return segments.join("/")
  })
