import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../../access/Audit.ts"
import { Grants } from "../../../access/Grants.ts"
import { Readers } from "../../../store/Readers.ts"

export const auditHandlers = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const audit = yield* Audit
    const readers = yield* Readers
    // Whoever has just done something finds it here: the trail is a reader's, and may be a step behind.
    const upToDate = Effect.timeoutOption(readers.receipt("audit"), "2 seconds")
    return handlers.handle("list", ({ query }) =>
      Effect.andThen(require("read", "audit"), Effect.andThen(upToDate, audit.list(query))),
    )
  }),
)
