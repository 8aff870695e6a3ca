/** Rows of decisions as values. */
import { hash } from "node:crypto"
import type {
  AnswerVerdict,
  CallId,
  Decision,
  DecisionId,
  JsonSchema,
  PrincipalId,
  PrincipalKind,
  RiskLevel,
  SpaceId,
} from "@stoa/contract"
import { DateTime, Effect, type Schema } from "effect"
import { SqlClient } from "effect/sql"

export interface DecisionRow {
  readonly id: DecisionId
  readonly kind: Decision["kind"]
  readonly state: Decision["state"]
  readonly call: CallId | null
  readonly tool: string | null
  readonly input: string | null
  readonly riskLevel: RiskLevel | null
  readonly question: string
  readonly schema: string | null
  readonly form: string | null
  readonly customUi: string | null
  readonly digest: string
  readonly fingerprint: string | null
  readonly policy: number
  readonly askedBy: PrincipalId
  /** When the call was made. */
  readonly askedAt: string
  readonly approver: PrincipalId | null
  readonly people: number
  readonly space: SpaceId | null
  /** The outermost run it is asked for. */
  readonly run: string | null
  readonly rule: string | null
  readonly url: string | null
  readonly server: string | null
  readonly pinnedAt: string | null
  readonly escalatesAt: string | null
  readonly escalatedAt: string | null
  readonly expiresAt: string
  readonly createdAt: string
  readonly verdict: AnswerVerdict | null
  readonly value: string | null
  readonly reach: string | null
  readonly note: string | null
  readonly answeredBy: PrincipalId | null
  readonly answeredAt: string | null
}

const moment = (text: string | null): DateTime.Utc | null => (text === null ? null : DateTime.makeUnsafe(text))
const json = (text: string) => JSON.parse(text) as Schema.Json

/** The largest list of names that is worth sending. */
const mostNamed = 100

export const decisionFrom = (
  row: DecisionRow,
  about: {
    readonly asker: Decision["asker"]
    readonly mayAnswer: ReadonlyArray<PrincipalId>
    readonly approvals: ReadonlyArray<PrincipalId>
  },
): Decision => {
  const { call, customUi, input, pinnedAt, riskLevel, rule, server, tool, url, value } = row
  const schema = row.schema ?? row.form
  const isOfCall = call !== null && input !== null
  // Every field by its name, and those that may be missing last: thousands of them have one shape.
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    call: isOfCall ? { id: call, tool: tool!, input: json(input), ...(riskLevel === null ? {} : { riskLevel }) } : null,
    question: row.question,
    askedBy: row.askedBy,
    asker: about.asker,
    mayAnswer: about.mayAnswer.slice(0, mostNamed),
    people: row.people,
    approvals: about.approvals,
    space: row.space,
    expiresAt: DateTime.makeUnsafe(row.expiresAt),
    escalatesAt: moment(row.escalatesAt),
    escalatedAt: moment(row.escalatedAt),
    onExpiry: "deny",
    createdAt: DateTime.makeUnsafe(row.createdAt),
    verdict: row.verdict,
    note: row.note,
    answeredBy: row.answeredBy,
    answeredAt: moment(row.answeredAt),
    ...(isOfCall ? { inputSize: Buffer.byteLength(input), inputDigest: hash("sha256", input, "hex") } : {}),
    ...(schema === null ? {} : { schema: json(schema) as JsonSchema }),
    ...(customUi === null ? {} : { customUI: customUi }),
    ...(rule === null ? {} : { rule }),
    ...(url === null ? {} : { url }),
    ...(server === null || pinnedAt === null ? {} : { pinned: { server, since: DateTime.makeUnsafe(pinnedAt) } }),
    ...(value === null ? {} : { value: json(value) }),
  }
}

/** An approval of two, and by whose hand it was given. */
export interface Approved {
  readonly decision: string
  readonly principal: PrincipalId
  readonly hand: PrincipalId
}

export const makeRows = Effect.map(SqlClient.SqlClient, (sql) => ({
  byId: Effect.fnUntraced(function* (id: string) {
    return (yield* Effect.orDie(sql<DecisionRow>`SELECT * FROM decisions WHERE id = ${id}`))[0]
  }),

  /** Of those that need several people. Whoever approves another is the one who answered it. */
  approvers: Effect.fnUntraced(function* (decisions: ReadonlyArray<Pick<DecisionRow, "id" | "people">>) {
    const ids = decisions.filter(({ people }) => people > 1).map(({ id }) => id)
    if (ids.length === 0) return new Map<string, ReadonlyArray<Approved>>()
    const rows = yield* Effect.orDie(
      sql<Approved>`SELECT decision, principal, coalesce(hand, principal) AS hand FROM decision_approvals
        WHERE ${sql.in("decision", ids)} ORDER BY at`,
    )
    return Map.groupBy(rows, ({ decision }) => decision)
  }),

  askers: Effect.fnUntraced(function* (ids: ReadonlyArray<PrincipalId>) {
    if (ids.length === 0) return new Map<PrincipalId, Decision["asker"]>()
    const rows = yield* Effect.orDie(
      sql<{ id: PrincipalId; name: string; kind: PrincipalKind }>`SELECT id, name, kind FROM principals
        WHERE ${sql.in("id", [...new Set(ids)])}`,
    )
    return new Map(rows.map(({ id, kind, name }) => [id, { name, kind }]))
  }),
}))
