/**
 * MCP: a governed `tools/call` (token, allow list, validation, synced record) against handlers that do none of it; calls
 * through the house to a server behind it against calling that server; a list of 1,000 tools; and forgotten sessions.
 */
import { join } from "node:path"
import { startPostgres } from "../../test/postgres.ts"
import { addAgent } from "../kit/api.ts"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import { lists } from "./mcpLists.ts"
import { callOf, type Era, hello, openSession } from "./mcpMessages.ts"
import { proxied } from "./mcpProxied.ts"
import { sessions } from "./mcpSessions.ts"
import { middle, ratio, spread, table } from "../kit/measure.ts"
import { installPeers, type Peer, startPeer } from "../kit/peers.ts"
import { type Child, type House, processorSeconds, startChild, startHouse, temporaryFolder } from "../processes.ts"

const rounds = 3
const firstMillis = 5000
const warmMillis = 300
const millis = 1000

interface Target {
  readonly name: string
  readonly kind: "ours" | "raw" | "official" | "other"
  /** Keeps a session, and with it a server object: others make one a request. */
  readonly kept?: boolean
  readonly pid: number
  readonly ask: Pick<LoadQuestion, "port" | "token" | "method" | "path" | "body" | "headers">
}

const oursOf = async (house: House, where: string): Promise<ReadonlyArray<Target>> => {
  const token = await addAgent(house, "caller")
  return (["2025-11-25", "2026-07-28"] as const).map((era) => ({
    name: `Stoa${where}, ${era}`,
    kind: "ours",
    pid: house.pid,
    ask: { port: house.port, token, ...callOf(era, "hello") },
  }))
}

const peerTargets = async () => {
  const started = await Promise.all(
    (["raw", "server", "server-low", "server-sessions", "sdk", "sdk-sessions", "fastmcp"] as const).map(
      async (kind) => [kind, await startPeer("server.mjs", kind)] as const,
    ),
  )
  const byKind = Object.fromEntries(started) as Record<(typeof started)[number][0], Peer>
  const of = (name: string, kind: Target["kind"], which: keyof typeof byKind, era: Era, session?: string): Target => ({
    name,
    kind,
    kept: session !== undefined,
    pid: byKind[which].pid,
    ask: { port: byKind[which].port, token: "none", ...callOf(era, "hello", session) },
  })
  const targets = [
    of("raw node:http handler", "raw", "raw", "2025-11-25"),
    of("server 2.4, 2025-11-25", "official", "server", "2025-11-25"),
    of("server 2.4, 2026-07-28", "official", "server", "2026-07-28"),
    of("server 2.4 low level, 2026-07-28", "official", "server-low", "2026-07-28"),
    of(
      "server 2.4, kept session",
      "official",
      "server-sessions",
      "2025-11-25",
      await openSession(byKind["server-sessions"].port),
    ),
    of("sdk 1.32, 2025-11-25", "official", "sdk", "2025-11-25"),
    of(
      "sdk 1.32, kept session",
      "official",
      "sdk-sessions",
      "2025-11-25",
      await openSession(byKind["sdk-sessions"].port),
    ),
    of("fastmcp 4.20, 2025-11-25", "other", "fastmcp", "2025-11-25"),
  ]
  const stop = async () => void (await Promise.all(started.map(([, peer]) => peer.stop())))
  return { targets, stop }
}

/** Each target in turn, and again: a slow minute falls on all of them. */
const measure = async (load: Child, targets: ReadonlyArray<Target>, connections: number) => {
  const found = new Map<Target, Array<LoadAnswer & { readonly processor: number }>>(
    targets.map((target) => [target, []]),
  )
  for (let round = 0; round < rounds; round++)
    for (const target of targets) {
      const question: LoadQuestion = { ...target.ask, connections, expect: '"ok":true', warmMillis, millis }
      const before = processorSeconds(target.pid)
      const answer = await load.ask<LoadAnswer>(question)
      if (answer.refused > 0) throw new Error(`${target.name}: ${answer.refused} went wrong, such as ${answer.fault}`)
      const processor = ((processorSeconds(target.pid) - before) / answer.sent) * 1e6
      found.get(target)!.push({ ...answer, processor })
    }
  return found
}
type Found = Awaited<ReturnType<typeof measure>>

