/** Messages of a space as a person reads them. Pure. */
import { visibleLines } from "@stoa/contract"
import { shortTime, type Terminal } from "./table.ts"
import { wrapped } from "./wrap.ts"

interface ShownCall {
  readonly tool: string
  readonly input: unknown
  readonly output?: unknown
  readonly error?: unknown
}

/** A visible call is a message without text: shows its tool, its input and its outcome. */
export const textOf = ({ call, text }: { readonly call: ShownCall | null; readonly text: string }): string => {
  if (call === null) return text
  const { error, input, output, tool } = call
  const end =
    error !== undefined
      ? ` failed: ${JSON.stringify(error)}`
      : output !== undefined
        ? ` -> ${JSON.stringify(output)}`
        : " …"
  return `[${tool} ${JSON.stringify(input)}${end}]`
}

interface Said {
  readonly seq: number
  readonly id: string
  readonly createdAt: string
  readonly author: string
  readonly text: string
}

/** At a terminal: who wrote each message, its whole id, and below it the whole text. */
export const messageLines = (messages: ReadonlyArray<Said>, { now, width }: Terminal): ReadonlyArray<string> =>
  messages.flatMap(({ author, createdAt, id, seq, text }) => [
    [seq, shortTime(createdAt, now), author, id].join("  "),
    ...visibleLines(text)
      .flatMap((line) => wrapped(line, width - 2))
      .map((line) => `  ${line}`.trimEnd()),
  ])
