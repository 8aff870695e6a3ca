/** An error as its problem document, for refusals outside the API's own handlers. */
import { bodyOf, problemType, statusOf } from "@stoa/contract"
import { HttpServerResponse } from "effect/http"

interface Failure {
  readonly _tag: string
  readonly message: string
}

interface Problem {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** When to retry if the house is closing, or has lost its database for a moment. */
const awayHeaders = { "retry-after": "2" }

export const problemOf = (failure: Failure): Problem => {
  // An error is an instance of its schema, and that schema states its status.
  const status = statusOf(failure.constructor as never)
  const { _tag, ...fields } = failure
  const headers = _tag === "Unavailable" ? awayHeaders : {}
  return { status, body: { ...fields, ...bodyOf(_tag, status, failure.message) }, headers }
}

export const problemResponse = (failure: Failure): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = problemOf(failure)
  return HttpServerResponse.jsonUnsafe(body, { status, contentType: problemType, headers })
}
