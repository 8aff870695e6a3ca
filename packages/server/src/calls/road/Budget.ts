/** What a call of a priced tool is paid from. The room of runs keeps the books; a call is paid for before it runs, or refused. */
import type { CallRun, PrincipalId } from "@stoa/contract"
import { Context, Effect } from "effect"

export interface Payment {
  readonly principal: PrincipalId
  readonly run: CallRun | null
  readonly micros: number
}

export class Budget extends Context.Service<
  Budget,
  {
    /** Takes it, or says in a sentence which limit that would pass. */
    readonly pay: (payment: Payment) => Effect.Effect<void, string>
  }
>()("server/calls/road/Budget") {}
