/**
 * A tool as an operator configures it, in seed 001's JSON form (S1-22), and the one table that says which kind of tool
 * a configuration makes. Read in two steps, so that a fault is named by its path and not by a list of all alternatives:
 * first the form, then `execution` for that kind.
 */
import { type Result, Schema } from "effect"
import { PrincipalRef, Role } from "../access/identity/Principal.ts"
import { Reach } from "../decisions/Reach.ts"
import { type Issue, issuesOf } from "../Problem.ts"
import { ExecutionType, JsonSchema, RiskLevel, ToolAnnotations, Visibility } from "./Tool.ts"

/** How a configured tool runs. `hosted` and `mcp` come from processes and servers, not from this form. */
export const ToolKind = Schema.Literals(["http", "webhook", "ui", "image", "compute", "static", "agent"])
export type ToolKind = typeof ToolKind.Type

/** 1 to 64 characters that every model API accepts; `__` stands for `/` on the wire and is never part of a name. */
const toolName = /^(?!.*__)[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/
export const ConfiguredToolName = Schema.String.check(
  Schema.isPattern(toolName, {
    message: "must be a name of 1 to 64 letters, digits, _ . or -, beginning with a letter or digit, without __",
  }),
)

const People = Schema.Array(PrincipalRef).check(Schema.isMinLength(1), Schema.isMaxLength(20))
const Term = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * 24 * 3600 }))

/** Who approves calls of a tool that needs approval, and until when. */
export const ApprovalRule = Schema.Struct({
  /** The one person who may; by default the people of the call's space, or the admins. */
  approver: Schema.optionalKey(PrincipalRef),
  /** Several people, each of whom may. */
  approvers: Schema.optionalKey(People),
  /** Two: the second approval, by another person, closes it. */
  people: Schema.optionalKey(Schema.Literals([1, 2])),
  /**
   * How far one approval reaches at most. Absent: `always`, or `once` if the risk is critical. `once` is for a tool whose
   * input is what people approve: a payment, a text that is sent, a permission.
   */
  reach: Schema.optionalKey(Reach),
  /** Denied if it is not answered within this time. */
  expiresInSeconds: Schema.optionalKey(Term),
  /**
   * If it is not answered within this time, these may answer too: people by name, or everybody with a role
   * (`role:admin`).
   */
  escalation: Schema.optionalKey(Schema.Struct({ afterSeconds: Term, to: People })),
})
export type ApprovalRule = typeof ApprovalRule.Type

/** How far one approval reaches under this rule. Where two people must approve, they approve each call. */
export const furthestReach = ({ people, reach }: ApprovalRule, risk: RiskLevel): Reach =>
  people === 2 ? "once" : (reach ?? (risk === "critical" ? "once" : "always"))

/** Contradictions in such a rule. */
export const approvalFaults = (rule: ApprovalRule, path: string): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  const { approver, approvers, escalation, expiresInSeconds, people } = rule
  if (people === 2 && new Set([...(approver === undefined ? [] : [approver]), ...(approvers ?? [])]).size === 1)
    issues.push({ path, message: "one named approver cannot be two people; leave one of the two out" })
  // An approval that nobody gives counts as a no after a day.
  if (escalation !== undefined && escalation.afterSeconds >= (expiresInSeconds ?? 24 * 3600))
    issues.push({
      path: `${path}.escalation.afterSeconds`,
      message: "must be smaller than expiresInSeconds (default: 86,400, one day)",
    })
  for (const [place, whom] of (escalation?.to ?? []).entries())
    if (whom.startsWith("role:") && !(Role.literals as ReadonlyArray<string>).includes(whom.slice(5)))
      issues.push({ path: `${path}.escalation.to.${place}`, message: `there is no ${whom.replace(":", " ")}` })
  return issues
}

const Timeout = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300_000 }))
const Headers = Schema.Record(Schema.String, Schema.String)
const Text = (most: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most))

/**
 * `execution`, kind by kind. `{{input.x}}` stands for the call's input, `${env.NAME}` and `${secret.NAME}` for values
 * of the house.
 */
