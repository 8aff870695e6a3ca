/** What could not be read becomes a BadInput that names the path. What could not be written is a fault of ours. */
import { BadInput, issuesOf, Reading } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

const slots: Record<string, string> = { Payload: "body", Params: "path", Query: "query", Headers: "headers" }

export const layerReading = HttpApiMiddleware.layerSchemaErrorTransform(Reading, (error) => {
  const slot = slots[error.kind]
  if (slot === undefined) return Effect.die(error.cause)
  return Effect.fail(
    new BadInput({
      issues: issuesOf(error.cause).map(({ message, path }) => ({
        // A body's own paths need no prefix; a wrong query or path says where it stands.
        path: slot === "body" ? path || "body" : [slot, path].filter((part) => part !== "").join("."),
        message,
      })),
    }),
  )
})
