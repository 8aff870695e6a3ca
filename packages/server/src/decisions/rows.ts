/** Rows of decisions as values. */
import { hash } from "node:crypto"
import { Decision, type PrincipalId, type PrincipalKind } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

export interface DecisionRow {
  readonly id: string
  readonly kind: Decision["kind"]
  readonly state: Decision["state"]
  readonly call: string | null
  readonly tool: string | null
  readonly input: string | null
  readonly riskLevel: string | null
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
  readonly space: string | null
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
  readonly verdict: string | null
  readonly value: string | null
  readonly reach: string | null
  readonly note: string | null
  readonly answeredBy: string | null
  readonly answeredAt: string | null
}

const decode = Schema.decodeUnknownSync(Decision)

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
  const {
    call,
    customUi,
    form,
    input,
    pinnedAt,
    riskLevel,
    rule,
    schema: answers,
    server,
    tool,
    url,
    value,
    ...rest
  } = row
  const schema = answers ?? form
  const json = (text: string): unknown => JSON.parse(text)
  const asked =
    call === null || input === null
      ? { call: null }
      : {
          call: { id: call, tool, input: json(input), ...(riskLevel === null ? {} : { riskLevel }) },
          inputSize: Buffer.byteLength(input),
          inputDigest: hash("sha256", input, "hex"),
        }
  return decode({
    ...rest,
    ...asked,
    ...(schema === null ? {} : { schema: json(schema) }),
    ...(customUi === null ? {} : { customUI: customUi }),
    ...(rule === null ? {} : { rule }),
    ...(url === null ? {} : { url }),
    ...(server === null || pinnedAt === null ? {} : { pinned: { server, since: pinnedAt } }),
    ...(value === null ? {} : { value: json(value) }),
    asker: about.asker,
    mayAnswer: about.mayAnswer.slice(0, mostNamed),
    approvals: about.approvals,
    onExpiry: "deny",
  })
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

  approvers: Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
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