export const executions = {
  http: Schema.Struct({
    url: Text(4000),
    method: Schema.optionalKey(Schema.Literals(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])),
    headers: Schema.optionalKey(Headers),
    /**
     * Added to the query of the address, encoded. Filled like the body: `{{input.x?}}` is left out if the input has no
     * `x`. A list repeats its key, null is left out, and an object is sent as its JSON text.
     */
    query: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    body: Schema.optionalKey(Schema.Json),
    timeout: Schema.optionalKey(Timeout),
    /** Only for a safe method; without the first attempt. */
    retries: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))),
    maxBytes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 * 1024 * 1024 }))),
  }),
  webhook: Schema.Struct({
    webhookUrl: Text(4000),
    method: Schema.optionalKey(Schema.Literals(["POST", "PUT"])),
    headers: Schema.optionalKey(Headers),
    timeout: Schema.optionalKey(Timeout),
    /** How long an answer by callback may take, in milliseconds. */
    callbackTimeout: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1000, maximum: 30 * 24 * 3_600_000 })),
    ),
    /** The named secret that signs; by default a key of the house's own, which admins can read. */
    signingSecret: Schema.optionalKey(Text(128)),
  }),
  ui: Schema.Struct({
    /** How long people may take, in milliseconds. */
    timeout: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1000, maximum: 30 * 24 * 3_600_000 }))),
    /** Seed 001 also puts it here. */
    display: Schema.optionalKey(Schema.Struct({ customUI: Text(128) })),
  }),
  image: Schema.Struct({
    provider: Text(64),
    model: Schema.optionalKey(Text(128)),
    size: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,5}x\d{1,5}$/))),
    quality: Schema.optionalKey(Text(32)),
    prompt: Schema.optionalKey(Text(32_000)),
    timeout: Schema.optionalKey(Timeout),
  }),
  compute: Schema.Struct({
    operation: Schema.Literals(["evaluate"]),
    expression: Text(32_000),
    timeout: Schema.optionalKey(Timeout),
  }),
  static: Schema.Struct({ output: Schema.optionalKey(Schema.Json) }),
  agent: Schema.Struct({
    agentConfig: Schema.Record(Schema.String, Schema.Json),
    includeContext: Schema.optionalKey(Schema.Boolean),
    timeout: Schema.optionalKey(Timeout),
  }),
} as const satisfies Record<ToolKind, Schema.Top>

export type Executions = { readonly [K in ToolKind]: (typeof executions)[K]["Type"] }

/** The form with `execution` unparsed: what the wire and the file accept. */
export const ToolForm = Schema.Struct({
  name: ConfiguredToolName,
  description: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000)),
  inputSchema: JsonSchema,
  executionType: ExecutionType,
  visibility: Schema.optionalKey(Visibility),
  /** What a space sees of its calls for certain callers: a principal's name or `role:x`. The first match decides. */
  visibilityFor: Schema.optionalKey(Schema.Record(Schema.String, Visibility)),
  execution: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  display: Schema.optionalKey(Schema.Struct({ customUI: Schema.optionalKey(Text(128)) })),
  riskLevel: Schema.optionalKey(RiskLevel),
  requiresApproval: Schema.optionalKey(Schema.Boolean),
  approval: Schema.optionalKey(ApprovalRule),
  outputSchema: Schema.optionalKey(JsonSchema),
  annotations: Schema.optionalKey(ToolAnnotations),
  /**
   * The price of one call in US dollars: it counts against budgets, and the call is refused if they have not enough
   * left.
   */
  price: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))),
}).annotate({ identifier: "ToolForm" })
export type ToolForm = typeof ToolForm.Type

/** One configured tool, completely read: the form, its kind, and `execution` for that kind. */
export type ToolConfiguration = {
  readonly [K in ToolKind]: { readonly form: ToolForm; readonly kind: K; readonly execution: Executions[K] }
}[ToolKind]

/** executionType -> kind, by the key that distinguishes them (S1-06 … S1-09). The first key that exists decides. */
const table: Record<ExecutionType, ReadonlyArray<readonly [key: string | null, kind: ToolKind]>> = {
  gateway: [
    ["url", "http"],
    ["agentConfig", "agent"],
    ["provider", "image"],
    ["operation", "compute"],
  ],
  external: [["webhookUrl", "webhook"]],
  space: [[null, "ui"]],
  // Like gateway, but never shown; with neither of its forms it answers by itself (S1-09, S1-32).
  internal: [
    ["url", "http"],
    ["agentConfig", "agent"],
    ["provider", "image"],
    ["operation", "compute"],
    [null, "static"],
  ],
}

export const kindOf = (executionType: ExecutionType, execution: Readonly<Record<string, unknown>> = {}) =>
  table[executionType].find(([key]) => key === null || key in execution)?.[1]

/** S1-16. */
export const defaultVisibility: Record<ExecutionType, Visibility> = {
  gateway: "visible",
  external: "visible",
  space: "visible",
  internal: "hidden",
}

const readers = Object.fromEntries(
  Object.entries(executions).map(([kind, schema]) => [
    kind,
    Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, { errors: "all", onExcessProperty: "error" }),
  ]),
) as Record<ToolKind, (execution: unknown) => Result.Result<unknown, Schema.SchemaError>>

