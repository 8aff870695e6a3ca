/**
 * What rooms above read of messages besides the services: functions and parts of statements, so that every statement that
 * names the table stands in this room. What shows a text takes a viewer, and `rules.ts` is applied here.
 */
import type { MemberRole, MessageId, PrincipalId, PrincipalKind, Space, SpaceId } from "@stoa/contract"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Naming } from "../access/identity/Agents.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import { isSeen, judgeSpace } from "./rules.ts"

type Fragment = Statement.Fragment

const wholeName: Naming = (_, name) => name

/** A message that answers something, as somebody who may see it reads it. */
export interface ReadReply {
  /** What it answers, as the room that asks calls it. */
  readonly link: string
  readonly id: MessageId
  readonly author: PrincipalId
  readonly authorName: string
  readonly authorKind: PrincipalKind
  readonly text: string
}

/** A message that an agent wrote or that was for it. */
export interface ReadMail {
  readonly id: string
  readonly author: string
  readonly to: string | null
  readonly text: string
  readonly at: string
}

interface Standing {
  readonly space: SpaceId
  readonly spaceName: string
  readonly spaceKind: Space["kind"]
  readonly myRole: MemberRole | null
}

export const makeMessageReads = (sql: SqlClient.SqlClient) => {
  /** The space of a row with what the rule needs to know of it and of the viewer. */
  const standing = sql`s.id AS space, s.name AS space_name, s.kind AS space_kind, r.role AS my_role`
  const joined = (space: Fragment, { principal }: Viewer) =>
    sql`JOIN spaces s ON s.id = ${space} LEFT JOIN members r ON r.space = s.id AND r.principal = ${principal.id}`
  const sees = (viewer: Viewer, { myRole, space: id, spaceKind: kind, spaceName: name }: Standing): boolean =>
    isSeen({ kind, role: myRole ?? undefined, admin: viewer.all, read: judgeSpace(viewer, "read", { id, name }) })

  const authorOf = (message: string): Effect.Effect<PrincipalId | undefined> =>
    Effect.map(
      Effect.orDie(sql<{ author: PrincipalId }>`SELECT author FROM messages WHERE id = ${message}`),
      (rows) => rows[0]?.author,
    )

  // Parts of statements call their tables by names that no statement around them uses, such as m or p.
  /** Part of a statement: whether a principal has written an answer to a message. */
  const hasAnswered = (principal: Fragment, message: Fragment): Fragment =>
    sql`EXISTS (SELECT 1 FROM messages said WHERE said.reply_to = ${message} AND said.author = ${principal})`

  /** Parts of a statement: names for a message and for a space. */
  const authorName = (message: Fragment, naming: Naming = wholeName): Fragment =>
    sql`(SELECT ${naming(sql`author.id`, sql`author.name`)} FROM messages said JOIN principals author ON author.id = said.author
      WHERE said.id = ${message})`
  const spaceName = (space: Fragment): Fragment => sql`(SELECT name FROM spaces here WHERE here.id = ${space})`

  /** The spaces in which a person wrote one of `written` (a query for ids) and the run has not written since. */
  const unansweredIn = (run: string, written: Fragment): Effect.Effect<ReadonlyArray<string>> =>
    Effect.map(
      Effect.orDie(
        sql<{ space: string }>`SELECT m.space FROM messages m JOIN principals p ON p.id = m.author AND p.kind = 'person'
          WHERE m.id IN (${written}) GROUP BY m.space HAVING max(m.seq) > COALESCE(
            (SELECT max(s.seq) FROM messages s WHERE s.space = m.space AND s.run = ${run} AND s.call IS NULL), 0)
          ORDER BY max(m.created_at)`,
      ),
      (rows) => rows.map(({ space }) => space),
    )

  /** The messages that `links` (a query for `link` and `message`) names, as far as the viewer may see them now. */
  const repliesOf = Effect.fnUntraced(function* (viewer: Viewer, links: Fragment) {
    const rows = yield* sql<ReadReply & Standing>`SELECT links.link, m.id, m.author, p.name AS author_name,
        p.kind AS author_kind, m.text, ${standing} FROM (${links}) links JOIN messages m ON m.id = links.message
        JOIN principals p ON p.id = m.author ${joined(sql`m.space`, viewer)} ORDER BY m.seq`
    return rows.filter((row) => sees(viewer, row))
  }, Effect.orDie)

  /**
   * The newest messages that an agent wrote, that answer it, or that are `received` by it, as far as the viewer may see
   * them now. `received` and `spaces` are queries for the ids of the latter and for their spaces; `to` is the name of
   * whom a message is for, if it has one. Reads what is the agent's, however much others say in its spaces.
   */
  const mailOf = Effect.fnUntraced(function* (
    viewer: Viewer,
    agent: PrincipalId,
    other: {
      readonly spaces: Fragment
      readonly received: Fragment
      readonly to: (message: Fragment) => Fragment
      readonly naming?: Naming
    },
    limit: number,
  ) {
    const { naming = wholeName } = other
    const talked = yield* sql<Standing>`SELECT ${standing} FROM
      (SELECT space FROM messages WHERE author = ${agent} UNION ${other.spaces}) talked ${joined(sql`talked.space`, viewer)}`
    const seen = talked.filter((row) => sees(viewer, row)).map(({ space }) => space)
    if (seen.length === 0) return []
    return yield* sql<ReadMail>`SELECT m.id, ${naming(sql`a.id`, sql`a.name`)} AS author,
        COALESCE(${other.to(sql`m.id`)}, ${authorName(sql`m.reply_to`, naming)}) AS "to", m.text, m.created_at AS at
      FROM messages m JOIN principals a ON a.id = m.author
      WHERE m.id IN (SELECT id FROM messages WHERE author = ${agent}
          UNION SELECT r.id FROM messages o JOIN messages r ON r.reply_to = o.id WHERE o.author = ${agent}
          UNION ${other.received})
        AND m.call IS NULL AND m.deleted_at IS NULL AND ${sql.in("m.space", seen)}
      ORDER BY m.created_at DESC, m.id DESC LIMIT ${limit}`
  }, Effect.orDie)

  /** Who reads a space: its kind and its members. */
  const audienceOf = Effect.fnUntraced(function* (space: SpaceId | null) {
    const rows = yield* sql<Pick<Space, "id" | "kind">>`SELECT id, kind FROM spaces WHERE id = ${space}`
    const members = yield* sql<{ id: PrincipalId }>`SELECT principal AS id FROM members WHERE space = ${space}`
    return rows[0] === undefined ? null : { ...rows[0], members }
  }, Effect.orDie)

  return { authorOf, audienceOf, hasAnswered, authorName, spaceName, unansweredIn, repliesOf, mailOf }
}
