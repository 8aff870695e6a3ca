/** A thread: a message, the messages it answers up to the first, and everything that answers them (S0-60). */
import type { SqlClient } from "effect/sql"

/** How far up the first message is searched. */
const deepest = 100

const upFrom = (sql: SqlClient.SqlClient, message: string) => sql`WITH RECURSIVE up (id, reply_to, author, depth) AS (
    SELECT id, reply_to, author, 0 FROM messages WHERE id = ${message}
    UNION ALL SELECT m.id, m.reply_to, m.author, up.depth + 1 FROM messages m JOIN up ON m.id = up.reply_to
    WHERE up.depth < ${deepest})`

export const authorsIn = (sql: SqlClient.SqlClient, message: string) =>
  sql`${upFrom(sql, message)} SELECT author FROM up UNION SELECT author FROM messages WHERE reply_to IN (SELECT id FROM up)`

export const messagesIn = (sql: SqlClient.SqlClient, message: string) =>
  sql`${upFrom(sql, message)} SELECT id FROM up UNION SELECT id FROM messages WHERE reply_to IN (SELECT id FROM up)`
