/**
 * A tool that is one HTTP request (S1-23). Its output is the body of the answer, parsed if it is JSON; status and
 * headers are stored beside it in `meta`. An answer outside 2xx is a failed call. Input goes only where the
 * configuration puts it, and input without a placeholder is not sent, except that a POST, PUT or PATCH without a
 * configured body sends all of it.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Egress, type EgressFault, type EgressResponse, type Redactor } from "@stoa/tools"
import { Clock, DateTime, Effect, Option, Result, type Schema } from "effect"
import { outsideKeyOf } from "../../access/identity/IdempotencyKeys.ts"
import { EgressRules } from "../../access/secrets/EgressRules.ts"
import type { HandlerCall } from "../road/Handler.ts"
import type { Configured, Kind } from "./Kind.ts"
import { dataOf, excerptOf, headersOf } from "./httpResponse.ts"
import {
  fillRequest,
  isSafe,
  readRequestTemplate,
  type RequestTemplate,
  showRequest,
  whereOf,
} from "./templates/requestTemplate.ts"
import { nameOf } from "./templates/template.ts"
import { makeValues } from "./templates/values.ts"
import { traceOf } from "../../store/journal/Trace.ts"

const usualBytes = 1 << 20
/** If an answer asks for a longer pause, the request is not retried. */
const longestPause = 20_000

type Tool = Configured<"http">

const read = (tool: Tool) => {
  const issues: Array<{ readonly path: string; readonly message: string }> = []
  const template = readRequestTemplate(tool.execution, (path, message) => issues.push({ path, message }))
  return { template, issues }
}

/** Identifies the call to the service: one key per call, and the trace it belongs to. */
const ownHeaders = (method: string, call: HandlerCall): Readonly<Record<string, string>> => ({
  ...(isSafe(method) ? {} : { "idempotency-key": outsideKeyOf(call) }),
  ...traceOf(call),
})

const formOf = (body: Readonly<Record<string, Schema.Json>>): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(body))
    for (const one of Array.isArray(value) ? (value as ReadonlyArray<Schema.Json>) : [value])
      if (one !== null) form.append(name, typeof one === "string" ? one : JSON.stringify(one))
  return form.toString()
}

/** A string is sent as it is; anything else as JSON, or as a form if the headers say so. */
const written = (body: Schema.Json, type: string | undefined): { readonly type: string; readonly text: string } => {
  if (typeof body === "string") return { type: type ?? "text/plain; charset=utf-8", text: body }
  if (type !== undefined && /x-www-form-urlencoded/i.test(type) && typeof body === "object" && body !== null)
    return { type, text: formOf(body as Readonly<Record<string, Schema.Json>>) }
  return { type: type ?? "application/json", text: JSON.stringify(body) }
}

const retryAfter = Effect.fnUntraced(function* (answer: EgressResponse) {
  const said = answer.headers["retry-after"]
  if (said === undefined) return undefined
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000
  const until = DateTime.make(said)
  if (Option.isNone(until)) return undefined
  // wall clock: the other side named a moment.
  return Math.max(0, DateTime.toEpochMillis(until.value) - (yield* Clock.currentTimeMillis))
})

/** How long to wait before a retry; undefined: no retry. */
const pauseAfter = Effect.fnUntraced(function* (
  outcome: Result.Result<EgressResponse, ToolExecutionError>,
  attempt: number,
): Effect.fn.Return<number | undefined> {
  const usual = 250 * 2 ** attempt
  if (Result.isFailure(outcome))
    return (outcome.failure.cause as EgressFault | undefined)?.reason === "connection" ? usual : undefined
  const { status } = outcome.success
  if (![429, 502, 503, 504].includes(status)) return undefined
  const asked = yield* retryAfter(outcome.success)
  const pause = status === 429 ? asked : (asked ?? usual)
  return pause !== undefined && pause <= longestPause ? pause : undefined
})

/** The egress error without any revealed secret. */
const told = (error: ToolExecutionError, where: string, redactor: Redactor): ToolExecutionError => {
  const detail = error.message.slice(error.message.indexOf(" failed: ") + " failed: ".length)
  const reason = (error.cause as EgressFault | undefined)?.reason
  return new ToolExecutionError({
    message: `${where} failed: ${redactor.text(detail)}`,
    toolName: error.toolName,
    ...(reason === undefined ? {} : { cause: { reason, url: where } }),
  })
}

/** The output, or the error. */
const settle = Effect.fnUntraced(function* (
  answer: EgressResponse,
  name: string,
  where: string,
  { meta, redactor }: HandlerCall,
) {
  const { status } = answer
  meta.set("status", status)
  meta.set("headers", headersOf(answer))
  const fail = (message: string) => new ToolExecutionError({ message: `${where} ${message}`, toolName: name })
  if (status < 200 || status > 299) return yield* fail(`answered ${status}${excerptOf(answer, redactor)}`)
  if (answer.truncated) return yield* fail("gave a longer answer than this tool takes (execution.maxBytes)")
  return dataOf(answer)
})

export const httpKind = Effect.gen(function* () {
  const valuesOf = yield* makeValues
  const rules = yield* EgressRules

  const run = Effect.fnUntraced(function* (
    tool: Tool,
    template: RequestTemplate,
    input: Readonly<Record<string, unknown>>,
    call: HandlerCall,
  ) {
    const { name } = tool.form
    const { method } = template
    const values = yield* valuesOf(name, template.house, call)
    const problems: Array<string> = []
    const request = fillRequest(template, { input, problems, house: (place) => values.get(nameOf(place))! })
    if (problems.length > 0)
      return yield* new ToolExecutionError({ message: `Nothing was sent: ${problems.join("; ")}.`, toolName: name })
    const where = whereOf(template, input)
    const body = request.body === undefined ? undefined : written(request.body, request.headers["content-type"])
    const egress = yield* Egress
    const send = rules.within(
      egress.fetch({
        tool: name,
        url: request.url,
        method,
        headers: {
          ...ownHeaders(method, call),
          ...(body === undefined ? {} : { "content-type": body.type }),
          ...request.headers,
        },
        ...(body === undefined ? {} : { body: body.text }),
        // Cut, not refused, so that the status of a long answer is known.
        cut: true,
        keepAlive: true,
        maxBytes: tool.execution.maxBytes ?? usualBytes,
      }),
    )
    const retries = isSafe(method) ? (tool.execution.retries ?? 0) : 0
    for (let attempt = 0; ; attempt++) {
      const outcome = yield* Effect.result(send)
      const pause = attempt < retries ? yield* pauseAfter(outcome, attempt) : undefined
      if (pause !== undefined) {
        yield* Effect.sleep(pause)
        continue
      }
      if (Result.isFailure(outcome)) return yield* told(outcome.failure, where, call.redactor)
      return yield* settle(outcome.success, name, where, call)
    }
  })

  const kind: Kind<"http"> = {
    effects: "outside",
    faults: (tool) => read(tool).issues,
    handler: (tool) => {
      const { issues, template } = read(tool)
      const [fault] = issues
      return (input, call) =>
        template === undefined || fault !== undefined
          ? new ToolExecutionError({
              message: `"${tool.form.name}" is configured wrongly, and nothing was sent: ${fault?.path} ${fault?.message}`,
              toolName: tool.form.name,
            })
          : run(tool, template, input, call)
    },
    preview: (tool, input) => {
      const { template } = read(tool)
      return template === undefined ? null : showRequest(template, input)
    },
  }
  return kind
})
