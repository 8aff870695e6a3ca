/** What the suites of runs stand on: a house with a scripted model, agents that think with it, and looks at their runs. */
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/access/identity/Agents.ts"
import { Dispatch } from "../../src/runs/working/Dispatch.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house, type HouseOptions, roomy } from "../house.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"

export const stores = ["sqlite", "postgres"] as const

const models = { demo: { provider: "scripted", rules: "rules.json", price: { in: 1, out: 10 } } }
export const config = { ...roomy, models, egress: { allow: ["127.0.0.1"] } }
export const runsHouse = (options: HouseOptions) => house({ config, ...options })

/** The rules of the house's model, from now on. */
export const setRules = Effect.fnUntraced(function* (rules: ReadonlyArray<object>) {
  const { configFile } = yield* Guest
  writeFileSync(join(dirname(configFile), "rules.json"), JSON.stringify({ rules }))
})

/** An agent that thinks with the scripted model. */
export const thinker = Effect.fnUntraced(function* (
  more: {
    readonly name?: string
    readonly toolsets?: ReadonlyArray<"stoa" | "office" | "gateway" | "team">
    readonly limits?: object
    readonly persona?: string
  } = {},
) {
  const { admin } = yield* Guest
  const bot = yield* someone("agent", more.name)
  if (more.toolsets !== undefined) yield* ask(() => admin.principals.change(bot.id, { toolsets: more.toolsets! }))
  const { transact } = yield* Journal
  const { limits = {}, persona = null } = more
  yield* Effect.orDie(transact((yield* Agents).change(bot.id, { model: "demo", limits, persona })))
  return bot
})

/** A space of these kinds; the first of them opens it. */
export const room = Effect.fnUntraced(function* (
  kind: "public" | "private" | "dm",
  ...members: ReadonlyArray<{ readonly id: string }>
) {
  const { admin } = yield* Guest
  return yield* ask(() => admin.spaces.add({ name: fresh("room"), kind, members: members.map(({ id }) => id) }))
})

/** A DM between two. */
export const dm = Effect.fnUntraced(function* (
  one: { readonly client: import("@stoa/sdk").Stoa },
  other: { readonly id: string },
) {
  return yield* ask(() => one.client.spaces.add({ name: fresh("dm"), kind: "dm", members: [other.id] }))
})

/** Looks whenever something was committed, until there is something to see. */
export const until = Effect.fnUntraced(function* <A, E, R>(look: Effect.Effect<A | undefined, E, R>) {
  const { bell } = yield* Journal
  for (;;) {
    const heard = bell.rung
    const seen = yield* look
    if (seen !== undefined) return seen
    // What is looked for need not come with an event: frames arrive a moment after it.
    yield* Effect.timeoutOption(bell.waitPast(heard), 50)
  }
})

export interface Row {
  readonly id: string
  readonly agent: string
  readonly state: string
  readonly stop: string | null
  readonly failure: string | null
  readonly step: number
  readonly chainDepth: number
  readonly triggerMessage: string | null
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export const runsOf = Effect.fnUntraced(function* (agent: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Row>`SELECT * FROM runs WHERE agent = ${agent.id} ORDER BY id`
})

const over = ["completed", "failed", "canceled"]

/** So many runs of an agent, once they have ended. */
export const ended = (agent: { readonly id: string }, count = 1) =>
  until(
    Effect.map(runsOf(agent), (rows) => {
      const done = rows.filter(({ state }) => over.includes(state))
      return done.length >= count ? done : undefined
    }),
  )

/** A run of an agent that is in a state. */
export const inState = (agent: { readonly id: string }, state: string) =>
  until(Effect.map(runsOf(agent), (rows) => rows.find((row) => row.state === state)))

/** The house works on nothing, and has nothing to claim. */
export const settled = Effect.gen(function* () {
  const { working } = yield* Dispatch
  const sql = yield* SqlClient.SqlClient
  yield* until(Effect.sync(() => (working() === 0 ? true : undefined)))
  yield* until(
    Effect.map(sql`SELECT id FROM runs WHERE state = 'queued'`, (rows) => (rows.length === 0 ? true : undefined)),
  )
})
