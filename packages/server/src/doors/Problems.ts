/** A failure as its problem document, for what is refused before or beside the API's own handlers. */
import { bodyOf, problemType, statusOf } from "@stoa/contract"
import { HttpServerResponse } from "effect/http"

interface Failure {
  readonly _tag: string
  readonly message: string
}

export const problemOf = (failure: Failure): { readonly status: number; readonly body: unknown } => {
  // An error is an instance of its schema, and that schema states its status.
  const status = statusOf(failure.constructor as never)
  const { _tag, ...fields } = failure
  return { status, body: { ...fields, ...bodyOf(_tag, status, failure.message) } }
}

export const problemResponse = (failure: Failure): HttpServerResponse.HttpServerResponse => {
  const { body, status } = problemOf(failure)
  return HttpServerResponse.jsonUnsafe(body, { status, contentType: problemType })
}
