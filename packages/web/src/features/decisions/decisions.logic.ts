/** The inbox: my decisions, oldest first; those of others; and how fast people answer. */
import { isMine } from "../../feed/myDecisions.logic.ts"
import type { Decision } from "../../feed/types.ts"

export const tabs = ["mine", "others", "answered", "always"] as const
export type Tab = (typeof tabs)[number]

const oldest = (a: Decision, b: Decision) => Date.parse(a.createdAt) - Date.parse(b.createdAt)

export const mineAndOthers = (open: ReadonlyArray<Decision>, me: string) => ({
  mine: open.filter((one) => isMine(one, me)).toSorted(oldest),
  others: open.filter((one) => !isMine(one, me)).toSorted(oldest),
})

/** Milliseconds, or undefined if nobody has answered. */
export const medianAnswerTime = (closed: ReadonlyArray<Decision>): number | undefined => {
  const lengths = closed
    .flatMap(({ answeredAt, createdAt }) =>
      answeredAt === null ? [] : [Date.parse(answeredAt) - Date.parse(createdAt)],
    )
    .toSorted((a, b) => a - b)
  return lengths[Math.floor(lengths.length / 2)]
}

export interface BulkDenial {
  readonly key: string
  readonly tool: string
  readonly asker: string
  readonly ids: ReadonlyArray<string>
}

/** Only a denial can be given to many at once, and only for one tool and one asker. */
export const bulkDenials = (mine: ReadonlyArray<Decision>): ReadonlyArray<BulkDenial> => {
  const groups = Map.groupBy(
    mine.filter(({ call, kind }) => kind === "approval" && call !== null),
    (one) => `${one.askedBy} ${one.call!.tool}`,
  )
  return [...groups].flatMap(([key, list]) =>
    list.length < 2
      ? []
      : [{ key, tool: list[0]!.call!.tool, asker: list[0]!.asker.name, ids: list.map(({ id }) => id) }],
  )
}
