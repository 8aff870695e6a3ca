/** Hosts of tests: who may offer, what is offered, and the stream that its calls come on. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { admin, request, told } from "../callsKit.ts"
import { fresh, listen, someone, type Someone } from "../../spaces/spacesGuests.ts"

/** Somebody who may offer functions to everybody. */
const offering = Effect.fnUntraced(function* (kind: "service" | "agent") {
  const who = yield* someone(kind)
  const granted = yield* request(yield* admin, "POST", "/grants", {
    principal: who.id,
    resource: "hosts/*",
    actions: ["write"],
  })
  assert.strictEqual(granted.status, 201, JSON.stringify(granted.body))
  return { ...who, grant: told(granted).id }
})
export const service = offering("service")
/** One that calls tools, too. */
export const agent = offering("agent")

export const tool = (over: object = {}) => ({
  name: fresh("fn"),
  description: "Does what its process does.",
  inputSchema: { type: "object" },
  ...over,
})

export const put = (who: Someone, host: string, body: object) => request(who, "PUT", `/hosts/${host}`, body)

/** A host with one function. */
export const offer = Effect.fnUntraced(function* (who: Someone, over: object = {}, shared = true) {
  const [host, form] = [fresh("host"), tool(over)]
  const made = yield* put(who, host, { tools: [form], shared })
  assert.strictEqual(made.status, 200, JSON.stringify(made.body))
  return { host, id: told(made).id, form, name: form.name }
})

/** Its stream, once calls come on it. */
export const connected = Effect.fnUntraced(function* (who: Someone, host: string, instance: string) {
  const stream = yield* listen(who, { path: `/hosts/${host}/calls?instance=${instance}` })
  assert.strictEqual(stream.status, 200)
  const before: Array<string> = []
  for (;;) {
    const { data, event } = yield* stream.next
    if (event === "ready") return { ...stream, before }
    if (event === "call") before.push(data!["id"] as string)
  }
})

export const rowsOf = Effect.fnUntraced(function* (
  table: "hosts" | "hosted_tools" | "hosted_calls",
  column: string,
  value: string,
) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Record<string, unknown>>`SELECT * FROM ${sql(table)} WHERE ${sql(column)} = ${value}`
})

export const submit = (who: Someone, call: string, output: unknown = "done") =>
  request(who, "POST", `/calls/${call}/result`, { output })
