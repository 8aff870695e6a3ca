/** Durable append: what group commit gives, against one synced commit for each write. */
import { join } from "node:path"
import type { AppendAnswer, AppendQuestion, Way } from "./children/appender.ts"
import { middle, number, ratio, spread, table } from "./kit/measure.ts"
import { startChild, temporaryFolder } from "./processes.ts"

const counts = [1, 16, 256]
const rounds = 3
const millis = 1000
const names: Record<Way, string> = {
  group: "journal, group commit",
  single: "journal, one at a time",
  plain: "node:sqlite, commit each",
}
const ways = Object.keys(names) as ReadonlyArray<Way>

export const append = async (): Promise<string> => {
  const folder = temporaryFolder()
  const child = startChild("appender")
  const rows: Array<ReadonlyArray<string>> = []
  for (const writers of counts) {
    const answers: Record<Way, Array<AppendAnswer>> = { group: [], single: [], plain: [] }
    for (let round = 0; round < rounds; round++)
      for (const way of ways) {
        const file = join(folder, `${writers}.db`)
        answers[way].push(await child.ask({ file, way, writers, millis } satisfies AppendQuestion))
      }
    const each = (way: Way) => answers[way].map((one) => one.perSecond)
    for (const way of ways)
      rows.push([
        names[way],
        String(writers),
        spread(each(way)),
        spread(answers[way].map((one) => one.p50)),
        spread(answers[way].map((one) => one.p99)),
        spread(answers[way].map((one) => one.loopP99)),
        number(Math.max(...answers[way].map((one) => one.loopLongest))),
        way === "plain" ? "1" : ratio(each(way), each("plain")),
        way === "single"
          ? "1"
          : way === "group"
            ? `${(middle(each("group")) / middle(each("single"))).toFixed(1)} x`
            : "",
      ])
  }
  await child.stop()
  return [
    `${rounds} rounds of ${millis / 1000} s each, the three ways in turn, one event a transaction, synchronous FULL.`,
    "",
    table(
      [
        "way",
        "writers",
        "events/s",
        "p50 ms",
        "p99 ms",
        "loop p99 ms",
        "longest",
        "to commit each",
        "to one at a time",
      ],
      rows,
    ),
  ].join("\n")
}
