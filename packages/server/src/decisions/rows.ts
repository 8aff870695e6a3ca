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
  Reach,
  RiskLevel,
  SpaceId,
} from "@stoa/contract"
import { DateTime, Effect, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Reason, Voter } from "./electorate/electorate.ts"

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
  /** The newest event of the journal when it was asked. */
  readonly askedAfter: number
  readonly approver: PrincipalId | null
  readonly people: number
  /** How far an approval may reach at most. */
  readonly maxReach: Reach
  readonly space: SpaceId | null
  /** The outermost run that asks. */
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

/** A row as people see it: with the asker (`kind name`), and those who were asked (`principal reason`, a line each). */
export interface FullRow extends DecisionRow {
  readonly asker: string
  readonly voters: string | null
}

const moment = (text: string | null): DateTime.Utc | null => (text === null ? null : DateTime.makeUnsafe(text))
const json = (text: string) => JSON.parse(text) as Schema.Json

/** The most names worth sending. */
const maxNamed = 100

/** The word before the first space, and the rest. */
const wordAndRest = (text: string): readonly [string, string] => {
  const at = text.indexOf(" ")
  return [text.slice(0, at), text.slice(at + 1)]
}

export const votersIn = ({ voters }: Pick<FullRow, "voters">): ReadonlyArray<Voter> =>
  (voters?.split("\n") ?? []).map((line) => {
    const [principal, reason] = wordAndRest(line)
    return { principal: principal as PrincipalId, reason: reason as Reason }
  })

/** Whether the tool or a policy names this principal as an approver. */
export const isNamed = (one: Pick<FullRow, "voters">, principal: PrincipalId): boolean =>
  votersIn(one).some((voter) => voter.principal === principal && voter.reason === "named")

export const isOfPerson = ({ asker }: Pick<FullRow, "asker">): boolean => wordAndRest(asker)[0] === "person"

export const decisionFrom = (
  row: FullRow,
  about: {
    readonly mayAnswer: ReadonlyArray<PrincipalId>
    readonly approvals: ReadonlyArray<PrincipalId>
    readonly options?: Decision["options"]
  },
): Decision => {
  const { call, customUi, input, pinnedAt, riskLevel, rule, server, tool, url, value } = row
  const schema = row.schema ?? row.form
  const [kind, name] = wordAndRest(row.asker)
  const isOfCall = call !== null && input !== null
  // Every field is written out, the optional ones last, so that thousands of these objects have one shape.
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    call: isOfCall ? { id: call, tool: tool!, input: json(input), ...(riskLevel === null ? {} : { riskLevel }) } : null,
    question: row.question,
    askedBy: row.askedBy,
    asker: { name, kind: kind as PrincipalKind },
    mayAnswer: about.mayAnswer.slice(0, maxNamed),
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
    ...(isOfCall ? { inputSize: Buffer.byteLength(input), inputDigest: inputDigestOf(input) } : {}),
    ...(schema === null ? {} : { schema: json(schema) as JsonSchema }),
    ...(customUi === null ? {} : { customUI: customUi }),
    ...(rule === null ? {} : { rule }),
    ...(url === null ? {} : { url }),
    ...(server === null || pinnedAt === null ? {} : { pinned: { server, since: DateTime.makeUnsafe(pinnedAt) } }),
    ...(value === null ? {} : { value: json(value) }),
    ...(about.options === undefined ? {} : { options: about.options }),
  }
}

/** As people see it, and as an answer may repeat it. */
export const inputDigestOf = (input: string): string => hash("sha256", input, "hex")

/** One approval of two, and the person who really gave it. */
export interface FirstApproval {
  readonly decision: string
  readonly principal: PrincipalId
}

/** The columns of a `FullRow` in one statement: a second statement would have to name each id of a page. */
const full = `decisions.*,
  (SELECT p.kind || ' ' || p.name FROM principals p WHERE p.id = decisions.asked_by) AS asker,
  (SELECT string_agg(v.principal || ' ' || v.reason, '\n') FROM decision_voters v WHERE v.decision = decisions.id) AS voters`

export const makeRows = Effect.map(SqlClient.SqlClient, (sql) => ({
  full: sql.literal(full),

  byId: Effect.fnUntraced(function* (id: string) {
    return (yield* Effect.orDie(sql<DecisionRow>`SELECT * FROM decisions WHERE id = ${id}`))[0]
  }),

  fullById: Effect.fnUntraced(function* (id: string) {
    return (yield* Effect.orDie(sql<FullRow>`SELECT ${sql.literal(full)} FROM decisions WHERE id = ${id}`))[0]
  }),

  /** Only for those that need several people. For the others, the approver is the one who answered. */
  approvers: Effect.fnUntraced(function* (decisions: ReadonlyArray<Pick<DecisionRow, "id" | "people">>) {
    const ids = decisions.filter(({ people }) => people > 1).map(({ id }) => id)
    if (ids.length === 0) return new Map<string, ReadonlyArray<FirstApproval>>()
    const rows = yield* Effect.orDie(
      sql<FirstApproval>`SELECT decision, principal FROM decision_approvals
        WHERE ${sql.in("decision", ids)} ORDER BY at`,
    )
    return Map.groupBy(rows, ({ decision }) => decision)
  }),
}))
