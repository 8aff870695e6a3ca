/** Rows of spaces and messages as values. */
import { Member, Message, type PrincipalId, Space, type SpaceId } from "@stoa/contract"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Flag } from "../store/database/dialect/Columns.ts"

export interface SpaceRow {
  readonly id: SpaceId
  readonly name: string
  readonly kind: Space["kind"]
  readonly triggerPolicy: Space["trigger"]
  readonly topic: string | null
  readonly lastSeq: number
  readonly createdAt: string
  readonly archivedAt: string | null
  readonly readSeq: number | null
}

interface MemberRow {
  readonly space: SpaceId
  readonly id: PrincipalId
  readonly name: string
  readonly kind: Member["kind"]
  readonly role: Member["role"]
}

const decodeSpace = Schema.decodeUnknownSync(Space)
const decodeMessage = Schema.decodeUnknownSync(Message)
const decodeFlag = Schema.decodeUnknownSync(Flag)

/** A retired principal is a member of no space: its name may belong to another by now, and nothing wakes it. */
const membersOf = (sql: SqlClient.SqlClient, spaces: ReadonlyArray<SpaceId>) =>
  spaces.length === 0
    ? Effect.succeed<ReadonlyArray<MemberRow>>([])
    : sql<MemberRow>`SELECT m.space, p.id, p.name, p.kind, m.role FROM members m JOIN principals p ON p.id = m.principal
        WHERE ${sql.in("m.space", spaces)} AND p.retired_at IS NULL ORDER BY m.joined_at, p.name_key`

export const spacesFrom = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<SpaceRow>,
): Effect.Effect<ReadonlyArray<Space>, SqlError.SqlError> =>
  Effect.map(
    membersOf(
      sql,
      rows.map((row) => row.id),
    ),
    (members) =>
      rows.map(({ readSeq, triggerPolicy, ...row }) =>
        decodeSpace({
          ...row,
          trigger: triggerPolicy,
          unread: readSeq === null ? 0 : Math.max(0, row.lastSeq - readSeq),
          members: members
            .filter((member) => member.space === row.id)
            .map(({ id, kind, name, role }) => ({ id, kind, name, role })),
        }),
      ),
  )

interface MessageRow {
  readonly id: string
  readonly text: string
  readonly author: string
  readonly authorName: string
  readonly authorKind: string
  readonly call: string | null
  readonly mentions: string
  readonly origin: string | null
  readonly pinned: boolean | 0 | 1
}

/** A row as a message. The other columns have the names of its fields. */
export const messageFrom = (
  { author, authorKind, authorName, ...row }: MessageRow,
  reactions: Message["reactions"],
): Message =>
  decodeMessage({
    ...row,
    author: { id: author, name: authorName, kind: authorKind },
    call: row.call === null ? null : (JSON.parse(row.call) as unknown),
    mentions: JSON.parse(row.mentions) as unknown,
    origin: row.origin === null ? null : (JSON.parse(row.origin) as unknown),
    pinned: decodeFlag(row.pinned),
    reactions,
  })

/** The columns of every query for messages. */
export const messageColumns = (sql: SqlClient.SqlClient) =>
  sql.literal("m.*, p.name AS author_name, p.kind AS author_kind")

/** A page ends early when its texts exceed this total: a reader must not pay for others' long messages. */
export const maxPageText = 256 * 1024
export const withinPage = (rows: ReadonlyArray<MessageRow>): ReadonlyArray<MessageRow> => {
  let said = 0
  const over = rows.findIndex(({ call, text }) => (said += text.length + (call?.length ?? 0)) > maxPageText)
  return over < 0 ? rows : rows.slice(0, Math.max(1, over))
}

export const messagesFrom = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, rows: ReadonlyArray<MessageRow>) {
  const ids = rows.map((row) => row.id)
  const reactions =
    ids.length === 0
      ? []
      : yield* sql<{ message: string; emoji: string; principal: PrincipalId }>`SELECT message, emoji, principal
          FROM reactions WHERE ${sql.in("message", ids)} ORDER BY created_at, principal`
  const of = (message: string) => {
    const found = new Map<string, Array<PrincipalId>>()
    for (const one of reactions)
      if (one.message === message) found.set(one.emoji, [...(found.get(one.emoji) ?? []), one.principal])
    return [...found].map(([emoji, by]) => ({ emoji, by }))
  }
  return rows.map((row) => messageFrom(row, of(row.id)))
})

/** Who opened a space, and the people in it. `house`: the configuration file; null: from before this was recorded. */
export interface SpacePeople {
  readonly openedBy: string | null
  readonly people: ReadonlyArray<{ readonly id: PrincipalId; readonly since: number; readonly letInBy: string | null }>
}

type PersonRow = { readonly openedBy: string | null } & (SpacePeople["people"][number] | { readonly id: null })

export const peopleIn = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, space: SpaceId) {
  // One row per person, and one for a space without people.
  const rows = yield* sql<PersonRow>`SELECT s.opened_by, i.* FROM spaces s
    LEFT JOIN (SELECT p.id, m.space, m.joined_after AS since, m.let_in_by, p.name_key
      FROM members m JOIN principals p ON p.id = m.principal
      WHERE m.space = ${space} AND p.kind = 'person' AND p.retired_at IS NULL) i ON i.space = s.id
    WHERE s.id = ${space} ORDER BY i.since, i.name_key`
  return {
    openedBy: rows[0]?.openedBy ?? null,
    people: rows.flatMap((row) => (row.id === null ? [] : [row])),
  } satisfies SpacePeople
})

export const ownersIn = (sql: SqlClient.SqlClient, space: string) =>
  Effect.map(
    sql<{ principal: PrincipalId }>`SELECT principal FROM members WHERE space = ${space} AND role = 'owner'`,
    (rows) => rows.map(({ principal }) => principal),
  )

/** Of these spaces, those that a principal owns: the number of the newest message in each. */
export const lastSeqsIn = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  owner: PrincipalId,
  ids: ReadonlyArray<SpaceId>,
) {
  if (ids.length === 0) return new Map<string, number>()
  const rows = yield* sql<{ id: string; lastSeq: number }>`SELECT s.id, s.last_seq FROM spaces s
    JOIN members m ON m.space = s.id AND m.principal = ${owner} AND m.role = 'owner' WHERE ${sql.in("s.id", ids)}`
  return new Map(rows.map(({ id, lastSeq }) => [id, lastSeq]))
})

/** A DM is identified by its pair of members, not by a name (S0-54). */
export const pairOf = (members: ReadonlyArray<PrincipalId>): string => members.toSorted().join(" ")

export const dmBetween = (
  sql: SqlClient.SqlClient,
  one: PrincipalId,
  other: PrincipalId,
): Effect.Effect<SpaceId | undefined> =>
  Effect.map(
    Effect.orDie(sql<{ id: SpaceId }>`SELECT id FROM spaces WHERE pair = ${pairOf([one, other])} AND kind = 'dm'`),
    (rows) => rows[0]?.id,
  )
