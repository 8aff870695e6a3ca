/**
 * The default record: the last thousand calls, in memory. It is lost with the process; a server stores rows instead.
 */
import { Context, Effect } from "effect"
import type { Call, CallRecord, OpenResult } from "./Ports.ts"
import { BoundedCache } from "../boundedCache.ts"
import { digestOf } from "../schema/schemaGuard.ts"

const kept = 1000
const keyOf = (call: Call): string => JSON.stringify([call.principal, call.tool, call.idempotencyKey])

interface Entry {
  readonly digest: string
  readonly opened: Exclude<OpenResult, { readonly state: "new" | "other" }>
}

export const makeRecordMemory = (): CallRecord => {
  const calls = new BoundedCache<string, Entry>(kept)
  const note = (call: Call, opened: Entry["opened"]) =>
    Effect.sync(() =>
      calls.set(keyOf(call), { digest: calls.find(keyOf(call))?.digest ?? digestOf(call.input), opened }),
    )
  return {
    open: (call) =>
      Effect.sync((): OpenResult => {
        const known = calls.find(keyOf(call))
        const digest = digestOf(call.input)
        if (known !== undefined && known.digest !== digest)
          return { state: "other", reason: "the same idempotency key was used with other arguments" }
        if (known === undefined || known.opened.state === "waiting")
          calls.set(keyOf(call), { digest, opened: { state: "running" } })
        return known?.opened ?? { state: "new" }
      }),
    wait: (call) => note(call, { state: "waiting" }),
    settle: (call, settled) => note(call, { state: "settled", settled }),
  }
}

export const RecordPort = Context.Reference<CallRecord>("tools/Record", { defaultValue: makeRecordMemory })
