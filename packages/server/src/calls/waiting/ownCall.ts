/** Whether somebody could make a call themselves, now: only then may they say what an agent's call is given. */
import type { AccessContext, Principal } from "@stoa/contract"
import { Effect } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { pausedBy, Pauses } from "../../access/limits/Pauses.ts"
import { Catalogue, everything } from "../catalogue/Catalogue.ts"

export const makeMayCall = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const pauses = yield* Pauses
  const tokens = yield* Tokens
  return Effect.fnUntraced(
    function* (who: { readonly principal: Principal; readonly context: AccessContext }, tool: string) {
      const caller = yield* tokens.callerNow(who.principal.id, who.context)
      const found = (yield* catalogue.view(caller, everything)).find(tool)
      if (found === undefined) return false
      const { name } = found.tool.definition
      const stop = pausedBy(yield* pauses.now, { principal: caller.principal, tool: name, server: found.server })
      return stop === undefined && (yield* catalogue.judge(caller, name)).verdict !== "deny"
    },
    Effect.orElseSucceed(() => false),
  )
})
