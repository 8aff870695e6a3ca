/** A whole house for a test, on either database: real HTTP on a free port, real folder, gone when the suite ends. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect, type Stoa } from "@stoa/sdk"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { NodeServer } from "../src/doors/node/NodeServer.ts"
import { layerHouse } from "../src/House.ts"
import { keysOf } from "../src/start/Opening.ts"
import { layerLog } from "../src/Log.ts"
import { Settings } from "../src/Settings.ts"
import { Folder } from "../src/store/Folder.ts"
import { houseDatabase, tempFolder } from "./stores.ts"

export class Guest extends Context.Service<
  Guest,
  {
    readonly url: string
    readonly adminToken: string
    readonly admin: Stoa
    readonly configFile: string
    readonly folder: string
    /** A client that acts as the bearer of a token, or as nobody. */
    readonly as: (token?: string) => Stoa
    /** A raw request, for what the client would never send. */
    readonly raw: (path: string, init?: RequestInit) => Promise<Response>
  }
>()("test/Guest") {}

export interface HouseOptions {
  readonly store: "sqlite" | "postgres"
  readonly env?: Record<string, string>
  readonly config?: unknown
  readonly log?: "none" | "error" | "debug"
  /** Gets what the house logs, instead of stderr. */
  readonly logged?: (line: string) => void
}

/** Limits of a test are those of a load test, unless the test is about limits. */
export const roomy = { limits: [{ principal: "*", resource: "*", count: 1_000_000, seconds: 60 }] }

const guest = (keys: { readonly admin: Redacted.Redacted }, configFile: string) =>
  Layer.effect(
    Guest,
    Effect.gen(function* () {
      const { url } = yield* NodeServer
      const folder = yield* Folder
      const adminToken = Redacted.value(keys.admin)
      const as = (token?: string) => connect(token === undefined ? { url } : { url, token })
      const raw = (path: string, init?: RequestInit) => fetch(new URL(path, url), init)
      return { url, adminToken, admin: as(adminToken), configFile, folder: folder.path, as, raw }
    }),
  )

export const house = (options: HouseOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* tempFolder
      const configFile = join(folder, "stoa.config.json")
      writeFileSync(configFile, JSON.stringify(options.config ?? roomy))
      const database = options.store === "postgres" ? { DATABASE_URL: Redacted.value((yield* houseDatabase).url) } : {}
      const settings = Settings.layer({
        STOA_PORT: "0",
        STOA_DATA: join(folder, "data"),
        STOA_CONFIG: configFile,
        ...database,
        ...options.env,
      })
      const { logged } = options
      const log =
        logged === undefined
          ? layerLog(options.log ?? "none", false)
          : Logger.layer([Logger.make<unknown, void>(({ message }) => logged([message].flat().join(" ")))])
      const ground = Layer.merge(Folder.layer(join(folder, "data")), log).pipe(Layer.provideMerge(settings))
      return Layer.unwrap(
        Effect.map(keysOf, (keys) => guest(keys, configFile).pipe(Layer.provideMerge(layerHouse(keys)))),
      ).pipe(Layer.provideMerge(ground))
    }),
  )

export const ask = <A>(question: () => Promise<A>) =>
  Effect.tryPromise({ try: question, catch: (cause) => cause as never })

/** A change of rights that was made at once: no policy wants a second person here. */
export const made = <A extends object>(answer: A): Exclude<A, { readonly state: "waiting" }> => {
  if ("state" in answer) throw new Error("the change waits for a second person")
  return answer as Exclude<A, { readonly state: "waiting" }>
}
