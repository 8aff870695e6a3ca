/**
 * A browser's session: a credential of its own, made from a token and ended with it. What the cookie holds is no bearer
 * token, and a bearer token is no cookie: the two are hashed differently.
 */
import { hash } from "node:crypto"
import {
  type AccessContext,
  type Caller,
  type IssuedToken,
  type Missing,
  type Principal,
  type PrincipalId,
  type TokenId,
  Unauthenticated,
} from "@stoa/contract"
import { DateTime, Effect, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import type { Transaction } from "../../store/journal/Journal.ts"

/** Who a credential came from first, and since when. */
export interface Hand {
  readonly hand: PrincipalId | null
  readonly handSince: string
}

/** A token that is about to be written. */
export interface TokenRow {
  readonly principal: Principal
  readonly label: string | null
  readonly context: AccessContext
  readonly expiresAt: DateTime.Utc | null
  readonly createdAt: DateTime.Utc
  readonly certificate?: boolean
  readonly parent?: TokenId
  readonly hand?: Hand
  readonly turn?: Turn
}

/** The step of a run that a program works on. */
export interface Turn {
  readonly run: string
  readonly step: number
  readonly root: string
}

/** What a stored token is: renewed as a certificate, or made from another. */
export interface Origin {
  readonly certificate: unknown
  readonly parent: TokenId | null
  /** Of a token for one turn. */
  readonly run: string | null
}

/** What is kept of a token's secret, and of a session's. */
export const hashOf = (token: string): string => hash("sha256", token, "hex")
export const hashOfSession = (secret: string): string => hashOf(`session ${secret}`)

const sessionLife = { days: 30 }
/** Browsers of one principal. */
const mostSessions = 20

export const makeOpenSession = (
  sql: SqlClient.SqlClient,
  tokens: {
    readonly insert: (wanted: TokenRow) => Effect.Effect<IssuedToken, never, Transaction>
    readonly handOf: (id: TokenId) => Effect.Effect<Hand | undefined>
    readonly revoke: (id: TokenId) => Effect.Effect<void, unknown, Transaction>
  },
) => {
  const { handOf, insert, revoke } = tokens
  return Effect.fn("Tokens.openSession")(function* (caller: Caller["Service"]) {
    const { context, expiresAt, principal, token } = caller
    if (token === null || caller.turn !== undefined) return yield* new Unauthenticated({ reason: "missing" })
    // Looked at again where it is written: one that is revoked meanwhile makes no session.
    const alive = (id: TokenId) =>
      Effect.map(
        Effect.orDie(
          sql<{ parent: TokenId | null }>`SELECT parent FROM tokens WHERE id = ${id} AND revoked_at IS NULL
                ${sql.onDialectOrElse({ pg: () => sql`FOR UPDATE`, orElse: () => sql`` })}`,
        ),
        (rows) => rows[0],
      )
    const given = yield* alive(token)
    const parent = given?.parent ?? token
    if (given === undefined || (yield* alive(parent)) === undefined)
      return yield* new Unauthenticated({ reason: "refused" })
    const hand = yield* handOf(token)
    const now = yield* DateTime.now
    const latest = DateTime.add(now, sessionLife)
    const made = yield* insert({
      principal,
      label: "browser",
      context,
      expiresAt: expiresAt === null ? latest : DateTime.min(DateTime.toUtc(expiresAt), latest),
      createdAt: now,
      parent,
      ...(hand === undefined ? {} : { hand }),
    })
    // The oldest make room: a browser that never signs out must not leave more and more behind.
    const old = yield* Effect.orDie(
      sql<{ id: TokenId }>`SELECT id FROM tokens WHERE principal = ${principal.id} AND parent IS NOT NULL
            AND revoked_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET ${mostSessions}`,
    )
    yield* Effect.forEach(old, ({ id }) => Effect.orDie(revoke(id)), { discard: true })
    return { token: Redacted.make(made.token), expiresAt: made.expiresAt! }
  })
}

/** Tokens of programs, each for one turn of a run. */
export const makeTurns = (
  sql: SqlClient.SqlClient,
  tokens: {
    readonly insert: (wanted: TokenRow) => Effect.Effect<IssuedToken, never, Transaction>
    readonly revoke: (id: TokenId) => Effect.Effect<void, unknown, Transaction>
    readonly get: (ref: string) => Effect.Effect<Principal, Missing>
  },
) => ({
  openTurn: Effect.fn("Tokens.openTurn")(function* (agent: PrincipalId, turn: Turn, expiresAt: DateTime.Utc) {
    const principal = yield* tokens.get(agent)
    const label = `turn ${turn.step} of ${turn.run}`
    const made = { principal, label, context: "agent", expiresAt, createdAt: yield* DateTime.now, turn } as const
    return Redacted.make((yield* tokens.insert(made)).token)
  }),
  closeTurn: Effect.fn("Tokens.closeTurn")(function* (run: string, step: number) {
    const rows = yield* Effect.orDie(
      sql<{ id: TokenId }>`SELECT id FROM tokens WHERE run = ${run} AND step = ${step} AND revoked_at IS NULL`,
    )
    yield* Effect.forEach(rows, ({ id }) => Effect.orDie(tokens.revoke(id)), { discard: true })
  }),
})
