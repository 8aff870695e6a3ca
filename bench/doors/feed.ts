/**
 * The feed: steps of a rising rate until one of 1,000 subscribers loses an event, is told to reload, or hears of it late.
 * Events are made over HTTP by another process, so that the house does all the work a real one would.
 */
import { join } from "node:path"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import type { SubscribersAnswer } from "../children/subscribers.ts"
import { number, spread, table } from "../kit/measure.ts"
import { type Child, processorSeconds, sleep, startChild, startHouse, temporaryFolder } from "../processes.ts"

const count = 1000
const rates = [25, 50, 100, 200, 400, 800, 1200]
const aim = 100
const rounds = 3
const millis = 2000
/** Later than this is no longer live, though nothing is lost. The same for the answer to whoever made the event. */
const lateMillis = 1000
/** As long as the house gathers with so many subscribers. */
const gatherMillis = 50

interface Step {
  readonly rate: number
  readonly kept: boolean
  readonly why: string
  readonly p50: number
  readonly p99: number
  readonly longest: number
  readonly processor: number
}

/** Most of its tries lost nothing. */
const isKept = (tries: ReadonlyArray<Step>): boolean => tries.filter((step) => step.kept).length > tries.length / 2

interface Side {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly token: string
  readonly subscribers: Child
  readonly steps: Array<Array<Step>>
}

const stepOf = async (side: Side, load: Child, rate: number): Promise<Step> => {
  const { subscribers } = side
  await subscribers.ask({ do: "reset" })
  const before = processorSeconds(side.pid)
  const started = performance.now()
  const question: LoadQuestion = {
    port: side.port,
    connections: 64,
    method: "PUT",
    path: "/api/v1/secrets/bench",
    token: side.token,
    body: '{"value":"a secret of some length"}',
    warmMillis: 0,
    millis,
    pace: rate,
  }
  const made = await load.ask<LoadAnswer>(question)
  const processor = (processorSeconds(side.pid) - before) / ((performance.now() - started) / 1000)
  let answer = await subscribers.ask<SubscribersAnswer>({ do: "report" })
  for (let waited = 0; waited < 2000 && answer.fewest < made.answered; waited += 100) {
    await sleep(100)
    answer = await subscribers.ask<SubscribersAnswer>({ do: "report" })
  }
  const why = [
    made.refused > 0 ? `${made.refused} writes refused` : "",
    made.p99 > lateMillis || made.perSecond < rate * 0.8 ? `only ${number(made.perSecond)} events/s made` : "",
    answer.fewest < made.answered || answer.most > made.answered
      ? `${answer.fewest}..${answer.most} of ${made.answered} received`
      : "",
    answer.faults > 0 ? `${answer.faults} gaps` : "",
    answer.reloads > 0 ? `${answer.reloads} told to reload` : "",
    answer.closed > 0 ? `${answer.closed} closed` : "",
    answer.p99 > lateMillis ? "late" : "",
  ].filter((one) => one !== "")
  const { longest, p50, p99 } = answer
  return { rate, kept: why.length === 0, why: why.join(", "), p50, p99, longest, processor }
}

const sideOf = async (name: string, { pid, port, token }: Pick<Side, "pid" | "port" | "token">): Promise<Side> => {
  const subscribers = startChild("subscribers")
  const opened = await subscribers.ask<SubscribersAnswer>({ do: "open", port, token, count })
  if (opened.open < count) throw new Error(`only ${opened.open} of ${count} subscribers could connect to ${name}`)
  return { name, pid, port, token, subscribers, steps: [] }
}

const bareSide = async (name: string, more: object): Promise<readonly [Side, Child]> => {
  const bare = startChild("bare")
  const { port } = await bare.ask<{ port: number }>({ status: 204, headers: {}, body: "", ...more })
  return [await sideOf(name, { port, pid: bare.pid, token: "none" }), bare]
}

/** All sides climb together, so that a busy moment of the machine falls on each of them. */
const climb = async (sides: ReadonlyArray<Side>, load: Child): Promise<void> => {
  const attempt = async (side: Side, tries: Array<Step>) => {
    tries.push(await stepOf(side, load, tries[0]?.rate ?? rates[side.steps.length]!))
    return tries.at(-1)!.kept
  }
  // The first steps are also the warm-up. What fails is tried again: it may have been the machine.
  let climbing = sides
  while (climbing.length > 0) {
    const still: Array<Side> = []
    for (const side of climbing) {
      const tries: Array<Step> = []
      let kept = await attempt(side, tries)
      while (!kept && tries.length < rounds) kept = await attempt(side, tries)
      side.steps.push(tries)
      if (kept && side.steps.length < rates.length) still.push(side)
    }
    climbing = still
  }
  // The aim and the highest rate are shown again, so that they are not one lucky moment.
  for (const side of sides) {
    const again = async (tries: Array<Step>) => {
      for (let more = rounds - tries.length; more > 0; more--) await attempt(side, tries)
      return isKept(tries)
    }
    for (const tries of side.steps) if (tries[0]!.rate === aim) await again(tries)
    for (const tries of side.steps.toReversed()) if (await again(tries)) break
  }
}

const held = ({ steps }: Side): number => steps.findLast(isKept)?.[0]!.rate ?? 0

const rowsOf = ({ name, steps }: Side): ReadonlyArray<ReadonlyArray<string>> =>
  steps.map((tries) => {
    const of = (field: "p50" | "p99" | "longest") => spread(tries.map((step) => step[field]))
    const processor = `${Math.round(Math.max(...tries.map((step) => step.processor)) * 100)} %`
    const kept = tries.filter((step) => step.kept).length
    const why = tries.find((step) => !step.kept)?.why
    const result = `${kept} of ${tries.length} kept${why === undefined ? "" : `: ${why}`}`
    return [name, String(tries[0]!.rate), of("p50"), of("p99"), of("longest"), processor, result]
  })

export const feed = async (): Promise<string> => {
  const load = startChild("load")
  const house = await startHouse(join(temporaryFolder(), "house"))
  const ours = await sideOf("house", house)
  const [gathered, gathering] = await bareSide("bare, gathered", { gatherMillis })
  const [atOnce, writing] = await bareSide("bare, at once", {})
  const sides = [ours, gathered, atOnce]
  await climb(sides, load)
  await Promise.all([...sides.map((side) => side.subscribers), gathering, writing, load].map((child) => child.stop()))
  await house.stop()
  return [
    `Steps of ${millis / 1000} s; the aim (${aim} events/s each), the highest rate kept and what failed, ${rounds} times. Kept: every subscriber got every cursor once and in order, none was told to reload, p99 within ${lateMillis} ms, and the events could be made at that rate. Delay is from the event's own time, before its COMMIT, to receipt. The peers are node:http that stores nothing and asks nobody who they are: one gathers frames for ${gatherMillis} ms as the house does, one writes each at once.`,
    "",
    table(["who", "events/s each", "p50 ms", "p99 ms", "longest ms", "processor", "result"], sides.flatMap(rowsOf)),
    "",
    `Highest rate kept (the last step is ${number(rates.at(-1)!)}): ${sides.map((side) => `${side.name} ${number(held(side))}`).join("; ")} events/s to each of ${number(count)}. ${number(held(ours) / held(gathered))} x the gathering peer, ${number(held(ours) / held(atOnce))} x the one that writes at once.`,
  ].join("\n")
}
