/**
 * The address of the house and the token that a command uses. Flags win over the environment, the environment over the
 * local house.
 */
// edge: reads the environment and the local house's data folder.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const read = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, "utf8").trim() : undefined)

const set = (name: string): string | undefined => {
  const value = process.env[name]
  return value === undefined || value === "" ? undefined : value
}

/** Commands in a sentence as they work here: in a checkout, through npx. `npm start` serves from one, too. */
export const asTyped = (sentence: string): string =>
  /^(exec|start|run|run-script)$/.test(set("npm_command") ?? "")
    ? sentence.replaceAll(/(?<![\w./@-]|npx )stoa (?=[a-z]{2,}|--)/g, "npx stoa ")
    : sentence

export interface Target {
  readonly url: string
  readonly token: string | undefined
  /** Where the address and the token were found, in words; nothing where nobody gave them. */
  readonly from: { readonly url: string | undefined; readonly token: string | undefined }
  /** The address was given, not found: exactly that house is meant. */
  readonly given: boolean
  /** Where the house of that folder was when it was killed; it says nothing about who is there now. */
  readonly last: string | undefined
  /** The local house's data folder. */
  readonly folder: string
  /** Whether a house runs on that folder now. */
  readonly running: boolean
}

/** Whether an address can be the local house's: its admin token is sent to no other. */
const isLocal = (url: string, local: string): boolean => {
  if (url === local || url === set("STOA_PUBLIC_URL")) return true
  const host = URL.canParse(url) ? new URL(url).hostname : ""
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** Its process wrote its pid beside the data, and is still running. */
const isRunning = (folder: string): boolean => {
  const pid = Number(read(join(folder, "pid")))
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    // EPERM means that the process runs as another user.
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}

export const clientSettings = (flags: {
  readonly url: string | undefined
  readonly token: string | undefined
}): Target => {
  const folder = set("STOA_DATA") ?? ".stoa"
  const running = isRunning(folder)
  // The address that the house of this folder wrote when it started. Another program at the usual port is not that
  // house.
  const local = running ? read(join(folder, "address")) : undefined
  const given = flags.url ?? set("STOA_URL")
  const url = given ?? local ?? `http://${set("STOA_HOST") ?? "127.0.0.1"}:${set("STOA_PORT") ?? "4040"}`
  const stored = join(folder, "admin.token")
  const isOurs = local !== undefined && isLocal(url, local)
  const tokens = [
    ["--token", flags.token],
    ["STOA_TOKEN", set("STOA_TOKEN")],
    ["STOA_ADMIN_TOKEN", isOurs || !existsSync(folder) ? set("STOA_ADMIN_TOKEN") : undefined],
    [stored, isOurs ? read(stored) : undefined],
  ] as const
  const [tokenFrom, token] = tokens.find(([, found]) => found !== undefined) ?? []
  return {
    url,
    token,
    from: { url: flags.url !== undefined ? "--url" : given === undefined ? undefined : "STOA_URL", token: tokenFrom },
    given: given !== undefined,
    last: running || given !== undefined ? undefined : read(join(folder, "address")),
    folder,
    running: local !== undefined,
  }
}

/** For a house inside this process: it takes a free port, which nobody else is told. */
export const embeddedEnvironment = (): Record<string, string | undefined> => ({
  ...process.env,
  STOA_HOST: "127.0.0.1",
  STOA_PORT: "0",
})
