/**
 * Teams of programs: how soon after a reply the waiting agent's next turn begins, how many turns a second a program that does
 * nothing takes, what a thousand idle agents cost, and the same job with one slot and with four.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect, type Stoa } from "@stoa/sdk"
import { delaysOf, number, spread, table } from "./kit/measure.ts"
import { type House, processorSeconds, sleep, startHouse, temporaryFolder } from "./processes.ts"

const rounds = 3
const replies = 40
const turns = 100
const idleAgents = 1000
const idleSeconds = 10
const jobs = 12

const client = ({ port, token }: House): Stoa => connect({ url: `http://127.0.0.1:${port}`, token })

/** A house whose agents' programs run beside it: what is measured is the house, not the box. */
const teamHouse = (name: string, slots: number) =>
  startHouse(join(temporaryFolder(), name), {
    env: { STOA_PROGRAMS: "unisolated", STOA_SLOTS: String(slots), STOA_TEAM_WIDTH: "2000", STOA_TEAM_AGENTS: "5000" },
  })

const program = (...command: ReadonlyArray<string>) => ({ kind: "program", program: "command", command }) as const

const agent = async (house: Stoa, name: string, change: Parameters<Stoa["agents"]["change"]>[1]) => {
  const made = await house.principals.add({ kind: "agent", name, toolsets: ["team"] })
  await house.agents.change(made.id, change)
  return made
}

const until = async (so: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await so())) await sleep(5)
}

/** The lead asks, an outside program answers, and the lead's next turn says when it began. */
const replyToTurn = async (house: House, folder: string): Promise<ReadonlyArray<number>> => {
  const stoa = client(house)
  const [stamps, ask] = [join(folder, "stamps"), join(folder, "ask.mjs")]
  writeFileSync(
    ask,
    `const { STOA_TOKEN, STOA_URL } = process.env
const headers = { authorization: "Bearer " + STOA_TOKEN, "content-type": "application/json" }
const body = JSON.stringify({ input: { recipient: "answers", text: "How?" } })
await fetch(STOA_URL + "/api/v1/tools/send_message/call", { method: "POST", headers, body })`,
  )
  // A shell that writes the time at once: what comes before it is the house's, and the start of a process.
  const script = `case "$(cat)" in "Reply from"*) date +%s%N >> ${stamps};; *) ${process.execPath} ${ask};; esac`
  const lead = await agent(stoa, "asks", { thinker: program("/bin/sh", "-c", script) })
  const other = await agent(stoa, "answers", { parent: lead.id })
  const { token } = await stoa.tokens.add({ principal: other.id })
  const outside = connect({ url: `http://127.0.0.1:${house.port}`, token })
  const millis: Array<number> = []
  const seen = () => (existsSync(stamps) ? readFileSync(stamps, "utf8").trim().split("\n") : [])
  for (let done = 0; done < replies; done++) {
    await stoa.agents.trigger(lead.id, { text: "go" })
    await until(async () => (await stoa.runs.list({ agent: lead.id, state: "waiting_reply" })).items.length === 1)
    const began = performance.timeOrigin + performance.now()
    await outside.tools.call("send_message", { input: { recipient: "asks", text: "So." } })
    await until(() => seen().length > done)
    millis.push(Number(seen()[done]) / 1e6 - began)
    await until(
      async () => (await stoa.runs.list({ agent: lead.id, state: "completed" })).items.length > Math.min(done, 49),
    )
  }
  return millis
}

const noOp = async (house: House, round: number): Promise<number> => {
  const stoa = client(house)
  const bots = await Promise.all(
    Array.from({ length: turns }, (_, at) => agent(stoa, `noop-${round}-${at}`, { thinker: program("/bin/true") })),
  )
  const began = performance.now()
  await Promise.all(bots.map(({ id }) => stoa.agents.trigger(id, { text: "go" })))
  await until(async () => (await stoa.runs.list({ state: "queued", limit: 1 })).items.length === 0)
  await until(async () => (await stoa.runs.list({ state: "running", limit: 1 })).items.length === 0)
  return turns / ((performance.now() - began) / 1000)
}

const resident = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
const writes = (pid: number): number =>
  Number(/^syscw: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN)

const atRest = async (pid: number) => {
  await sleep(3000)
  const [cpu, calls] = [processorSeconds(pid), writes(pid)]
  await sleep(idleSeconds * 1000)
  return {
    memory: resident(pid),
    cpu: ((processorSeconds(pid) - cpu) / idleSeconds) * 100,
    writes: (writes(pid) - calls) / idleSeconds,
  }
}

const idleTree = async () => {
  const house = await teamHouse("idle", 4)
  const stoa = client(house)
  const without = await atRest(house.pid)
  const ids: Array<string> = []
  // Ten under each: a tree of about three storeys.
  for (let at = 0; at < idleAgents; at++) {
    const parent = at === 0 ? null : ids[Math.floor((at - 1) / 10)]!
    ids.push((await agent(stoa, `idle-${at}`, { thinker: program("/bin/true"), parent })).id)
  }
  const began = performance.now()
  const seen = (await stoa.agents.tree()).items.length
  const look = performance.now() - began
  const with1000 = await atRest(house.pid)
  await house.stop()
  return { without, with1000, look, seen }
}

/** Twelve agents whose turn takes half a second each. */
const job = async (slots: number): Promise<number> => {
  const house = await teamHouse(`job-${slots}`, slots)
  const stoa = client(house)
  const bots = await Promise.all(
    Array.from({ length: jobs }, (_, at) => agent(stoa, `job-${at}`, { thinker: program("/bin/sleep", "0.5") })),
  )
  const began = performance.now()
  await Promise.all(bots.map(({ id }) => stoa.agents.trigger(id, { text: "go" })))
  await until(async () => (await stoa.runs.list({ state: "completed", limit: 100 })).items.length === jobs)
  const took = (performance.now() - began) / 1000
  await house.stop()
  return took
}

export const team = async (): Promise<string> => {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  const house = await teamHouse("turns", 4)
  const { p50, p99 } = delaysOf(await replyToTurn(house, folder))
  const rates: Array<number> = []
  for (let round = 0; round < rounds; round++) rates.push(await noOp(house, round))
  await house.stop()
  const { look, seen, with1000, without } = await idleTree()
  const [one, four] = [await job(1), await job(4)]
  const rest = ({ cpu, memory, writes: calls }: typeof without): ReadonlyArray<string> => [
    number(memory),
    `${number(cpu)} %`,
    number(calls),
  ]
  return [
    `From a reply to the first word of the waiting agent's next turn, ${replies} times: p50 ${number(p50)} ms, p99 ${number(p99)} ms.`,
    `Turns of a program that does nothing (/bin/true, four slots): ${spread(rates)} a second.`,
    "",
    table(
      ["at rest", "resident MB", "processor", "writes a second"],
      [
        ["no agents", ...rest(without)],
        [`${seen} agents in a tree`, ...rest(with1000)],
      ],
    ),
    "",
    `Showing that tree takes ${number(look)} ms. ${jobs} agents with half a second of work each: ${number(one)} s with one slot, ${number(four)} s with four.`,
  ].join("\n")
}
