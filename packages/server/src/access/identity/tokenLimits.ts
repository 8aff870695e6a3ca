/** What a caller may not do to tokens because of the token that it has, whatever its rights. */
import { type Caller, Forbidden, type Principal, type Token } from "@stoa/contract"
import { Effect } from "effect"

const refuse = (whose: Principal, rule: string, action = "write") =>
  Effect.fail(new Forbidden({ action, resource: `tokens/${whose.name}`, rule }))

type TokenCaller = Pick<Caller["Service"], "token" | "turn">

/** The token of a turn ends with the turn, and so does all that its program does: it makes and replaces no tokens. */
export const mayMake = (caller: TokenCaller, whose: Principal): Effect.Effect<void, Forbidden> =>
  caller.turn === undefined ? Effect.void : refuse(whose, "the token of a program's turn makes no tokens")

export const mayReplace = (caller: TokenCaller, whose: Principal): Effect.Effect<void, Forbidden> =>
  caller.turn === undefined ? Effect.void : refuse(whose, "the token of a program's turn rotates no tokens")

export const mayEnd = (caller: TokenCaller, it: Token, whose: Principal): Effect.Effect<void, Forbidden> =>
  caller.turn === undefined || it.id === caller.token
    ? Effect.void
    : refuse(whose, "the token of a program's turn ends no other token", "delete")
