/** Reactions: one emoji each, once per principal and emoji, and not endlessly many on a message. */
import {
  BadInput,
  emojiOf,
  type Message,
  mostReactions,
  notAnEmoji,
  type PrincipalId,
  WrongState,
} from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Journal } from "../../store/journal/Journal.ts"

/** What a message has before another reaction is added. */
interface Counts {
  readonly all: number
  readonly emojis: number
  readonly own: number
  readonly same: number
}

/** Why there is no room for another one, and what can still be done. */
const refusalOf = ({ all, emojis, own, same }: Counts): string | undefined => {
  if (all >= mostReactions.all) return `This message has ${all} reactions, and no room for another one.`
  if (own >= mostReactions.own) return `You gave this message ${own} reactions. Take one back to give another one.`
  if (same === 0 && emojis >= mostReactions.emojis)
    return `This message has ${emojis} different reactions. Give one of those.`
  return undefined
}

export const makeReactions = (sql: SqlClient.SqlClient, journal: Pick<Journal["Service"], "append">) => {
  const count = (message: string, emoji: string, by: string) =>
    sql<Counts & { given: number }>`SELECT COUNT(*) AS "all", COUNT(DISTINCT emoji) AS emojis,
      COUNT(CASE WHEN principal = ${by} THEN 1 END) AS own, COUNT(CASE WHEN emoji = ${emoji} THEN 1 END) AS same,
      COUNT(CASE WHEN principal = ${by} AND emoji = ${emoji} THEN 1 END) AS given
      FROM reactions WHERE message = ${message}`

  const give = Effect.fnUntraced(function* ({ id, space }: Message, by: PrincipalId, text: string) {
    const emoji = emojiOf(text)
    if (emoji === undefined) return yield* new BadInput({ issues: [{ path: "emoji", message: notAnEmoji }] })
    // Locks the row: a deletion happens entirely before or after this, and what is counted stays true.
    const there = yield* Effect.orDie(
      sql`UPDATE messages SET pinned = pinned WHERE id = ${id} AND deleted_at IS NULL RETURNING id`,
    )
    if (there.length === 0) return yield* new WrongState({ detail: "This message was deleted." })
    const [row] = yield* Effect.orDie(count(id, emoji, by))
    const [all, emojis, own, same, given] = [row!.all, row!.emojis, row!.own, row!.same, row!.given].map(Number)
    if (given! > 0) return
    const refusal = refusalOf({ all: all!, emojis: emojis!, own: own!, same: same! })
    if (refusal !== undefined) return yield* new WrongState({ detail: refusal })
    const createdAt = DateTime.formatIso(yield* DateTime.now)
    yield* Effect.orDie(sql`INSERT INTO reactions ${sql.insert({ message: id, emoji, principal: by, createdAt })}`)
    yield* journal.append({ kind: "reaction.added", space, body: { message: id, emoji, by } })
  })

  /** As it was written too: reactions of older versions may be no emoji. */
  const takeBack = Effect.fnUntraced(function* ({ id, space }: Message, by: PrincipalId, text: string) {
    const rows = yield* Effect.orDie(
      sql<{ emoji: string }>`DELETE FROM reactions WHERE message = ${id} AND principal = ${by}
        AND emoji IN (${text}, ${emojiOf(text) ?? text}) RETURNING emoji`,
    )
    for (const { emoji } of rows)
      yield* journal.append({ kind: "reaction.removed", space, body: { message: id, emoji, by } })
  })

  return { give, takeBack }
}
