/**
 * Makes the demo through the rooms' own services: most of it in one transaction, then the tools and the server that it
 * starts.
 */
import { fileURLToPath } from "node:url"
import { type AgentLimits, NewPrincipal, type PrincipalId, type SpaceId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { Principals } from "../access/identity/Principals.ts"
import { houseViewer } from "../access/rights/Viewer.ts"
import { Tools } from "../calls/catalogue/Tools.ts"
import { Memories } from "../memory/Memories.ts"
import { Languages } from "../models/Languages.ts"
import { Triggers } from "../runs/waking/Triggers.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { Journal } from "../store/journal/Journal.ts"
import { Servers } from "../servers/Servers.ts"
import * as office from "./declarations.ts"
import { makeRows } from "./rows.ts"

// In this form, so that a built package uses its own copies.
const rules = fileURLToPath(new URL("./rules.json", import.meta.url))
const town = fileURLToPath(new URL("./town.ts", import.meta.url))

/** All agents share the budget equally. */
export const limitsWithin = (budget: number): AgentLimits => ({
  ...office.agents[0]!.limits,
  perDay: { cost: budget / office.agents.length, tokens: office.tokensPerDay },
})

/** US dollars a day, by default. */
const usualBudget = 1

export const makeSetup = Effect.gen(function* () {
  const journal = yield* Journal
  const rows = yield* makeRows
  const principals = yield* Principals
  const agents = yield* Agents
  const languages = yield* Languages
  const spaces = yield* Spaces
  const memories = yield* Memories
  const tools = yield* Tools
  const triggers = yield* Triggers
  const servers = yield* Servers

  const script = { provider: "scripted" as const, rules }

  const makeAgents = Effect.fnUntraced(function* () {
    const made = new Map<string, PrincipalId>()
    for (const { name, persona, toolsets } of office.agents) {
      const { id } = yield* principals.add(NewPrincipal.make({ kind: "agent", name, toolsets }))
      yield* agents.change(id, { persona, model: office.scriptedModel, limits: limitsWithin(usualBudget) })
      yield* rows.part("agent", id, name)
      made.set(name, id)
    }
    return made
  })

  const makeSpaces = Effect.fnUntraced(function* () {
    const admin = yield* principals.get("admin")
    const viewer = houseViewer(admin)
    const made: Array<SpaceId> = []
    const between = office.talkers.map((name) => ({
      name: `with-${name}`,
      kind: "dm" as const,
      members: [admin.id, name],
    }))
    for (const wanted of [...office.spaces, ...between]) {
      const space = yield* spaces.add(wanted, viewer)
      yield* rows.part("space", space.id, space.name)
      made.push(space.id)
    }
    return made[0]!
  })

  /** False: another process was first. */
  const claimed = Effect.gen(function* () {
    const madeAt = DateTime.formatIso(yield* DateTime.now)
    // Claimed before anything is made: if two processes start at once, one makes it.
    if (!(yield* rows.claim({ madeAt, model: office.scriptedModel, budgetMicros: usualBudget * 1e6 }))) return false
    yield* languages.put(office.scriptedModel, script)
    yield* rows.part("model", office.scriptedModel, office.scriptedModel)
    const made = yield* makeAgents()
    yield* rows.setSpace(yield* makeSpaces())
    for (const { agent, content, key } of office.memories) {
      const owner = made.get(agent)!
      yield* memories.put({ id: owner }, owner, { kind: "note", key, content })
    }
    // Only listed now and made below: schemas are compiled and a program is started outside the transaction.
    for (const { name } of office.tools) yield* rows.part("tool", name, name, false)
    yield* rows.part("server", office.serverName, office.serverName, false)
    yield* journal.append({ kind: "demo.changed", body: { state: "on", step: null } })
    return true
  })

  const make = Effect.suspend(() => journal.transact(claimed)).pipe(Effect.withSpan("Demo.make"))

  const server = {
    name: office.serverName,
    command: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", town],
  }

  /** Starts greeter, once: its trigger has a key. */
  const begin = Effect.gen(function* () {
    const row = yield* rows.get
    const admin = yield* principals.get("admin")
    if (row?.state === "on")
      yield* triggers.start(
        "greeter",
        { text: office.opening, space: row.space, key: "demo", run: undefined },
        houseViewer(admin),
      )
  })

  /**
   * Makes what is missing: after the rest, or at the next start if this one was interrupted. The server comes last,
   * with the opening.
   */
  const finish = Effect.gen(function* () {
    const waiting = (yield* rows.parts).filter(({ done }) => done === 0)
    for (const tool of office.tools) {
      if (!waiting.some(({ kind, ref }) => kind === "tool" && ref === tool.name)) continue
      // It was made before the house stopped, but not marked as done.
      yield* Effect.catchTag(tools.add(tool), "NameTaken", () => Effect.void)
      yield* rows.partDone("tool", tool.name)
    }
    if (!waiting.some(({ kind }) => kind === "server")) return
    yield* Effect.catchTag(Effect.asVoid(servers.add(server)), "NameTaken", () => Effect.void)
    yield* begin
    yield* rows.partDone("server", office.serverName)
  }).pipe(Effect.withSpan("Demo.finish"))

  /** The program may have moved since the demo was made. */
  const renew = journal.transact(Effect.ignore(languages.put(office.scriptedModel, script)))

  return { make, finish, renew }
})
