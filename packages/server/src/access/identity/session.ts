/**
 * A browser's session: its own credential, made from a token and ended with it. A cookie's secret does not work as a
 * bearer token, nor a bearer token as a cookie: they are hashed differently.
 */
import { hash } from "node:crypto"
import {
  type AccessContext,
  type Caller,
  Forbidden,
  type IssuedToken,
  type Missing,
  type Principal,
  type PrincipalId,
  Token,
  type TokenId,
  Unauthenticated,
} from "@stoa/contract"
import { DateTime, Effect, Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Transaction } from "../../store/journal/Journal.ts"
import type { FirstIssuer } from "./firstIssuer.ts"

export interface TokenRow {
  readonly principal: Principal
  readonly label: string | null
  readonly context: AccessContext
  readonly expiresAt: DateTime.Utc | null
  readonly createdAt: DateTime.Utc
  readonly certificate?: boolean
  /** A certificate is not renewed past this. */
  readonly latestEnd?: DateTime.Utc | null
  readonly parent?: TokenId
  readonly firstIssuer?: FirstIssuer
  readonly turn?: TokenTurn
}

/** The step of a run that a program works on. */
export interface TokenTurn {
  readonly run: string
  readonly step: number
  readonly root: string
}

/** Other properties of a stored token: whether it is renewed as a certificate, and until when. */
export interface StoredKind {
  readonly certificate: unknown
  readonly latestEnd: string | null
}

/** The label of the admin token that the house itself stores. */
export const houseLabel = "admin token of the house"

const decode = Schema.decodeUnknownSync(Token)

/** A stored token as it is shown; `madeFor` says why it cannot be rotated. */
export const tokenFrom = (row: Readonly<Record<string, unknown>>): Token =>
  decode(
    row["run"] !== null
      ? { ...row, madeFor: "turn" }
      : row["parent"] !== null
        ? { ...row, madeFor: "browser" }
        : row["label"] === houseLabel && row["issuedBy"] === null
          ? { ...row, madeFor: "house" }
          : row,
  )

/** Why a token cannot be rotated, as an error text. */
export const notRotated: Readonly<Record<NonNullable<Token["madeFor"]>, string>> = {
  turn: "This token belongs to a turn of a program: it ends with the turn, and cannot be renewed.",
  browser: "This is a browser's session. Sign out and sign in again instead, or revoke it.",
  house:
    "This is the house's own admin token. It comes from STOA_ADMIN_TOKEN or the data folder, and is changed there: a new one from here would end with the next start.",
}

export const notRevoked =
  "This is the house's own admin token. To replace it, stop the house, change STOA_ADMIN_TOKEN or delete admin.token in the data folder, and start it again."

/** What is stored of a token's secret, and of a session's. */
export const hashOf = (token: string): string => hash("sha256", token, "hex")
export const hashOfSession = (secret: string): string => hashOf(`session ${secret}`)

const sessionLife = { days: 30 }
/** The most browsers of one principal. */
const maxSessions = 20

export const makeOpenSession = (
  sql: SqlClient.SqlClient,
  tokens: {
    readonly insert: (wanted: TokenRow) => Effect.Effect<IssuedToken, never, Transaction>
    readonly firstIssuerOf: (id: TokenId) => Effect.Effect<FirstIssuer | undefined>
    readonly revoke: (id: TokenId) => Effect.Effect<void, never, Transaction>
  },
) => {
  const { firstIssuerOf, insert, revoke } = tokens
  return Effect.fn("Tokens.openSession")(function* (caller: Caller["Service"]) {
    const { context, expiresAt, principal, token } = caller
    if (caller.turn !== undefined)
      return yield* new Forbidden({
        action: "write",
        resource: `tokens/${principal.name}`,
        rule: "the token of a program's turn opens no session",
      })
    if (token === null) return yield* new Unauthenticated({ reason: "missing" })
    // Checked again inside the transaction: a token that was revoked meanwhile makes no session.
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
    const firstIssuer = yield* firstIssuerOf(token)
    const now = yield* DateTime.now
    const latest = DateTime.add(now, sessionLife)
    const made = yield* insert({
      principal,
      label: "browser",
      context,
      expiresAt: expiresAt === null ? latest : DateTime.min(DateTime.toUtc(expiresAt), latest),
      createdAt: now,
      parent,
      ...(firstIssuer === undefined ? {} : { firstIssuer }),
    })
    // The oldest sessions are revoked: browsers that never sign out must not accumulate.
    const old = yield* Effect.orDie(
      sql<{ id: TokenId }>`SELECT id FROM tokens WHERE principal = ${principal.id} AND parent IS NOT NULL
            AND revoked_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET ${maxSessions}`,
    )
    yield* Effect.forEach(old, ({ id }) => revoke(id), { discard: true })
    return { token: Redacted.make(made.token), expiresAt: made.expiresAt! }
  })
}

/** When a browser replaces its own token, its session moves to the new one; all other sessions of the old one end. */
export const makeSessionTransfer = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (from: TokenId, { token: mine }: Caller["Service"]) {
    const moved =
      mine === null
        ? []
        : yield* Effect.orDie(sql`UPDATE tokens SET parent = NULL WHERE id = ${mine} AND parent = ${from} RETURNING id`)
    return (to: TokenId) =>
      moved.length === 0 ? Effect.void : Effect.orDie(sql`UPDATE tokens SET parent = ${to} WHERE id = ${mine}`)
  })

/** Tokens for programs, each for one turn of a run. */
export const makeTurnTokens = (
  sql: SqlClient.SqlClient,
  tokens: {
    readonly insert: (wanted: TokenRow) => Effect.Effect<IssuedToken, never, Transaction>
    readonly revoke: (id: TokenId) => Effect.Effect<void, never, Transaction>
    readonly get: (ref: string) => Effect.Effect<Principal, Missing>
  },
) => ({
  openTurn: Effect.fn("Tokens.openTurn")(function* (agent: PrincipalId, turn: TokenTurn, expiresAt: DateTime.Utc) {
    const principal = yield* tokens.get(agent)
    const label = `turn ${turn.step} of ${turn.run}`
    const made = { principal, label, context: "agent", expiresAt, createdAt: yield* DateTime.now, turn } as const
    return Redacted.make((yield* tokens.insert(made)).token)
  }),
  closeTurn: Effect.fn("Tokens.closeTurn")(function* (run: string, step: number) {
    const rows = yield* Effect.orDie(
      sql<{ id: TokenId }>`SELECT id FROM tokens WHERE run = ${run} AND step = ${step} AND revoked_at IS NULL`,
    )
    yield* Effect.forEach(rows, ({ id }) => tokens.revoke(id), { discard: true })
  }),
})
