/** Rows of decisions as values. */
import { Decision, type PrincipalId } from "@stoa/contract"
import { Schema } from "effect"

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
  readonly approver: PrincipalId | null
  readonly people: number
  readonly space: string | null
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
  mayAnswer: ReadonlyArray<PrincipalId>,
  approvals: ReadonlyArray<PrincipalId>,
): Decision => {
  const { call, customUi, form, input, riskLevel, schema: answers, tool, value, ...rest } = row
  const schema = answers ?? form
  const json = (text: string): unknown => JSON.parse(text)
  return decode({
    ...rest,
    call:
      call === null
        ? null
        : { id: call, tool, input: json(input ?? "null"), ...(riskLevel === null ? {} : { riskLevel }) },
    ...(schema === null ? {} : { schema: json(schema) }),
    ...(customUi === null ? {} : { customUI: customUi }),
    ...(value === null ? {} : { value: json(value) }),
    mayAnswer: row.state === "open" ? mayAnswer.slice(0, mostNamed) : [],
    approvals,
    onExpiry: "deny",
  })
}
