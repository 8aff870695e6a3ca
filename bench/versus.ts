/**
 * This checkout against another one, such as that of an earlier commit: both run at once, and each figure of calls and MCP
 * is taken in turn, round by round, so that a slow minute of the machine falls on both.
 * `npm run bench -- versus --base=FOLDER`, where `npm ci` was run in FOLDER; `--only=EXPRESSION` for the rows whose name matches it.
 */
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { startPostgres } from "../test/postgres.ts"
import { addAgent, ask } from "./kit/api.ts"
import { httpTool } from "./calls.ts"
import type { ApproveAnswer, ApproverQuestion, ManyAnswer } from "./children/approver.ts"
import type { LoadAnswer, LoadQuestion } from "./children/load.ts"
import type { Road, RoadsAnswer, RoadsQuestion } from "./children/roads.ts"
import { callOf, hello, listOf } from "./mcp/mcpMessages.ts"
import { middle, middleRange, number, quotients, spread, table } from "./kit/measure.ts"
import { installPeers, peers, startPeer } from "./kit/peers.ts"
import { type House, type HouseOptions, startChild, startHouse, temporaryFolder } from "./processes.ts"

/** Many short rounds: what the machine does besides lasts for seconds, and has to fall on both. */
const millis = 250
const warmMillis = 50
const decisions = 250
/** A figure takes more rounds, up to the most, while it may lie on either side of what is required. */
const required = 0.95
const rounds = { fewest: 31, most: 151 }
/** For those that take a while, such as some hundred decisions. */
const longRounds = { fewest: 13, most: 45 }
const stores = ["SQLite", "Postgres"] as const
type Store = (typeof stores)[number]

/** What a checkout starts by itself: its houses, and a house of its own within a child. */
type Tree = Pick<typeof import("./processes.ts"), "startHouse" | "startChild">

interface Figure {
  readonly name: string
  readonly unit: "a second" | "ms"
  /** One round of each of the two: figures by their names beneath the row's own. */
  readonly take: (tree: 0 | 1) => Promise<Readonly<Record<string, number>>>
  readonly rounds?: typeof rounds
}

const argument = (name: string): string | undefined =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)

const treesOf = async (): Promise<readonly [Tree, Tree]> => {
  const base = argument("base")
  if (base === undefined) throw new Error("Name the other checkout: npm run bench -- versus --base=FOLDER")
  const file = pathToFileURL(join(resolve(base), "bench", "processes.ts"))
  return [(await import(file.href)) as Tree, { startHouse, startChild }]
}

const both = <A>(of: (tree: 0 | 1) => Promise<A>): Promise<readonly [A, A]> => Promise.all([of(0), of(1)])

/** Each of them in turn; who begins takes turns too. */
const measure = async (figures: ReadonlyArray<Figure>): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const figure of figures.filter(({ name }) => new RegExp(argument("only") ?? "").test(name))) {
    const found: [Array<Readonly<Record<string, number>>>, Array<Readonly<Record<string, number>>>] = [[], []]
    const valuesOf = (part: string) => found.map((of) => of.map((one) => one[part]!)) as [Array<number>, Array<number>]
    // More is better: of delays, theirs over ours.
    const quotientsOf = (part: string) => {
      const [theirs, ours] = valuesOf(part)
      return figure.unit === "ms" ? quotients(theirs, ours) : quotients(ours, theirs)
    }
    const isClear = (part: string) => {
      const [least, most] = middleRange(quotientsOf(part))
      return least >= required || most < required
    }
    const { fewest, most } = figure.rounds ?? rounds
    // The first round is for warming up.
    for (let round = 0; round <= most; round++) {
      for (const tree of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const one = await figure.take(tree)
        if (round > 0) found[tree].push(one)
      }
      if (round >= fewest && Object.keys(found[1][0]!).every(isClear)) break
    }
    for (const part of Object.keys(found[1][0]!)) {
      const [theirs, ours] = valuesOf(part).map(spread) as [string, string]
      const of = quotientsOf(part)
      const [least, highest] = middleRange(of)
      const quotient = `${number(middle(of))} (${number(least)}..${number(highest)}) x`
      const row = [part === "" ? figure.name : `${figure.name}, ${part}`, figure.unit, theirs, ours]
      console.error(`${row.join("  ")}  ${quotient}  ${of.length} rounds`)
      rows.push([...row, quotient, String(of.length)])
    }
  }
  return rows
}

