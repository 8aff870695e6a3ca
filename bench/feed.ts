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
const rates = [25, 50, 100, 150, 200, 300, 400, 600, 800]
const aim = 100
const rounds = 3
const millis = 3000
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
    connections: 16,
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
  // The first steps are also the warm-up.
  const steps: Array<Array<Step>> = []
  for (const rate of rates) {
    const step = await stepOf(side, subscribers, load, rate)
    steps.push([step])
    if (!step.kept) break
  }
  // The aim and the highest rate are shown again, so that they are not one lucky moment.
  const highest = steps.findLast((step) => step[0]!.kept)
  for (const again of steps.filter((step) => step[0]!.kept && (step[0]!.rate === aim || step === highest)))
    while (again.length < rounds && again.every((step) => step.kept))
      again.push(await stepOf(side, subscribers, load, again[0]!.rate))
  await subscribers.ask({ do: "close" })
  return steps
}

const held = (steps: ReadonlyArray<ReadonlyArray<Step>>): number =>
  steps.findLast((rounds) => rounds.every((step) => step.kept))?.[0]!.rate ?? 0

const rowsOf = (name: string, steps: ReadonlyArray<ReadonlyArray<Step>>): ReadonlyArray<ReadonlyArray<string>> =>
  steps.map((rounds) => {
    const of = (field: "p50" | "p99" | "longest") => spread(rounds.map((step) => step[field]))
    const failed = rounds.find((step) => !step.kept)
    const processor = `${Math.round(Math.max(...rounds.map((step) => step.processor)) * 100)} %`
    const result = failed === undefined ? "all kept" : failed.why
    return [name, String(rounds[0]!.rate), of("p50"), of("p99"), of("longest"), processor, result]
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
    `Steps of ${millis / 1000} s; the aim (${aim} events/s each) and the highest rate three times. Kept: every subscriber got every cursor once and in order, none was told to reload, p99 within ${lateMillis} ms. Delay is from the event's own time, before its COMMIT, to receipt. The peer is node:http that writes each frame to all at once and stores nothing.`,
    "",
    table(
      ["who", "events/s each", "p50 ms", "p99 ms", "longest ms", "processor", "result"],
      [...rowsOf("house", ours), ...rowsOf("bare", theirs)],
    ),
    "",
    `Highest rate kept: ${held(ours)} events/s to each of ${number(count)}, against ${held(theirs)} by the peer: ${number(held(ours) / held(theirs))} x.`,
  ].join("\n")
}
