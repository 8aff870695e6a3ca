/**
 * Every text that the house signs or checks a signature of, one entry per purpose, and the only code that makes a mac.
 * Each text has one reading: two different lists of fields never have the same text, in no two purposes. What others
 * sign too is made of netstrings (`<length in bytes>:<field>,`), which every language can make alike; what only the house
 * reads is a JSON array, or has fields of fixed width.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

const netstrings = (...fields: ReadonlyArray<string>): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field},`).join("")

const uuid = /^[0-9a-f]{32}$/
const fixedWidth = (...uuids: ReadonlyArray<string>): string => {
  if (!uuids.every((one) => uuid.test(one))) throw new Error("not the 32 digits of a UUID")
  return uuids.join("")
}

/** A time as it is signed: digits without a leading zero, so that one moment is written in one way. */
const digits = (seconds: number): string => {
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new Error("not whole seconds since 1970")
  return String(seconds)
}

const texts = {
  /** The house posts a call to the service of a webhook tool. */
  webhookCall: (seconds: number, call: string, body: string) =>
    netstrings("stoa/webhook-call/2", digits(seconds), call, body),
  /** The service posts the result. Labelled differently, so that neither side can be sent its own words. */
  webhookResult: (seconds: number, call: string, body: string) =>
    netstrings("stoa/webhook-result/2", digits(seconds), call, body),
  /** A service calls an agent. Without an idempotency key the field is empty; an empty key is refused. */
  agentTrigger: (seconds: number, agent: string, key: string, body: string) =>
    netstrings("stoa/agent-trigger/2", digits(seconds), agent, key, body),
  /** A link that answers a decision as a person. Its key is used for nothing else. */
  decisionLink: (decision: string, person: string) => fixedWidth(decision, person),
  /** The ends of the audit trail. Stored: the text must not change. */
  auditHead: (seq: number, hash: string, cursor: number) => JSON.stringify(["head", seq, hash, cursor]),
  auditAnchor: (seq: number, hash: string) => JSON.stringify(["anchor", seq, hash]),
  /** A line of exported memory. Stored by people: the text must not change. Its key is used for nothing else. */
  memoryLine: (owner: string, fields: ReadonlyArray<unknown>) => JSON.stringify([owner, ...fields]),
  /** What the state that an MCP client carries for us is bound to. */
  clientState: (principal: string, endpoint: string, method: string, params: unknown) =>
    JSON.stringify(["stoa/client-state/2", principal, endpoint, method, params ?? null]),
}

export type Purpose = keyof typeof texts

declare const made: unique symbol
/** A text that was made here: nothing else can be signed. */
export type SignedText = string & { readonly [made]: Purpose }

export const signedText = texts as {
  readonly [P in Purpose]: (...fields: Parameters<(typeof texts)[P]>) => SignedText
}

/** In hexadecimal. */
export const macOf = (key: Redacted.Redacted, text: SignedText): string =>
  createHmac("sha256", Redacted.value(key)).update(text).digest("hex")

/** Whether a mac, or the beginning of one, belongs to this text. In constant time. */
export const isMacOf = (key: Redacted.Redacted, text: SignedText, mac: string): boolean => {
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(key, text).slice(0, mac.length))]
  return mac.length >= shortestMac && given.length === expected.length && timingSafeEqual(given, expected)
}

/** 160 bits. */
export const shortestMac = 40
