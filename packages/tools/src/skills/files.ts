/** file-read and file-write, confined to `allowedFilePathPrefix` (S4-88, S4-96). */
import { type ToolDefinition, ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import type { Tool } from "../Handler.ts"
import { CurrentToolsConfig } from "../ToolsConfig.ts"
import { choice, refuse, text } from "./argument.ts"
import { type ConfinedFolder, readConfined, PathRefusal, writeConfined } from "./confinedFolder.ts"
import { CurrentSkillsConfig } from "./SkillsConfig.ts"

const encodings = ["utf-8", "utf8", "utf16le", "latin1", "ascii", "base64", "hex"] as const
type Encoding = (typeof encodings)[number]

const encodingParameter = {
  name: "encoding",
  type: "string",
  description: "File encoding",
  required: false,
  default: "utf-8",
  enum: [...encodings],
} as const

const readDefinition: ToolDefinition = {
  name: "file-read",
  description: "Read the contents of a file",
  parameters: [{ name: "path", type: "string", description: "File path to read", required: true }, encodingParameter],
  category: "file",
  riskLevel: "medium",
  timeoutMs: 5_000,
  requiresApproval: false,
  source: "builtin",
}

const writeDefinition: ToolDefinition = {
  name: "file-write",
  description: "Write a file as a whole, in place of what was there; missing folders are made",
  parameters: [
    { name: "path", type: "string", description: "File path to write", required: true },
    { name: "content", type: "string", description: "The whole new content", required: true },
    encodingParameter,
  ],
  category: "file",
  riskLevel: "high",
  timeoutMs: 5_000,
  requiresApproval: true,
  source: "builtin",
}

const settings = Effect.gen(function* () {
  const { security } = yield* CurrentToolsConfig
  const { files } = yield* CurrentSkillsConfig
  const folder: ConfinedFolder = { prefix: security.allowedFilePathPrefix, forbiddenNames: files.forbiddenNames }
  return { ...files, folder }
})

const meanings: Record<string, string> = {
  ENOENT: "there is no such file",
  EACCES: "the file may not be opened",
  EPERM: "the file may not be opened",
  EISDIR: "it is a folder",
  ELOOP: "it changed while it was opened; try again",
  ENAMETOOLONG: "a name in it is too long",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  ENXIO: "it is a device, pipe or socket",
}

const failure = (tool: string, verb: string, path: string) => (error: unknown) => {
  if (error instanceof PathRefusal) return new ToolExecutionError({ message: error.message, toolName: tool })
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown error"
  return new ToolExecutionError({ message: `Could not ${verb} "${path}": ${meanings[code] ?? code}.`, toolName: tool })
}

const decode = (bytes: Buffer, encoding: Encoding, path: string): Effect.Effect<string, ToolExecutionError> =>
  encoding === "utf-8" || encoding === "utf8"
    ? Effect.try({
        try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
        catch: () =>
          new ToolExecutionError({
            message: `"${path}" is not UTF-8 text. Read it with encoding "base64" or "latin1".`,
            toolName: "file-read",
          }),
      })
    : Effect.succeed(bytes.toString(encoding))

export const fileRead: Tool = {
  definition: readDefinition,
  handler: Effect.fn("file-read")(function* (args) {
    const name = "file-read"
    const path = yield* text(name, args, "path")
    const encoding = yield* choice(name, args, "encoding", encodings, "utf-8")
    const { folder, maxReadBytes } = yield* settings
    const bytes = yield* Effect.tryPromise({
      try: () => readConfined(folder, path, maxReadBytes),
      catch: failure(name, "read", path),
    })
    return yield* decode(bytes, encoding, path)
  }),
}

/** Node drops or changes malformed input; here it is refused, because the file would silently differ. */
const malformed = (content: string, encoding: Encoding): boolean => {
  const beyond = (last: number) => [...content].some((it) => (it.codePointAt(0) ?? 0) > last)
  switch (encoding) {
    case "base64":
      return !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(content)
    case "hex":
      return !/^(?:[0-9a-f]{2})*$/i.test(content)
    case "latin1":
      return beyond(0xff)
    case "ascii":
      return beyond(0x7f)
    default:
      return false
  }
}

export const fileWrite: Tool = {
  definition: writeDefinition,
  handler: Effect.fn("file-write")(function* (args) {
    const name = "file-write"
    const path = yield* text(name, args, "path")
    const content = yield* text(name, args, "content")
    const encoding = yield* choice(name, args, "encoding", encodings, "utf-8")
    const { folder, maxWriteBytes } = yield* settings
    // Checked before any work on it: even hex has at most two characters per byte.
    if (content.length > maxWriteBytes * 2)
      return yield* refuse(name, `The content has more than ${maxWriteBytes} bytes.`)
    if (malformed(content, encoding))
      return yield* refuse(name, `The content is not valid ${encoding}; nothing was written.`)
    const bytes = Buffer.from(content, encoding)
    if (bytes.length > maxWriteBytes) return yield* refuse(name, `The content has more than ${maxWriteBytes} bytes.`)
    const written = yield* Effect.tryPromise({
      try: (signal) => writeConfined(folder, path, bytes, signal),
      catch: failure(name, "write", path),
    })
    return { written: true, path: written, bytes: bytes.length }
  }),
}
