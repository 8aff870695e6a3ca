/**
 * The feed: steps of a rising rate until one of 1,000 subscribers loses an event, is told to reload, or hears of it late.
 * Events are made over HTTP by another process, so that the house does all the work a real one would.
 */
import { join } from "node:path"
import type { LoadAnswer, LoadQuestion } from "./children/load.ts"
import type { SubscribersAnswer } from "./children/subscribers.ts"
import { number, spread, table } from "./measure.ts"
import { type Child, processorSeconds, sleep, startChild, startHouse, temporaryFolder } from "./processes.ts"

const count = 1000
const rates = [25, 50, 100, 200, 400, 600, 800, 1000]
const aim = 100
const rounds = 3
const millis = 2500
/** Later than this is no longer live, though nothing is lost. */
const lateMillis = 1000

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
  readonly port: number
  readonly pid: number
  readonly token: string
}

const stepOf = async (side: Side, subscribers: Child, load: Child, rate: number): Promise<Step> => {
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
    made.perSecond < rate * 0.95 ? `only ${number(made.perSecond)} events/s made` : "",
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

const ladder = async (side: Side, subscribers: Child, load: Child): Promise<ReadonlyArray<ReadonlyArray<Step>>> => {
  const opened = await subscribers.ask<SubscribersAnswer>({ do: "open", port: side.port, token: side.token, count })
  if (opened.open < count) throw new Error(`only ${opened.open} of ${count} subscribers could connect`)
  // The first steps are also the warm-up. What fails is tried again: the machine may have been busy with something else.
  const steps: Array<Array<Step>> = []
  for (const rate of rates) {
    const tries: Array<Step> = []
    do tries.push(await stepOf(side, subscribers, load, rate))
    while (tries.length < rounds && !tries.at(-1)!.kept)
    steps.push(tries)
    if (!tries.at(-1)!.kept) break
  }
  // The aim and the highest rates are shown again, so that they are not one lucky moment.
  const again = async (tries: Array<Step> | undefined) => {
    if (tries === undefined) return false
    for (let more = rounds - tries.length; more > 0; more--)
      tries.push(await stepOf(side, subscribers, load, tries[0]!.rate))
    return isKept(tries)
  }
  await again(steps.find((tries) => tries[0]!.rate === aim))
  for (const tries of steps.toReversed()) if (await again(tries)) break
  await subscribers.ask({ do: "close" })
  return steps
}

const held = (steps: ReadonlyArray<ReadonlyArray<Step>>): number => steps.findLast(isKept)?.[0]!.rate ?? 0

const rowsOf = (name: string, steps: ReadonlyArray<ReadonlyArray<Step>>): ReadonlyArray<ReadonlyArray<string>> =>
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
  const ourSubscribers = startChild("subscribers")
  const ours = await ladder(house, ourSubscribers, load)
  await ourSubscribers.stop()
  await house.stop()

  const bare = startChild("bare")
  const { port } = await bare.ask<{ port: number }>({ status: 204, headers: {}, body: "" })
  const theirSubscribers = startChild("subscribers")
  const theirs = await ladder({ port, pid: bare.pid, token: "none" }, theirSubscribers, load)
  await Promise.all([theirSubscribers.stop(), bare.stop(), load.stop()])

  return [
    `Steps of ${millis / 1000} s; the aim (${aim} events/s each), the highest rate kept and what failed, ${rounds} times. Kept: every subscriber got every cursor once and in order, none was told to reload, p99 within ${lateMillis} ms, and the events could be made at that rate. Delay is from the event's own time, before its COMMIT, to receipt. The peer is node:http that writes each frame to all at once and stores nothing.`,
    "",
    table(
      ["who", "events/s each", "p50 ms", "p99 ms", "longest ms", "processor", "result"],
      [...rowsOf("house", ours), ...rowsOf("bare", theirs)],
    ),
    "",
    `Highest rate kept: ${held(ours)} events/s to each of ${number(count)}, against ${held(theirs)} by the peer: ${number(held(ours) / held(theirs))} x.`,
  ].join("\n")
}