/** The rates of the fastest of several, round by round: fastest by its median, not by whichever had the luckiest second. */
const best = (found: Found, fits: (target: Target) => boolean): ReadonlyArray<number> => {
  const rates = [...found].flatMap(([target, answers]) => (fits(target) ? [answers.map((one) => one.perSecond)] : []))
  return rates.reduce((a, b) => (middle(b) > middle(a) ? b : a))
}

const rowsOf = (found: Found): ReadonlyArray<ReadonlyArray<string>> => {
  const raw = best(found, ({ kind }) => kind === "raw")
  const official = best(found, ({ kind, kept }) => kind === "official" && kept !== true)
  return [...found].map(([{ name }, answers]) => {
    const rates = answers.map((one) => one.perSecond)
    return [
      name,
      spread(rates),
      spread(answers.map((one) => one.p50)),
      spread(answers.map((one) => one.p99)),
      spread(answers.map((one) => one.processor)),
      ratio(rates, official),
      ratio(rates, raw),
    ]
  })
}

const verdicts = (found: Found): ReadonlyArray<string> => {
  const raw = best(found, ({ kind }) => kind === "raw")
  const official = best(found, ({ kind, kept }) => kind === "official" && kept !== true)
  const any = best(found, ({ kind }) => kind === "official")
  return [...found].flatMap(([target, answers]) => {
    if (target.kind !== "ours") return []
    const rates = answers.map((one) => one.perSecond)
    return `- ${target.name}: ${ratio(rates, official)} the faster official server without sessions, ${ratio(rates, any)} the fastest with or without, ${ratio(rates, raw)} the raw handler`
  })
}

const governed = async (folder: string): Promise<ReadonlyArray<string>> => {
  const config = { tools: [hello] }
  const postgres = await startPostgres({})
  const houses = [
    await startHouse(join(folder, "house"), { config }),
    await startHouse(join(folder, "on-postgres"), { config, database: postgres.url }),
  ]
  const peers = await peerTargets()
  const load = startChild("load")
  const targets = [...(await oursOf(houses[0]!, "")), ...(await oursOf(houses[1]!, " on Postgres")), ...peers.targets]
  // Nobody is measured while its code is still being compiled.
  for (const { ask } of targets)
    await load.ask({ ...ask, connections: 16, expect: '"ok":true', warmMillis: 0, millis: firstMillis })
  const many = await measure(load, targets, 16)
  const one = await measure(load, targets, 1)
  await Promise.all([load.stop(), peers.stop(), ...houses.map((house) => house.stop())])
  await postgres.stop()
  const head = ["server", "calls/s", "p50 ms", "p99 ms", "processor us", "to official", "to raw"]
  return [
    `\`tools/call\` of a tool that does nothing, ${rounds} rounds of ${millis / 1000} s each in turn, after ${firstMillis / 1000} s for each to warm up. Stoa checks the token, the allow lists, the policies and the arguments, and answers when the call's record is on disk; the peers check the arguments (the low-level one and the raw handler not even these). "Official" is the faster of server 2.4 and sdk 1.32 that keeps no session.`,
    "",
    "16 connections (required: 3 x official; aim: 5 x official and half of raw):",
    "",
    ...verdicts(many),
    "",
    table(head, rowsOf(many)),
    "",
    "1 connection:",
    "",
    table(head, rowsOf(one)),
  ]
}

export const mcp = async (): Promise<string> => {
  installPeers()
  const folder = temporaryFolder()
  const parts = [governed, proxied, lists, sessions]
  const found: Array<string> = []
  for (const part of parts) found.push((await part(folder)).join("\n"))
  return found.join("\n\n")
}
