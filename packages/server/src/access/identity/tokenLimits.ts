/** What a caller may not do to tokens because of the token that it has, whatever its rights. */
import { type Caller, Forbidden, type Principal, type Token, type TokenId } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Flag } from "../../store/database/dialect/Columns.ts"

const decodeFlag = Schema.decodeUnknownSync(Flag)

const refuse = (whose: Principal, rule: string, action = "write") =>
  Effect.fail(new Forbidden({ action, resource: `tokens/${whose.name}`, rule }))

type TokenCaller = Pick<Caller["Service"], "token" | "turn">

/** Tokens that make and replace no others: those of a turn, because they end with it, and certificates (S4-102). */
export const makeTokenLimits = Effect.map(SqlClient.SqlClient, (sql) => {
  /** The certificate that a caller has, or that its browser signed in with. */
  const certificateOf = Effect.fnUntraced(function* (token: TokenId | null) {
    if (token === null) return undefined
    const rows = yield* Effect.orDie(
      sql<{ id: TokenId; certificate: unknown }>`SELECT id, certificate FROM tokens
        WHERE id = ${token} OR id = (SELECT parent FROM tokens WHERE id = ${token})`,
    )
    return rows.find(({ certificate }) => decodeFlag(certificate))?.id
  })

  const mayMake = Effect.fnUntraced(function* (caller: TokenCaller, whose: Principal) {
    if (caller.turn !== undefined) return yield* refuse(whose, "the token of a program's turn makes no tokens")
    if ((yield* certificateOf(caller.token)) !== undefined)
      return yield* refuse(whose, "a certificate makes no other token")
  })

  const mayReplace = Effect.fnUntraced(function* (caller: TokenCaller, it: Token, whose: Principal) {
    if (caller.turn !== undefined) return yield* refuse(whose, "the token of a program's turn rotates no tokens")
    const certificate = yield* certificateOf(caller.token)
    if (certificate !== undefined && certificate !== it.id)
      return yield* refuse(whose, "a certificate rotates only itself")
  })

  return { mayMake, mayReplace }
})

export const mayEnd = (caller: TokenCaller, it: Token, whose: Principal): Effect.Effect<void, Forbidden> =>
  caller.turn === undefined || it.id === caller.token
    ? Effect.void
    : refuse(whose, "the token of a program's turn ends no other token", "delete")