const readForm = Schema.decodeUnknownResult(ToolForm, { errors: "all", onExcessProperty: "error" })

/** v1's types and keys, and what to write instead (S1-10, S1-11, S1-64, S1-91). */
const gone: Readonly<Record<string, string>> = {
  waiting: 'was removed; send a message with "wait" instead (send_message {text, wait: true})',
  basic:
    'is v1; use "space" for a tool with a user interface or "internal" for a static output; the CLI\'s "tools migrate" converts the file',
  request: 'is v1; use "gateway" with execution.url; the CLI\'s "tools migrate" converts the file',
  "ai-agent": 'is v1; use "gateway" with execution.agentConfig; the CLI\'s "tools migrate" converts the file',
  "image-generator": 'is v1; use "gateway" with execution.provider; the CLI\'s "tools migrate" converts the file',
  compute: 'is v1; use "gateway" or "internal" with execution.operation; the CLI\'s "tools migrate" converts the file',
  prebuilt: "is v1; these tools are part of the house and are not configured",
}
const goneKeys: Readonly<Record<string, string>> = {
  type: "is v1's word for executionType; the CLI's \"tools migrate\" converts the file",
  spaceId: "a tool does not name a space; its calls go to the caller's active one",
  targetSpaceId: "a tool does not name a space; its calls go to the caller's active one",
}

const v1Faults = (value: Readonly<Record<string, unknown>>): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  const { display, executionType } = value
  if (typeof executionType === "string" && executionType in gone)
    issues.push({ path: "executionType", message: `"${executionType}" ${gone[executionType]}` })
  for (const key of Object.keys(goneKeys)) if (key in value) issues.push({ path: key, message: goneKeys[key]! })
  if (typeof display === "boolean")
    issues.push({ path: "display", message: "v1's flag is gone: use visibility, and display.customUI for a component" })
  if (typeof display === "object" && display !== null && "format" in display)
    issues.push({
      path: "display.format",
      message: "a call's data is never turned into text; name a component in display.customUI",
    })
  return issues
}

/** Contradictory combinations, which no schema detects. */
const contradictions = (form: ToolForm): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  if (form.executionType === "internal" && form.visibility !== undefined && form.visibility !== "hidden")
    issues.push({
      path: "visibility",
      message: "an internal tool is never shown: remove `visibility`, or use the executionType gateway",
    })
  if (form.executionType === "space" && form.visibility === "hidden")
    issues.push({ path: "visibility", message: "people must see a tool that they act on: remove `visibility`" })
  for (const [whom, visibility] of Object.entries(form.visibilityFor ?? {})) {
    if (form.executionType === "internal" && visibility !== "hidden")
      issues.push({ path: `visibilityFor.${whom}`, message: "an internal tool is never shown" })
    if (form.executionType === "space" && visibility === "hidden")
      issues.push({ path: `visibilityFor.${whom}`, message: "people must see a tool that they act on" })
  }
  if (form.inputSchema["type"] !== undefined && form.inputSchema["type"] !== "object")
    issues.push({ path: "inputSchema.type", message: 'must be "object"' })
  if (form.approval !== undefined) issues.push(...approvalFaults(form.approval, "approval"))
  return issues
}

export type ToolRead =
  | { readonly ok: true; readonly tool: ToolConfiguration }
  | { readonly ok: false; readonly issues: ReadonlyArray<Issue> }

/** Reads one tool, or reports everything that is wrong with it, by path. */
export const readTool = (value: unknown): ToolRead => {
  const old = typeof value === "object" && value !== null ? v1Faults(value as Record<string, unknown>) : []
  if (old.length > 0) return { ok: false, issues: old }
  const read = readForm(value)
  if (read._tag === "Failure") return { ok: false, issues: issuesOf(read.failure) }
  const form = read.success
  const issues = [...contradictions(form)]
  const kind = kindOf(form.executionType, form.execution)
  if (kind === undefined) {
    const keys = table[form.executionType].map(([key]) => key).join(", ")
    const given = Object.keys(form.execution ?? {}).join(", ")
    const has = given === "" ? "" : `; it has ${given}`
    issues.push({ path: "execution", message: `a ${form.executionType} tool needs one of ${keys} here${has}` })
    return { ok: false, issues }
  }
  const execution = readers[kind](form.execution ?? {})
  if (execution._tag === "Failure")
    issues.push(
      ...issuesOf(execution.failure).map(({ message, path }) => ({
        path: path === "" ? "execution" : `execution.${path}`,
        message,
      })),
    )
  if (issues.length > 0 || execution._tag === "Failure") return { ok: false, issues }
  return { ok: true, tool: { form, kind, execution: execution.success } as ToolConfiguration }
}
