/**
 * How a verb reads its input: text on the line, `@file`, or `-` for stdin. A text that itself begins with @ is written
 * with @@: it is never guessed from what happens to lie in a folder. JSON that people write may contain comments.
 */
// edge: reads files, stdin and the terminal.
import { existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline/promises"
import { visibleJson } from "@stoa/contract"
import { Effect } from "effect"
import { type Failure, failureOf, refusal } from "../Failure.ts"

export const stdin = Effect.tryPromise({
  try: async () => {
    const chunks: Array<Buffer> = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString("utf8")
  },
  catch: failureOf,
})

/** The text of a file, or of stdin. */
const textOf = (file: string): Effect.Effect<string, Failure> =>
  file === "-"
    ? stdin
    : Effect.try({
        try: () => readFileSync(file, "utf8"),
        catch: (cause) => refusal(`${file} cannot be read: ${(cause as Error).message}.`),
      })

/**
 * Comments and trailing commas become blanks, so that the position of an error stays right. Strings come first in the
 * pattern: something like a comment inside a string is text.
 */
const bare = (text: string): string =>
  text
    .replace(/^\uFEFF/, " ")
    .replace(/("(?:\\.|[^"\\\n])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found, string: string | undefined) =>
      string === undefined ? found.replace(/[^\n]/g, " ") : string,
    )
    .replace(/("(?:\\.|[^"\\\n])*")|,(?=\s*[\]}])/g, (_, string: string | undefined) => string ?? " ")

const read = (text: string, from: string): Effect.Effect<unknown, Failure> =>
  Effect.try({
    try: () => JSON.parse(bare(text)) as unknown,
    catch: (cause) => refusal(`${from} is not JSON: ${(cause as Error).message}.`),
  })

/** Where an input is: the file after a single @, or `-` for stdin; undefined if it is the input itself. */
const fileIn = (given: string): string | undefined =>
  given === "-" ? given : /^@(?!@)/.test(given) ? given.slice(1) : undefined

/** A text: inline, in `@file`, or on stdin for `-`. The trailing newline of an editor is removed. */
export const textGiven = (given: string): Effect.Effect<string, Failure> => {
  const file = fileIn(given)
  if (file === undefined) return Effect.succeed(given.replace(/^@@/, "@"))
  if (file !== "-" && !existsSync(file))
    return refusal(
      `There is no file ${visibleJson(file)}: a text that begins with @ names a file to read. If the text itself begins with @, write @@.`,
    )
  return Effect.map(textOf(file), (text) => text.replace(/\r?\n$/, ""))
}

/** A file of JSON, with comments. */
export const jsonFile = (file: string): Effect.Effect<unknown, Failure> =>
  Effect.flatMap(textOf(file), (text) => read(text, file === "-" ? "stdin" : file))

/** A flag's JSON: inline, in `@file`, or on stdin for `-`. */
export const jsonFlag = (given: string, flag: string): Effect.Effect<unknown, Failure> =>
  Effect.suspend(() => {
    const file = fileIn(given)
    return file === undefined ? read(given, `--${flag}`) : jsonFile(file)
  })

/** The same for a flag that must be an object. */
export const objectFlag = Effect.fnUntraced(function* (given: string, flag: string) {
  const value = yield* jsonFlag(given, flag)
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, never>)
    : yield* refusal(`--${flag} must be an object, such as '{"folder":"logs"}'.`)
})

/** Whether there is a person at the terminal who can be asked. */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Asks a person at the terminal; prompts go to stderr, like all messages. */
export const withTerminal = async <A>(use: (ask: (prompt: string) => Promise<string>) => Promise<A>): Promise<A> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await use(async (prompt) => (await lines.question(prompt)).trim())
  } finally {
    lines.close()
  }
}
