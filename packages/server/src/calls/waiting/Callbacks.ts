/** Who may answer for a webhook tool: whoever has its key. */
import { Missing, readTool } from "@stoa/contract"
import { Clock, Effect } from "effect"
import { isSigned, makeSigningKey } from "./Signatures.ts"
import { Tools } from "../catalogue/Tools.ts"

/** The key of a configured webhook tool, for whoever checks a callback, and for an admin to hand to the service. */
export const makeCallbackKey = Effect.gen(function* () {
  const tools = yield* Tools
  const signingKey = yield* makeSigningKey
  return Effect.fnUntraced(function* (name: string) {
    const read = readTool(yield* tools.get(name))
    if (!read.ok || read.tool.kind !== "webhook") return yield* new Missing({ noun: "webhook tool", ref: name })
    return yield* signingKey(name, read.tool.execution.signingSecret)
  })
})

/** Whether a callback was signed by the service that the call went to. */
export const makeCallbackCheck = Effect.gen(function* () {
  const keyOfTool = yield* makeCallbackKey
  return Effect.fn("Signatures.verify")(function* (
    call: { readonly id: string; readonly tool: string },
    header: string,
    body: string,
  ) {
    const key = yield* Effect.option(keyOfTool(call.tool))
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    return key._tag === "Some" && isSigned(key.value, header, now, call.id, body)
  })
})
