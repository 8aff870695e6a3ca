/** What a client needs to know: where the house is and by which token. Flags win over the environment, that over the local house. */
// edge: reads the environment and the local house's data folder.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const read = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, "utf8").trim() : undefined)

const set = (name: string): string | undefined => {
  const value = process.env[name]
  return value === undefined || value === "" ? undefined : value
}

const dataFolder = (): string => set("STOA_DATA") ?? ".stoa"

export interface Target {
  readonly url: string
  readonly token: string | undefined
}

export const clientSettings = (flags: {
  readonly url: string | undefined
  readonly token: string | undefined
}): Target => {
  const folder = dataFolder()
  return {
    url:
      flags.url ??
      set("STOA_URL") ??
      read(join(folder, "address")) ??
      `http://${set("STOA_HOST") ?? "127.0.0.1"}:${set("STOA_PORT") ?? "4040"}`,
    token: flags.token ?? set("STOA_TOKEN") ?? set("STOA_ADMIN_TOKEN") ?? read(join(folder, "admin.token")),
  }
}
