/**
 * The budget that calls of priced tools are paid from. The room of runs keeps the accounts; a call is paid for before
 * it runs, or refused.
 */
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
    /** Pays, or says in a sentence which limit the payment would exceed. */
    readonly pay: (payment: Payment) => Effect.Effect<void, string>
  }
>()("server/calls/road/Budget") {}
