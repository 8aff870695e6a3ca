/** A call of the API, in the form in which the page shows calls everywhere. */
import type * as Contract from "@stoa/contract"
import type { Plain } from "@stoa/sdk"
import type { MessageCall } from "../../feed/types.ts"

export type Call = Plain<Contract.Call>

/** How long it took, once it is over. */
const tookOf = ({ createdAt, settledAt }: Call): number | undefined =>
  settledAt === null ? undefined : Math.max(0, Date.parse(settledAt) - Date.parse(createdAt))

export const messageCallOf = (call: Call): MessageCall => {
  const { error, id, input, on, output, rule, run, state, tool } = call
  const durationMs = tookOf(call)
  return {
    id,
    tool,
    input,
    state,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(rule === null ? {} : { rule }),
    ...(run === undefined ? {} : { run }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(on?.kind === "decision" ? { decision: on.id } : {}),
  }
}
