import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Audit } from "../../../access/Audit.ts"
import { Grants } from "../../../access/Grants.ts"

export const auditHandlers = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const audit = yield* Audit
    return handlers.handle("list", ({ query }) => Effect.andThen(require("read", "audit"), audit.list(query)))
  }),
)
