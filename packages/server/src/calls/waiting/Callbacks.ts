/** Who may send the result of a webhook tool: anybody with the tool's key. */
import { Missing, readTool, type ResultSignature, WrongState } from "@stoa/contract"
import { Redactor } from "@stoa/tools"
import { Clock, Effect, Option, Redacted } from "effect"
import { Grants } from "../../access/rights/Grants.ts"
import { Confidential } from "../../access/secrets/Confidential.ts"
import { makeReveal } from "../../access/secrets/Reveal.ts"
import { webhookPlaceholders } from "../kinds/webhook.ts"
import { signedText } from "../../access/secrets/SignedText.ts"
import { isSigned, makeSigningKey } from "./Signatures.ts"
import { Tools } from "../catalogue/Tools.ts"
import type { CallRow } from "../road/record/rows.ts"

/** The key of a configured webhook tool. */
const makeCallbackKey = Effect.gen(function* () {
  const tools = yield* Tools
  const signingKey = yield* makeSigningKey
  return Effect.fnUntraced(function* (name: string) {
    const read = readTool(yield* tools.get(name))
    if (!read.ok || read.tool.kind !== "webhook") return yield* new Missing({ noun: "webhook tool", ref: name })
    return yield* signingKey(name, read.tool.execution.signingSecret)
  })
})

/** The key for an admin of the tool to hand to its service. */
export const makeHandedCallbackKey = Effect.gen(function* () {
  const tools = yield* Tools
  const { require } = yield* Grants
  const keyOfTool = yield* makeCallbackKey
  return Effect.fnUntraced(function* (name: string) {
    yield* require("admin", `tools/${name}`)
    const { execution } = yield* tools.get(name)
    // A secret is never shown again to anybody: the person who set it knows it.
    if (execution?.["signingSecret"] !== undefined)
      return yield* new WrongState({
        detail: `"${name}" is signed with a secret that was set here, and secrets are not shown.`,
      })
    return yield* keyOfTool(name)
  })
})

/** Removes the secrets that a webhook was sent from a result that comes later. */
export const makeCallbackRedactor = Effect.gen(function* () {
  const tools = yield* Tools
  const reveal = yield* makeReveal
  const signingKey = yield* makeSigningKey
  const confidential = yield* Confidential
  return Effect.fnUntraced(function* (name: string) {
    // A secret may have changed since it was sent; as long as the house keeps running, it knows the old value too.
    const redactor = new Redactor()
    redactor.addAll(confidential)
    const read = Option.map(yield* Effect.option(tools.get(name)), readTool)
    if (read._tag === "None" || !read.value.ok || read.value.tool.kind !== "webhook") return redactor
    const { execution } = read.value.tool
    for (const place of webhookPlaceholders(execution)) yield* Effect.ignore(reveal(place, redactor))
    const key = yield* Effect.option(signingKey(name, execution.signingSecret))
    if (key._tag === "Some") redactor.add(Redacted.value(key.value))
    return redactor
  })
})

/** A result that the service of a webhook tool has signed. */
export interface SignedResult {
  readonly call: string
  readonly signature: string
  readonly body: Effect.Effect<string>
}

/**
 * Checks the signature of a result, if the call waits for a callback and went to that service. What it gives out proves
 * that it did: nobody else can make one.
 */
export const makeCallbackCheck = Effect.fnUntraced(function* (
  byId: (id: string) => Effect.Effect<CallRow | undefined>,
) {
  const keyOfTool = yield* makeCallbackKey
  const given = new WeakSet<ResultSignature>()

  const signedBy = Effect.fn("Calls.signedBy")(function* ({ body, call, signature }: SignedResult) {
    const row = yield* byId(call)
    if (row?.onKind !== "callback") return undefined
    const key = yield* Effect.option(keyOfTool(row.tool))
    // wall clock: the service has signed a moment.
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    if (key._tag === "None") return undefined
    const sent = yield* body
    if (!isSigned(key.value, signature, now, (at) => signedText.webhookResult(at, row.id, sent))) return undefined
    const proof: ResultSignature = Object.freeze({ call: row.id, tool: row.tool })
    given.add(proof)
    return proof
  })

  /** Whether this signature was checked here, for the result of this very call. */
  const isProven = (row: CallRow, by: ResultSignature): boolean => given.has(by) && by.call === row.id

  return { signedBy, isProven }
})
