/** Prints messages: a conversation at a terminal, a table without cuts elsewhere. */
import { Effect } from "effect"
import { list, printLine, printNote, root, terminalOf } from "../../command/root.ts"
import { messageLines, textOf } from "../../output/messageLines.ts"

type Message = Omit<Parameters<typeof messageLines>[0][number], "author"> &
  Parameters<typeof textOf>[0] & { readonly author: { readonly name: string } }

export const printMessages = Effect.fnUntraced(function* (
  messages: ReadonlyArray<Message>,
  columns: ReadonlyArray<string>,
) {
  const { json } = yield* root
  const terminal = terminalOf()
  const rows = messages.map((one) => ({ ...one, author: one.author.name, text: textOf(one) }))
  if (json || terminal === undefined) return yield* list(json ? messages : rows, { shown: columns })
  if (rows.length === 0) return yield* printNote("none")
  yield* Effect.forEach(messageLines(rows, terminal), printLine, { discard: true })
})
