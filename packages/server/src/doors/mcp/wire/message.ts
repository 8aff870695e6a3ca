/** Parses a body as JSON-RPC, once. Anything else becomes a JSON-RPC error. */
import { bodyFault, hasNul } from "../../node/Body.ts"
import type { JsonObject } from "../desk/Desk.ts"
import { codes, Fault } from "./Fault.ts"

export type Id = string | number

export type Message =
  | { readonly kind: "request"; readonly id: Id; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "response"; readonly id: Id; readonly result?: JsonObject; readonly error?: unknown }
  | { readonly kind: "faulty"; readonly id: Id | undefined; readonly fault: Fault }

export type Request = Extract<Message, { readonly kind: "request" }>

/** A batch is one request for the limits of time; this many messages are enough for any client we know. */
export const mostInBatch = 100

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Zero and the empty string are ids too. */
export const isId = (value: unknown): value is Id => typeof value === "string" || Number.isSafeInteger(value)

const nothing: JsonObject = {}
const invalid = (id: Id | undefined, message: string): Message => ({
  kind: "faulty",
  id,
  fault: new Fault(codes.invalidRequest, message),
})

export const readMessage = (value: unknown): Message => {
  if (!isObject(value)) return invalid(undefined, "A message is a JSON object")
  const { error, id, method, params, result } = value
  const named = isId(id) ? id : undefined
  if (value["jsonrpc"] !== "2.0") return invalid(named, 'A message has "jsonrpc": "2.0"')
  if (typeof method !== "string") {
    if (named === undefined || (result === undefined) === (error === undefined))
      return invalid(named, "A message has a method, or an id with a result or an error")
    return isObject(result) ? { kind: "response", id: named, result } : { kind: "response", id: named, error }
  }
  if (params !== undefined && !isObject(params))
    return id === undefined
      ? invalid(undefined, "params is an object")
      : { kind: "faulty", id: named, fault: new Fault(codes.invalidParams, "params is an object") }
  const meta = params?.["_meta"]
  if (meta !== undefined && !isObject(meta))
    return { kind: "faulty", id: named, fault: new Fault(codes.invalidParams, "_meta is an object") }
  if (id === undefined) return { kind: "notification", method, params: params ?? nothing }
  if (named === undefined) return invalid(undefined, "An id is a string or an integer")
  return { kind: "request", id: named, method, params: params ?? nothing }
}

/** The whole body: one message, several, or the fault of something that is neither. */
export const readBody = (text: string): Message | ReadonlyArray<Message> => {
  const fault = bodyFault(text)
  if (fault !== undefined) return invalid(undefined, `The message ${fault}`)
  if (hasNul(text)) return invalid(undefined, "The message has a NUL character (\\u0000); leave it out")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: "faulty", id: undefined, fault: new Fault(codes.parse, "The body is not JSON") }
  }
  if (!Array.isArray(value)) return readMessage(value)
  if (value.length === 0 || value.length > mostInBatch)
    return invalid(undefined, `A batch has 1 to ${mostInBatch} messages`)
  return value.map(readMessage)
}

export const metaOf = (params: JsonObject): JsonObject => (params["_meta"] as JsonObject | undefined) ?? nothing
