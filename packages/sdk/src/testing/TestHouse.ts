/**
 * A whole house in the test's own process: real doors, a real store in its own folder, and a model that follows rules.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Configuration } from "@stoa/contract"
import type { Duration } from "effect"
import type { FeedEvent } from "../stream/feed.ts"
import { connect, type Stoa } from "../Stoa.ts"
import { movableClock } from "./clock.ts"
import { Events } from "./events.ts"
import { type NetworkFault, faultyFetch } from "./faults.ts"
import { loadServer } from "./server.ts"
import { Settings } from "./Settings.ts"

/**
 * One rule of the scripted model: the first match is used. Without a match the model says nothing, and the run ends.
 */
export interface ScriptedRule {
  readonly when?: {
    readonly agent?: string
    readonly step?: number
    /** A pattern for the newest text of the run's user. */
    readonly text?: string
    /** The tool of the last call. */
    readonly tool?: string
    readonly outcome?: "done" | "failed" | "refused"
  }
  readonly say?: string
  readonly call?: ReadonlyArray<{ readonly tool: string; readonly input: unknown }>
  readonly fail?: "429" | "500" | "cut" | (string & {})
  readonly waitMs?: number
  readonly usage?: { readonly in: number; readonly out: number }
}

export interface HouseOptions {
  /** The content of a configuration file. The model `scripted` is added to its models. */
  readonly configuration?: Configuration
  /** The rules of the model `scripted`. */
  readonly rules?: ReadonlyArray<ScriptedRule>
  /** Settings, such as `DATABASE_URL` or `STOA_LOG`. From this process's own environment only `PATH` is used. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface TestHouse extends AsyncDisposable {
  readonly url: string
  /** Its data, configuration and rules; removed when it is stopped. */
  readonly folder: string
  readonly adminToken: string
  readonly admin: Stoa
  /** A client that acts as a principal of the house, with a new token. */
  readonly as: (principal: string) => Promise<Stoa>
  /** The rules of the model `scripted` from now on. */
  readonly play: (rules: ReadonlyArray<ScriptedRule>) => void
  /** Waits for the next event of a kind: each is returned once. */
  readonly event: (kind: string, fits?: (event: FeedEvent) => boolean) => Promise<FeedEvent>
  /** Moves the house's clock forward: timers due by then fire now. */
  readonly advance: (by: Duration.Input) => void
  /** A fault for the next matching request of any client of this house. */
  readonly fault: (fault: NetworkFault) => void
  /** Stops the house and starts it again on the same data and port. Clients and feeds reconnect by themselves. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

const adminToken = "the-admin-of-a-test-house"

/** Starts a house. Stop it, or declare it with `await using`. */
export const startHouse = async (options: HouseOptions = {}): Promise<TestHouse> => {
  const { embed } = await loadServer()
  const folder = mkdtempSync(join(tmpdir(), "stoa-house-"))
  const rulesFile = join(folder, "rules.json")
  const play = (rules: ReadonlyArray<ScriptedRule>) => writeFileSync(rulesFile, JSON.stringify({ rules }))
  play(options.rules ?? [])
  const configuration = options.configuration ?? {}
  const models = { scripted: { provider: "scripted", rules: rulesFile }, ...configuration.models }
  writeFileSync(join(folder, "stoa.config.json"), JSON.stringify({ ...configuration, models }))

  const clock = movableClock()
  const faults = faultyFetch()
  let port = "0"
  const start = () => {
    const stop = new AbortController()
    const environment = {
      PATH: Settings.path(),
      STOA_LOG: "none",
      STOA_DEMO: "off",
      STOA_PORT: port,
      STOA_DATA: join(folder, "data"),
      STOA_CONFIG: join(folder, "stoa.config.json"),
      STOA_ADMIN_TOKEN: adminToken,
      ...options.settings,
    }
    return new Promise<{ readonly url: string; readonly end: () => Promise<void> }>((resolve, reject) => {
      const ended = embed({
        environment,
        clock,
        stop: stop.signal,
        ready: (url) =>
          resolve({
            url,
            end: () => {
              stop.abort()
              return ended
            },
          }),
      })
      ended.catch(reject)
    })
  }

  const drop = () => rmSync(folder, { recursive: true, force: true })
  let running = await start().catch((cause: unknown) => {
    drop()
    throw cause
  })
  const { url } = running
  port = new URL(url).port
  const client = (token: string) => connect({ url, token, fetch: faults.send })
  const admin = client(adminToken)
  const events = new Events(connect({ url, token: adminToken }))
  let stopped: Promise<void> | undefined
  const stop = () =>
    (stopped ??= (async () => {
      events.end()
      await running.end()
      drop()
    })())
  return {
    url,
    folder,
    adminToken,
    admin,
    as: async (principal) => client((await connect({ url, token: adminToken }).tokens.add({ principal })).token),
    play,
    event: (kind, fits) => events.next(kind, fits),
    advance: clock.advance,
    fault: faults.add,
    restart: async () => {
      await running.end()
      running = await start()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
