import { Api, AuditChain } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../../../access/audit/Audit.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Principals } from "../../../../access/identity/Principals.ts"
import { Readers } from "../../../../store/journal/readers/Readers.ts"

export const auditHandlers = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const audit = yield* Audit
    const principals = yield* Principals
    const readers = yield* Readers
    // A caller must find what it has just done: the trail is written by a reader, which may be a step behind.
    const upToDate = Effect.timeoutOption(readers.receipt("audit"), "2 seconds")
    return handlers.handleAll({
      chain: Effect.fnUntraced(function* () {
        yield* require("read", "audit")
        yield* upToDate
        const { brokenAt, rows, sealed, why } = yield* audit.verify
        return new AuditChain({ rows, whole: brokenAt === null, brokenAt, why, sealed })
      }),
      export: () => Effect.as(Effect.andThen(require("read", "audit"), upToDate), audit.export),
      list: Effect.fnUntraced(function* ({ query: { principal, ...query } }) {
        yield* require("read", "audit")
        // An unknown name is a mistake, and not the same as a principal that has done nothing.
        const whose = principal === undefined ? {} : { principal: (yield* principals.get(principal)).id }
        yield* upToDate
        return yield* audit.list({ ...query, ...whose })
      }),
    })
  }),
)
