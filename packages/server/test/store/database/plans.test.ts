/** What SQLite does for the statements of a house that starts, is called, asked and answered: none reads a table that grows with every call. */
import { DatabaseSync } from "node:sqlite"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { nearNameOf, type Naming } from "../../../src/access/identity/Agents.ts"
import { lastBackup } from "../../../src/store/backup/LastBackup.ts"
import { Watchdog } from "../../../src/runs/upkeep/Watchdog.ts"
import { Grants } from "../../../src/access/rights/Grants.ts"
import { Runs } from "../../../src/runs/Runs.ts"
import { Waits } from "../../../src/runs/waiting/Waits.ts"
import { Inbox } from "../../../src/runs/waking/Inbox.ts"
import { makeTriggerReads } from "../../../src/runs/waking/TriggerReads.ts"
import { makeMessageReads } from "../../../src/spaces/MessageReads.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { ask } from "../../house.ts"
import { admin, callsHouse, callTool, configure, request, settled, told } from "../../calls/callsKit.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"

/** Whatever is prepared after the last migration, with its plan. */
const plans = new Map<string, string>()
const prepare = Reflect.get(DatabaseSync.prototype, "prepare")
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  if (/^\s*(CREATE|ALTER)\b/i.test(sql)) plans.clear()
  if (!plans.has(sql) && /^\s*(SELECT|UPDATE|DELETE|WITH|INSERT)\b/i.test(sql)) {
    const steps = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all()
    plans.set(sql, steps.map(({ detail }) => String(detail)).join(" | "))
  }
  return prepare.call(this, sql, ...rest)
}

/** A row, or more, for each call, message or event. */
const growing = [
  "calls",
  "call_questions",
  "decisions",
  "decision_voters",
  "decision_approvals",
  "journal",
  "audit",
  "messages",
  "runs",
  "steps",
  "triggers",
  "run_messages",
  "waits",
  "wait_parties",
  "timers",
]
/**
 * By a name of one letter, too; what is of open rows only, such as `calls_unsettled`, does not grow. A search without an
 * index is how a `min` over a whole table is told.
 */
const scans = new RegExp(
  `(?:SCAN|SEARCH(?! \\w+ USING)) (${growing.join("|")}|[a-z])\\b(?: USING (?:COVERING )?INDEX (\\w+))?`,
  "g",
)

/**
 * Those that read one row of it, from its end; what a dead process had claimed, which a start frees once; and all agents,
 * whose table has one letter here.
 */
const isShort = (sql: string): boolean =>
  /FROM principals p\s+LEFT JOIN agents|ORDER BY (m\.)?(id|cursor|seq) DESC LIMIT|\bmax\(|SET lease_owner = NULL, lease_until = NULL WHERE/.test(
    sql,
  )

layer(callsHouse({ store: "sqlite" }), { excludeTestServices: true })("plans of SQLite", (it) => {
  it.effect("no statement reads a table that grows from one end to the other", () =>
    Effect.gen(function* () {
      const [bot, boss] = [yield* someone("agent"), yield* admin]
      const plain = yield* configure()
      const asking = yield* configure({ requiresApproval: true })
      assert.strictEqual(told(yield* callTool(bot, plain.name)).state, "done")
      const waiting = told(yield* callTool(bot, asking.name, { wait: 0 }))
      yield* request(boss, "GET", "/decisions?state=open")
      yield* request(boss, "POST", `/decisions/${waiting.on!.id}/answer`, { verdict: "approve" })
      assert.strictEqual((yield* settled(bot, waiting.id)).state, "done")
      yield* (yield* Watchdog).look
      yield* lastBackup
      yield* (yield* Runs).statesOf([bot.id])
      const journal = yield* Journal
      yield* journal.readAnew
      assert.isNotEmpty(yield* journal.read({ after: 0, kinds: ["call.settled"], limit: 5 }))
      yield* request(boss, "POST", "/spaces", { name: fresh("plans") })
      const reads = makeMessageReads(yield* SqlClient.SqlClient)
      const woken = makeTriggerReads(yield* SqlClient.SqlClient)
      const sql = yield* SqlClient.SqlClient
      const naming: Naming = (principal, name) => nearNameOf(sql, principal, name)
      const viewer = yield* (yield* Grants).viewerNow(bot.principal.id, "agent", "spaces")
      const { id } = bot.principal
      yield* ask(() => bot.client.spaces.add({ name: fresh("plans"), kind: "private" })).pipe(
        Effect.flatMap((space) => ask(() => bot.client.spaces.post(space.id, { text: "hello" }))),
      )
      yield* reads.mailOf(
        viewer,
        id,
        {
          spaces: woken.spacesOf(id),
          received: woken.messagesOf(id),
          to: (message) => woken.nameOfWoken(message, naming),
          naming,
        },
        10,
      )
      yield* reads.authorOf("msg_1")
      const wait = "wai_1"
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
        reads.repliesOf(viewer, sql`SELECT wait AS link, message FROM wait_replies WHERE wait = ${wait}`),
      )
      yield* (yield* Waits).oldest(id, id)
      yield* (yield* Inbox).unanswered("run_1", id, id)
      yield* (yield* Runs).originOf("run_1" as never, "spc_1" as never)
      assert.isAbove(plans.size, 100)
      const partial = yield* sql<{ readonly name: string }>`SELECT name FROM sqlite_schema
        WHERE type = 'index' AND sql LIKE '%) WHERE %'`
      const isPartial = (index: string | undefined) => partial.some(({ name }) => name === index)
      const isWhole = (plan: string) => [...plan.matchAll(scans)].some(([, , index]) => !isPartial(index))
      const found = [...plans].filter(([text, plan]) => isWhole(plan) && !isShort(text))
      assert.deepStrictEqual(found, [])
      const [, ofBackup] = [...plans].find(([text]) => text.includes("house.backed-up"))!
      assert.strictEqual(
        ofBackup.match(/journal USING (?:COVERING )?INDEX journal_house \(kind=\?\)/g)?.length,
        2,
        ofBackup,
      )
    }),
  )
})
