/**
 * A tool whose work another service does (executionType `external`, S1-07): the call is posted to the service, signed,
 * and its answer is the result. Status 202 means that the result comes later, by a signed callback.
 */
import { type Executions, type Issue, type Placeholder, ToolExecutionError } from "@stoa/contract"
import { Egress, type EgressResponse } from "@stoa/tools"
import { Clock, Effect, Redacted } from "effect"
import { outsideKeyOf } from "../../access/identity/IdempotencyKeys.ts"
import { EgressRules } from "../../access/secrets/EgressRules.ts"
import { signedText } from "../../access/secrets/SignedText.ts"
import { HouseAddress } from "../waiting/HouseAddress.ts"
import { type HandlerCall, PendingResult } from "../road/Handler.ts"
import type { Configured, Kind } from "./Kind.ts"
import { makeSigningKey, sign, signatureHeader } from "../waiting/Signatures.ts"
import { dataOf, excerptOf, headersOf } from "./httpResponse.ts"
import { fillHeaders, type HeaderTemplates, readHeaderTemplates, whereOf } from "./templates/requestTemplate.ts"
import { houseParts, nameOf, readText, type Report } from "./templates/template.ts"
import { makeValues } from "./templates/values.ts"
import { traceOf } from "../../store/journal/Trace.ts"
import { fillUrl, houseInUrl, readUrlTemplate, sameShape, type UrlTemplate } from "./templates/urlTemplate.ts"

type Tool = Configured<"webhook">

/** The default time limit for an answer by callback: an hour. */
const usualCallback = 3_600_000
const maxAnswerBytes = 1 << 20

interface WebhookTemplate {
  readonly url: UrlTemplate
  readonly headers: HeaderTemplates
  readonly house: ReadonlyArray<Placeholder>
}

const read = (
  execution: Executions["webhook"],
): { template: WebhookTemplate | undefined; issues: ReadonlyArray<Issue> } => {
  const issues: Array<Issue> = []
  const report: Report = (path, message) => issues.push({ path, message })
  const path = "execution.webhookUrl"
  const url = readUrlTemplate(readText(execution.webhookUrl, path, report), path, report)
  const headers = readHeaderTemplates(execution.headers ?? {}, "execution.headers", report)
  if (url === undefined) return { template: undefined, issues }
  return {
    template: { url, headers, house: [...houseInUrl(url), ...headers.flatMap(([, parts]) => houseParts(parts))] },
    issues,
  }
}

/** The values of the house that are sent along. */
export const webhookPlaceholders = (execution: Executions["webhook"]): ReadonlyArray<Placeholder> =>
  read(execution).template?.house ?? []

/** What the service gets: the tool, the call, the input (S1-30), and where to send a later answer. */
const bodyOf = (tool: Tool, input: Readonly<Record<string, unknown>>, call: HandlerCall, address: string): string =>
  JSON.stringify({
    tool: tool.form.name,
    callId: call.id,
    input,
    principal: call.principal,
    callback: `${address}/api/v1/calls/${call.id}/result`,
  })

export const webhookKind = Effect.gen(function* () {
  const address = yield* HouseAddress
  const valuesOf = yield* makeValues
  const rules = yield* EgressRules
  const signingKey = yield* makeSigningKey

  const settle = Effect.fnUntraced(function* (
    tool: Tool,
    answer: EgressResponse,
    where: string,
    { meta, redactor }: HandlerCall,
  ) {
    const { status } = answer
    meta.set("status", status)
    meta.set("headers", headersOf(answer))
    if (status === 202) return new PendingResult("callback", tool.execution.callbackTimeout ?? usualCallback)
    const fail = (message: string) =>
      new ToolExecutionError({ message: `${where} ${message}`, toolName: tool.form.name })
    if (status < 200 || status > 299) return yield* fail(`answered ${status}${excerptOf(answer, redactor)}`)
    if (answer.truncated) return yield* fail(`gave a longer answer than ${maxAnswerBytes} bytes`)
    return dataOf(answer)
  })

  const run = Effect.fnUntraced(function* (
    tool: Tool,
    template: WebhookTemplate,
    input: Readonly<Record<string, unknown>>,
    call: HandlerCall,
  ) {
    const { name } = tool.form
    const values = yield* valuesOf(name, template.house, call)
    const problems: Array<string> = []
    const filling = { input, problems, house: (place: Placeholder) => values.get(nameOf(place))! }
    const url = fillUrl(template.url, filling)
    const headers = fillHeaders(template.headers, filling)
    if (problems.length === 0 && !sameShape(template.url, url)) problems.push("the address would lead elsewhere")
    if (problems.length > 0)
      return yield* new ToolExecutionError({ message: `Nothing was sent: ${problems.join("; ")}.`, toolName: name })
    const key = yield* Effect.mapError(
      signingKey(name, tool.execution.signingSecret),
      (error) => new ToolExecutionError({ message: error.message, toolName: name }),
    )
    call.redactor.add(Redacted.value(key))
    const body = bodyOf(tool, input, call, yield* address.known)
    // wall clock: the service compares it with its own.
    const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const egress = yield* Egress
    const method = tool.execution.method ?? "POST"
    const where = whereOf({ ...template, method }, input)
    const answer = yield* rules
      .within(
        egress.fetch({
          tool: name,
          url,
          method,
          headers: {
            "content-type": "application/json",
            "idempotency-key": outsideKeyOf(call),
            "stoa-call": call.id,
            ...traceOf(call),
            [signatureHeader]: sign(key, seconds, (at) => signedText.webhookCall(at, call.id, body)),
            ...headers,
          },
          body,
          cut: true,
          maxBytes: maxAnswerBytes,
        }),
      )
      .pipe(
        Effect.mapError(
          (error) => new ToolExecutionError({ message: call.redactor.text(error.message), toolName: error.toolName }),
        ),
      )
    return yield* settle(tool, answer, where, call)
  })

  const kind: Kind<"webhook"> = {
    effects: "outside",
    faults: (tool) => read(tool.execution).issues,
    handler: (tool) => {
      const { template } = read(tool.execution)
      return (input, call) =>
        template === undefined
          ? new ToolExecutionError({
              message: "It is configured wrongly, and nothing was sent",
              toolName: tool.form.name,
            })
          : run(tool, template, input, call)
    },
    preview: (tool, input) => ({
      method: tool.execution.method ?? "POST",
      url: tool.execution.webhookUrl,
      headers: { ...tool.execution.headers, [signatureHeader]: "t=…,v2=…" },
      body: { tool: tool.form.name, input: input as never },
    }),
  }
  return kind
})
