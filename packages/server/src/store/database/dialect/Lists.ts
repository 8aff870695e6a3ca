/** A column that is one of many texts, however many: they are one parameter. */
import type { SqlClient, Statement } from "effect/sql"

export const amongTexts = (
  sql: SqlClient.SqlClient,
  column: string,
  texts: ReadonlyArray<string>,
): Statement.Fragment => {
  const all = JSON.stringify(texts)
  return sql.onDialectOrElse({
    pg: () => sql`${sql(column)} IN (SELECT jsonb_array_elements_text(${all}::jsonb))`,
    orElse: () => sql`${sql(column)} IN (SELECT value FROM json_each(${all}))`,
  })
}
