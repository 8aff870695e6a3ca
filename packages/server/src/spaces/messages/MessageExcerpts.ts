/**
 * The last messages of a space for a prompt. How much is read of each is decided by the database, so that what others
 * have written there costs a prompt nothing.
 */
import type { Member, Message, MessageId, PrincipalId, Provenance, SpaceId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { messagesIn } from "./thread.ts"

export interface MessageExcerpt {
  readonly id: MessageId
  readonly seq: number
  readonly author: { readonly id: PrincipalId; readonly name: string; readonly kind: Member["kind"] }
  readonly text: string
  /** How many characters of its text were not read. */
  readonly left: number
  /** A visible call, with the beginning of its input as JSON. */
  readonly call: { readonly tool: string; readonly input: string } | null
  readonly provenance: Provenance
  readonly replyTo: MessageId | null
  readonly createdAt: string
}

export interface ExcerptsAsked {
  /** Only the thread that an answer to this message would be part of. */
  readonly thread?: string
  /** The most messages. */
  readonly limit: number
  /** The most characters of all of them; one takes no more than half. */
  readonly letters: number
  /** These count for nothing: whoever asks reads the long ones among them by themselves. */
  readonly besides: ReadonlyArray<string>
}

/** A message that counts for nothing is read if it is no longer. */
const short = 1000
/** Enough of a call for the name of its tool and the beginning of its input, which stand first in it. */
const callLetters = 2000
const inputLetters = 500

interface Row {
  readonly id: MessageId
  readonly seq: number
  readonly author: PrincipalId
  readonly authorName: string
  readonly authorKind: Member["kind"]
  readonly text: string
  readonly size: number
  readonly call: string | null
  readonly provenance: Provenance
  readonly replyTo: MessageId | null
  readonly createdAt: string
}

const begunCall = /^\{"id":"[^"]*","tool":("(?:[^"\\]|\\.)*"),"input":/u

const callIn = (text: string): MessageExcerpt["call"] => {
  const begun = begunCall.exec(text)
  if (begun === null) return { tool: "of a name that is too long", input: "" }
  const input = text.slice(begun[0].length)
  return { tool: JSON.parse(begun[1]!) as string, input: input.slice(0, inputLetters) }
}

export const excerptOf = ({
  author,
  call,
  createdAt,
  id,
  provenance,
  replyTo,
  seq,
  text,
}: Message): MessageExcerpt => ({
  id,
  seq,
  author,
  text,
  left: 0,
  call: call === null ? null : { tool: call.tool, input: JSON.stringify(call.input).slice(0, inputLetters) },
  provenance,
  replyTo,
  createdAt: DateTime.formatIso(createdAt),
})

export const readExcerpts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  space: SpaceId,
  { besides, letters, limit, thread }: ExcerptsAsked,
) {
  // Written out: Postgres does not know the type of a parameter that is compared with another.
  const number = (one: number) => sql.literal(String(Math.floor(one)))
  const [all, each] = [number(letters), number(letters / 2)]
  const part = sql`CASE WHEN ${besides.length === 0 ? sql`1 = 0` : sql.in("m.id", besides)} THEN 0
    WHEN length(m.text) > ${each} THEN ${each} ELSE length(m.text) END`
  const inThread = thread === undefined ? sql`` : sql`AND m.id IN (${messagesIn(sql, thread)})`
  const rows = yield* sql<Row>`SELECT m.id, m.seq, m.author, p.name AS author_name, p.kind AS author_kind, chosen.size,
      CASE WHEN chosen.part = 0 THEN CASE WHEN chosen.size <= ${number(short)} THEN m.text ELSE '' END
        WHEN chosen.before >= ${all} THEN ''
        WHEN chosen.part > ${all} - chosen.before THEN substr(m.text, 1, CAST(${all} - chosen.before AS INTEGER))
        ELSE substr(m.text, 1, CAST(chosen.part AS INTEGER)) END AS text,
      substr(m.call, 1, ${number(callLetters)}) AS call, m.provenance, m.reply_to, m.created_at
    FROM (SELECT id, size, part, sum(part) OVER (ORDER BY seq DESC) - part AS before
      FROM (SELECT m.id, m.seq, length(m.text) AS size, ${part} AS part FROM messages m
        WHERE m.space = ${space} ${inThread} ORDER BY m.seq DESC LIMIT ${number(limit)}) AS newest) AS chosen
    JOIN messages m ON m.id = chosen.id JOIN principals p ON p.id = m.author ORDER BY m.seq`
  return rows.map(({ author, authorKind, authorName, call, size, ...row }): MessageExcerpt => ({
    ...row,
    author: { id: author, name: authorName, kind: authorKind },
    left: Math.max(0, size - [...row.text].length),
    call: call === null ? null : callIn(call),
  }))
}, Effect.orDie)
