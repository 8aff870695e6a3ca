/** What the suites of teams stand on: a house whose agents are stand-ins for command-line programs. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { ask, Guest, house, type HouseOptions, roomy } from "../house.ts"
import { dm } from "../runs/runsKit.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { fresh, someone, type Someone } from "../spaces/spacesGuests.ts"

const standIn = fileURLToPath(new URL("./standIn.mjs", import.meta.url))

export const teamHouse = (options: HouseOptions) =>
  house({ config: roomy, ...options, env: { STOA_PROGRAMS: "unisolated", ...options.env } })

export interface Rule {
  readonly when?: { readonly agent?: string; readonly text?: string }
  readonly call?: ReadonlyArray<{ readonly tool: string; readonly input?: object }>
  readonly say?: string
  /** Says it before it calls anything. */
  readonly first?: true
  readonly list?: true
  readonly hang?: true
  readonly child?: true
  readonly leak?: true
  /** A file in its workspace. */
  readonly write?: string
  readonly print?: number
  readonly fail?: string
}

const rulesFile = Effect.map(Guest, ({ configFile }) => join(dirname(configFile), "program.json"))

/** What every stand-in of the house does from now on. */
export const setProgram = Effect.fnUntraced(function* (rules: ReadonlyArray<Rule>) {
  writeFileSync(yield* rulesFile, JSON.stringify({ rules }))
})

interface Entry {
  readonly agent: string
  readonly turn?: string
  readonly env?: ReadonlyArray<string>
  readonly cwd?: string
  readonly pid?: number
  readonly child?: number
  readonly tools?: ReadonlyArray<string>
  readonly tool?: string
  readonly ms?: number
  readonly fault?: string
  readonly code?: number
  readonly hangs?: true
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent?: Readonly<Record<string, unknown>>
    readonly content: ReadonlyArray<{ readonly text: string }>
  }
}

/** What the stand-ins of an agent have seen and done. */
export const logOf = Effect.fnUntraced(function* (agent: { readonly name: string }) {
  const file = `${yield* rulesFile}.log`
  if (!existsSync(file)) return []
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Entry)
    .filter((entry) => entry.agent === agent.name)
})

export const turnsOf = (agent: { readonly name: string }) =>
  Effect.map(logOf(agent), (log) => log.flatMap(({ turn }) => (turn === undefined ? [] : [turn])))

/** What a tool gave an agent, in the order of its calls. */
export const answersOf = (agent: { readonly name: string }, tool: string) =>
  Effect.map(logOf(agent), (log) =>
    log
      .filter((entry) => entry.tool === tool)
      .map(({ fault, result }) =>
        fault === undefined ? (JSON.parse(result!.content[0]!.text) as Readonly<Record<string, unknown>>) : { fault },
      ),
  )

const standInBy = (file: string) => ({
  kind: "program" as const,
  program: "command" as const,
  command: [process.execPath, standIn, file],
})
const thinkerOf = Effect.map(rulesFile, standInBy)

/** The configuration of a lead with one worker, for a house in a process of its own: both do what the file says. */
export const leadAndWorker = (rules: string) => {
  const thinker = standInBy(rules)
  return {
    ...roomy,
    agents: [
      { name: "lead", toolsets: ["team"], thinker },
      { name: "worker", toolsets: ["team"], thinker, parent: "lead" },
    ],
  }
}

/** An agent whose program is the stand-in. */
export const programmed = Effect.fnUntraced(function* (
  more: {
    readonly name?: string
    readonly toolsets?: ReadonlyArray<"stoa" | "office" | "gateway" | "team">
    readonly parent?: string
    readonly thinker?: object
    readonly limits?: object
  } = {},
) {
  const { admin } = yield* Guest
  const bot = yield* someone("agent", more.name ?? fresh("agent"))
  yield* ask(() => admin.principals.change(bot.id, { toolsets: more.toolsets ?? ["stoa"] }))
  const thinker = { ...(yield* thinkerOf), ...more.thinker }
  yield* ask(() =>
    admin.agents.change(bot.id, {
      thinker,
      ...(more.parent === undefined ? {} : { parent: more.parent }),
      ...(more.limits === undefined ? {} : { limits: more.limits }),
    }),
  )
  return bot
})

/** A person, a lead whom they can tell something, and its workers. */
export const crew = Effect.fnUntraced(function* (workers: number) {
  const ada = yield* someone()
  const lead = yield* programmed({ name: fresh("lead"), toolsets: ["team"] })
  const team = yield* Effect.forEach(Array.from({ length: workers }), () =>
    programmed({ name: fresh("worker"), toolsets: ["team"], parent: lead.name }),
  )
  const space = yield* dm(ada, lead)
  const say = (text: string) => ask(() => ada.client.spaces.post(space.id, { text }))
  const heard = Effect.map(
    ask(() => ada.client.spaces.messages(space.id)),
    ({ items }) => items.map(({ text }) => text),
  )
  return { ada, lead, team, space, say, heard }
})

export type Json = Readonly<Record<string, unknown>>

/** An agent that the house does not start: an outside program with a token of its own. */
export const outside = Effect.fnUntraced(function* (parent?: Someone, name?: string) {
  const { admin } = yield* Guest
  const bot = yield* someone("agent", name ?? fresh("agent"))
  yield* ask(() => admin.principals.change(bot.id, { toolsets: ["team"] }))
  if (parent !== undefined) yield* ask(() => admin.agents.change(bot.id, { parent: parent.id }))
  return bot
})

export const use = Effect.fnUntraced(function* (who: Someone, tool: string, input: Json = {}) {
  const call = (yield* ask(() => who.client.tools.call(tool, { input: input as never }))) as unknown as {
    readonly output?: Json
    readonly error?: Json
  }
  return call.output ?? call.error!
})
export const failure = (who: Someone, tool: string, input: Json) =>
  Effect.map(use(who, tool, input), ({ message }) => String(message))

export const inbox = Effect.fnUntraced(function* (who: Someone, filter: Json = {}) {
  yield* (yield* Readers).receipt("runs")
  const { messages } = yield* use(who, "check_inbox", filter)
  return messages as ReadonlyArray<Readonly<Record<string, string>>>
})

/** A root, two children, and a grandchild of the first. */
export const family = Effect.gen(function* () {
  const root = yield* outside()
  const [one, two, three] = [yield* outside(root), yield* outside(root), yield* outside(root)]
  const kid = yield* outside(one)
  return { root, one, two, three, kid }
})