/** In the process of the house itself. */
const roadFigures = async (
  trees: readonly [Tree, Tree],
  folder: string,
  store: Store,
  urls?: readonly [string, string],
) => {
  const children = trees.map((tree) => tree.startChild("roads"))
  const tell = <A>(tree: 0 | 1, question: RoadsQuestion) => children[tree]!.ask<A>(question)
  await both(async (tree) => {
    const own = join(folder, `roads-${tree}`)
    mkdirSync(own)
    return tell(tree, { do: "open", folder: own, ...(urls === undefined ? {} : { database: urls[tree] }) })
  })
  const figures = (["governed", "floor"] satisfies ReadonlyArray<Road>).flatMap((road) =>
    [1, 16].map((callers): Figure => ({
      name: `${road === "floor" ? "one event" : "governed call"}, in process, ${callers} at once, ${store}`,
      unit: "a second",
      take: async (tree) => ({ "": (await tell<RoadsAnswer>(tree, { do: "drive", road, callers, millis })).perSecond }),
    })),
  )
  const close = async () => {
    await both((tree) => tell(tree, { do: "close" }))
    await Promise.all(children.map((child) => child.stop()))
  }
  return { figures, close }
}

/** Over the network: HTTP tools, answers, and MCP. */
const doorFigures = async (
  trees: readonly [Tree, Tree],
  folder: string,
  store: Store,
  urls?: readonly [string, string],
) => {
  const [load, approver, bare] = [startChild("load"), startChild("approver"), startChild("bare")]
  const headers = { "content-type": "application/json" }
  const { port: service } = await bare.ask<{ readonly port: number }>({ status: 200, headers, body: '{"ok":true}' })
  const { port: stub } = await approver.ask<{ readonly port: number }>({ do: "listen" })
  const official = await startPeer("server.mjs", "server")
  const started = async (name: string, config: object) =>
    both(async (tree) => {
      const options: HouseOptions = { config, ...(urls === undefined ? {} : { database: urls[tree] }) }
      const house: House = await trees[tree].startHouse(join(folder, `${name}-${tree}`), options)
      return { house, agent: await addAgent(house, "caller") }
    })
  const houses = await started("house", {
    egress: { allow: [service, stub, official.port].map((port) => `127.0.0.1:${port}`) },
    tools: [hello, httpTool("look", service, {}), httpTool("careful", stub, { requiresApproval: true })],
  })
  for (const { house } of houses) {
    const program = { command: process.execPath, args: [`${peers}stdioServer.mjs`] }
    await ask(house, "POST", "/mcp-servers", { name: "stdio", ...program })
    await ask(house, "POST", "/mcp-servers", { name: "http", url: `http://127.0.0.1:${official.port}/mcp` })
  }
  // A list is as long as the library: a house of its own.
  const names = Array.from({ length: 999 }, (_, index) => `tool-${String(index).padStart(4, "0")}`)
  const many =
    store === "SQLite" ? await started("library", { tools: names.map((name) => ({ ...hello, name })) }) : undefined
  const sent = async (to: { readonly house: House; readonly agent: string }, what: Partial<LoadQuestion>) => {
    const question = { port: to.house.port, token: to.agent, warmMillis, millis, ...what } as LoadQuestion
    const answer = await load.ask<LoadAnswer>(question)
    if (answer.refused > 0) throw new Error(`${answer.refused} went wrong, such as ${answer.fault}`)
    return { "": answer.perSecond }
  }
  const look = {
    method: "POST",
    path: "/api/v1/tools/look/call",
    body: '{"input":{"n":"x"}}',
    expect: '"state":"done"',
  }
  const rate = (name: string, take: Figure["take"]): Figure => ({ name: `${name}, ${store}`, unit: "a second", take })
  const decide = <A>(tree: 0 | 1, question: { readonly do: "approve" | "many"; readonly count: number }) => {
    const { agent, house } = houses[tree]
    const where = { port: house.port, agent, admin: house.token, tool: "careful", callers: 16 }
    return approver.ask<A>({ ...where, ...question } satisfies ApproverQuestion)
  }
  const eras = ["2025-11-25", "2026-07-28"] as const
  const figures: ReadonlyArray<Figure> = [
    ...[1, 16].map((connections) =>
      rate(`http tool, ${connections} at once`, (tree) => sent(houses[tree], { ...look, connections })),
    ),
    ...eras.flatMap((era) =>
      [1, 16].map((connections) =>
        rate(`tools/call ${era}, ${connections} at once`, (tree) =>
          sent(houses[tree], { ...callOf(era, "hello"), expect: '"ok":true', connections }),
        ),
      ),
    ),
    ...["stdio", "http"].map((way) =>
      rate(`tools/call through the house to a ${way} server, 1 at once`, (tree) =>
        sent(houses[tree], { ...callOf("2025-11-25", `${way}__hello`), expect: '"ok":true', connections: 1 }),
      ),
    ),
    ...(many === undefined ? [] : eras).map((era) =>
      rate(`tools/list of 1,000, ${era}, 4 at once`, (tree) =>
        sent(many![tree], { ...listOf(era), expect: '"jsonrpc"', connections: 4 }),
      ),
    ),
    {
      name: `answer sent, p50, ${store}`,
      unit: "ms",
      take: async (tree) => {
        const { acknowledged, executed } = await decide<ApproveAnswer>(tree, { do: "approve", count: 20 })
        return { "to acknowledged": acknowledged.p50, "to service called": executed.p50 }
      },
    },
    {
      name: `${decisions} decisions, ${store}`,
      unit: "ms",
      rounds: longRounds,
      take: async (tree) => {
        const { answered, asked, executed, listed } = await decide<ManyAnswer>(tree, { do: "many", count: decisions })
        return { asked, listed, answered, executed }
      },
    },
  ]
  const close = async () => {
    await Promise.all([...houses, ...(many ?? [])].map(({ house }) => house.stop()))
    await Promise.all([load.stop(), approver.stop(), bare.stop(), official.stop()])
  }
  return { figures, close }
}

