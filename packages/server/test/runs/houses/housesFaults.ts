/** Faults that are no death: a house that is frozen, a Postgres that is restarted, a house that is cut off from it. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { randomInt } from "node:crypto"
import { it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { startPostgres } from "../../../../../test/postgres.ts"
import { askDatabase } from "../../stores.ts"
import { cluster, clusterAt, open, type Open } from "./housesKit.ts"
import { allEnded, checkHistory, furnish, notebook, rules, tellAll } from "./runsHistory.ts"

const names = ["bot0", "bot1", "bot2", "bot3"]

/** A fault again and again while agents of two houses work; afterwards the history is whole. */
const suffered = (
  title: string,
  times: number,
  scene: Effect.Effect<
    {
      readonly on: Effect.Success<typeof cluster>
      /** Where the second house finds the database. */
      readonly second?: string
      readonly fault: (houses: ReadonlyArray<Open>) => Effect.Effect<void>
    },
    never,
    Scope.Scope
  >,
) =>
  it.live(
    title,
    () =>
      Effect.gen(function* () {
        const { fault, on, second } = yield* scene
        on.rules(rules)
        const { seen, url } = yield* notebook
        const houses = [yield* open(on), yield* open(on, second === undefined ? {} : { database: second })]
        yield* furnish(houses[0]!.url, url, names)
        const accepted: Array<string> = []
        for (let time = 0; time < times; time++) {
          accepted.push(...(yield* tellAll(houses[0]!.url, names, `work ${time}`)))
          yield* Effect.sleep(randomInt(0, 60))
          yield* fault(houses)
        }
        yield* allEnded(houses[0]!.url)
        // What was on its way into the journal when its answer was lost has woken somebody all the same.
        yield* on.look(checkHistory(accepted, seen, true))
        for (const { child } of houses) yield* child.kill
      }),
    120_000 * times,
  )

/** `seconds`: longer than its lease, so that the other house takes over what it held. */
export const freezing = (times: number, seconds: number) =>
  suffered(
    `G-23 ${times} times one of two houses is frozen for ${seconds} s and wakes up: nothing is lost, twice or stuck`,
    times,
    Effect.map(cluster, (on) => ({
      on,
      fault: (houses) =>
        Effect.gen(function* () {
          const { pid } = houses[1]!.child
          process.kill(pid, "SIGSTOP")
          yield* Effect.sleep(seconds * 1000)
          process.kill(pid, "SIGCONT")
        }),
    })),
  )

/**
 * A Postgres of this test alone: others' would suffer with it. Unlike those it writes a commit before it acknowledges it
 * (synchronous_commit): else it forgets, where it goes down at once, what it has told a house is kept.
 */
export const ownPostgres = Effect.acquireRelease(
  Effect.promise(() => startPostgres({ fsync: "off", full_page_writes: "off" })),
  ({ stop }) => Effect.promise(stop),
)

export const restarting = (times: number) =>
  suffered(
    `G-23 ${times} times Postgres goes down at once and comes up again: nothing is lost, twice or stuck`,
    times,
    Effect.gen(function* () {
      const { restart, url } = yield* ownPostgres
      return { on: yield* clusterAt(url), fault: () => Effect.promise(restart) }
    }),
  )

/** Passes everything on until it is cut; then nobody hears anything, and nobody is told so. */
export const proxyTo = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const [all, nears] = [new Set<Socket>(), new Set<Socket>()]
      let [isCut, isSilent] = [false, false]
      const server = createServer((near) => {
        const far = connect(port, "127.0.0.1")
        nears.add(near)
        for (const [from, to] of [
          [near, far],
          [far, near],
        ] as const) {
          all.add(from)
          from.on("data", (chunk) => void (isCut ? undefined : to.write(chunk)))
          from.on("error", () => to.destroy())
          from.on("close", () => {
            all.delete(from)
            nears.delete(from)
            if (!isSilent) to.destroy()
          })
        }
      }).listen(0, "127.0.0.1")
      await new Promise((resolve) => server.once("listening", resolve))
      return {
        server,
        port: (server.address() as AddressInfo).port,
        cut: () => void (isCut = true),
        /** The house loses its connections, and the database is not told: their sessions live on. */
        lose: () => {
          isSilent = true
          for (const near of nears) near.destroy()
        },
        /** What was on its way is lost: those connections are over. */
        heal: () => {
          isCut = isSilent = false
          for (const socket of all) socket.destroy()
        },
      }
    }),
    ({ heal, server }) =>
      Effect.promise(async () => {
        heal()
        await new Promise((resolve) => server.close(resolve))
      }),
  )

export const cuttingOff = (times: number, seconds: number) =>
  suffered(
    `G-23 ${times} times one of two houses is cut off from its database for ${seconds} s: nothing is lost, twice or stuck`,
    times,
    Effect.gen(function* () {
      const { url } = yield* ownPostgres
      const proxy = yield* proxyTo(Number(new URL(url).port))
      yield* Effect.promise(() => askDatabase(url, "SELECT 1"))
      const second = new URL(url)
      second.port = String(proxy.port)
      return {
        on: yield* clusterAt(url),
        second: second.href,
        fault: () =>
          Effect.gen(function* () {
            proxy.cut()
            yield* Effect.sleep(seconds * 1000)
            proxy.heal()
          }),
      }
    }),
  )
