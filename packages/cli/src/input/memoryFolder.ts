/** Exports of memory on disk: a file of JSON Lines, or a folder of Markdown files. */
// edge: reads and writes files, and writes to stdout.
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { type MemorySource, memorySourcesIn, sourcesOf } from "@stoa/contract"
import { Effect } from "effect"
import { type Failure, refusal } from "../Failure.ts"
import { stdin } from "./values.ts"

const tried = <A>(what: string, act: () => A): Effect.Effect<A, Failure> =>
  Effect.try({ try: act, catch: (cause) => refusal(`${what}: ${(cause as Error).message}.`) })

/** Raw data: for a file that is read again, not a text for a person. */
export const printRaw = (text: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(text))

export const fileExists = (file: string): boolean => existsSync(file)

/** Written completely or not at all; readable only by its owner, since memories are private. */
export const writeWhole = (file: string, text: string): Effect.Effect<void, Failure> =>
  tried(`${file} cannot be written`, () => {
    // A random name: an existing link there is not written through.
    const part = `${file}.${randomBytes(6).toString("hex")}.part`
    writeFileSync(part, text, { mode: 0o600, flag: "wx" })
    renameSync(part, file)
  })

export const writeFolder = Effect.fnUntraced(function* (folder: string, files: ReadonlyMap<string, string>) {
  for (const [path, text] of files) {
    const file = join(folder, path)
    yield* tried(`${dirname(file)} cannot be made`, () => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }))
    yield* writeWhole(file, text)
  }
})

/** Files of a folder by their paths in it; hidden ones, such as .git, are not read. */
const filesIn = (folder: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const visit = (here: string): void => {
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue
      const path = join(here, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile() && /\.(md|jsonl)$/.test(entry.name))
        found.set(relative(folder, path).split(sep).join("/"), readFileSync(path, "utf8"))
    }
  }
  visit(folder)
  return found
}

export const readLines = (from: string): Effect.Effect<ReadonlyArray<MemorySource>, Failure> => {
  if (from === "-")
    return Effect.flatMap(stdin, (text) => tried("stdin is not JSON Lines", () => sourcesOf("stdin", text)))
  return tried(`${from} cannot be read`, () =>
    statSync(from).isDirectory() ? memorySourcesIn(filesIn(from)) : sourcesOf(from, readFileSync(from, "utf8")),
  )
}