export const versus = async (): Promise<string> => {
  const trees = await treesOf()
  installPeers()
  const folder = temporaryFolder()
  const rows: Array<ReadonlyArray<string>> = []
  for (const store of stores.filter((one) => argument("store") === undefined || one === argument("store")))
    for (const make of [roadFigures, doorFigures]) {
      const where = join(folder, `${make.name}-${store}`)
      mkdirSync(where)
      const databases = store === "SQLite" ? [] : [await startPostgres({}), await startPostgres({})]
      const urls = databases.map(({ url }) => url)
      const { close, figures } = await make(trees, where, store, urls.length === 0 ? undefined : [urls[0]!, urls[1]!])
      rows.push(...(await measure(figures)))
      await close()
      await Promise.all(databases.map((database) => database.stop()))
    }
  return [
    `This checkout against another one (--base), in turn, in rounds of ${millis / 1000} s or ${decisions} decisions. The quotient is of rates, or of delays the other way round, so more is better: the middle of all rounds, and in brackets where that middle lies with 95 % certainty. A figure takes rounds until all of that is on one side of ${required}, at most ${rounds.most} (decisions: ${longRounds.most}). Required: none below ${required} x.`,
    "",
    table(["figure", "in", "base", "ours", "ours to base", "rounds"], rows),
  ].join("\n")
}
