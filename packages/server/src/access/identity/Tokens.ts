/**
 * Credentials: 256 random bits, shown once, stored as a hash. Every request checks whether any right has changed since
 * its token was looked up (on Postgres in the database, on SQLite in this process, which is the only one), so that a
 * revocation works at once, on every machine.
 */
import { randomBytes } from "node:crypto"
import {
  type AccessContext,
  BadInput,
  type Caller,
  type Forbidden,
  IssuedToken,
  Missing,
  type NewToken,
  type Page,
  type PageQuery,
  type PrincipalId,
  type Token,
  type TokenId,
  Unauthenticated,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Flag } from "../../store/database/dialect/Columns.ts"
import { currentCause, newId } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../../store/Pages.ts"
import { type Credential, makeCallerNow, makeRenewCaller } from "./callerNow.ts"
import { makeCallers } from "./callers.ts"
import { outerOf, usualContext } from "./contexts.ts"
import { makeEndTokens } from "./endTokens.ts"
import { type FirstIssuer, makeFirstIssuer } from "./firstIssuer.ts"
import { Principals } from "./Principals.ts"
import {
  hashOf,
  hashOfSession,
  makeOpenSession,
  houseLabel,
  makeSessionTransfer,
  makeTurnTokens,
  notRevoked,
  notRotated,
  type StoredKind,
  tokenFrom,
  type TokenRow,
  type TokenTurn,
} from "./session.ts"
import { makeTokenLimits, mayEnd } from "./tokenLimits.ts"
import { rightsChanged, rightsEpoch } from "../rights/Rights.ts"

export type { Credential } from "./callerNow.ts"

const decodeFlag = Schema.decodeUnknownSync(Flag)
const encodeIssued = Schema.encodeSync(IssuedToken)

/** Certificates of seed 004 last seven days (S4-102). */
const certificateLife = { days: 7 }

/** The earlier of two ends; null is none. */
const earlier = (one: DateTime.Utc | null, other: DateTime.Utc | null): DateTime.Utc | null =>
  one === null || other === null ? (one ?? other) : DateTime.min(one, other)

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly issue: (
      wanted: NewToken,
      from?: {
        /** Who makes it. */
        readonly caller?: Caller["Service"]
        /** Whose it is in truth, where that is not who makes it. */
        readonly firstIssuer?: FirstIssuer
      },
    ) => Effect.Effect<IssuedToken, Missing | BadInput | Forbidden, Transaction>
    /**
     * A new secret; the old one stops at once. A certificate gets a new lifetime, up to the end of the token that it was
     * made or replaced with; other tokens keep their end.
     */
    readonly rotate: (
      id: TokenId,
      by: {
        readonly caller: Caller["Service"]
        /** The latest end of the new token, of whatever kind. */
        readonly latest: DateTime.Utc | null
      },
    ) => Effect.Effect<IssuedToken, Missing | WrongState | Forbidden, Transaction>
    /** Revokes the token and everything made from it. `caller`: who wants it. */
    readonly revoke: (
      id: TokenId,
      caller?: Caller["Service"],
    ) => Effect.Effect<void, Missing | WrongState | Forbidden, Transaction>
    /** A token for the caller's browser: not stronger than the caller's token, not longer, and ended with it. */
    readonly openSession: (
      caller: Caller["Service"],
    ) => Effect.Effect<
      { readonly token: Redacted.Redacted; readonly expiresAt: DateTime.Utc },
      Unauthenticated | Forbidden,
      Transaction
    >
    /** A token for an agent's program, for one turn of a run. */
    readonly openTurn: (
      agent: PrincipalId,
      turn: TokenTurn,
      expiresAt: DateTime.Utc,
    ) => Effect.Effect<Redacted.Redacted, Missing, Transaction>
    /** Ends a turn of a run: its tokens no longer work. */
    readonly closeTurn: (run: string, step: number) => Effect.Effect<void, never, Transaction>
    readonly get: (id: TokenId) => Effect.Effect<Token, Missing>
    /**
     * Who made this token, unless its own principal did, or it was made before what comes after this event of the
     * journal. By order and not by time: clocks are set, and every house has its own.
     */
    readonly madeSince: (id: TokenId, event: number) => Effect.Effect<PrincipalId | undefined>
    readonly list: (query: PageQuery & { readonly principal?: string }) => Effect.Effect<Page<Token>, Missing>
    /** The caller of a token. Unknown, expired, revoked and retired all fail the same way. */
    readonly authenticate: (token: string) => Effect.Effect<Caller["Service"], Unauthenticated>
    /** The caller of a browser's cookie. */
    readonly authenticateSession: (secret: string) => Effect.Effect<Caller["Service"], Unauthenticated>
    /** Whether a token is still valid, for streams that began with it. */
    readonly isAlive: (id: TokenId) => Effect.Effect<boolean>
    /**
     * Whether somebody has ended it; for a browser's session, the token that the session was made from. Signing out and
     * expiring end only what comes later.
     */
    readonly isRevoked: (id: TokenId) => Effect.Effect<boolean>
    /** The same for a caller, also for one without a token. */
    readonly stillWorks: (who: Pick<Caller["Service"], "principal" | "token">) => Effect.Effect<boolean>
    /** The caller of requests without a token, if a setting allows them. */
    readonly standIn: (name: string) => Effect.Effect<Caller["Service"], Missing>
    /**
     * The caller of something that has waited, with its present rights; `by`: what it was identified by then. Its context
     * is no more trusted than that of its token is now.
     */
    readonly callerNow: (
      id: string,
      context: AccessContext,
      by?: Credential,
    ) => Effect.Effect<Caller["Service"], Missing>
    /** The caller of something that has been open for a while, with its present rights. */
    readonly renewCaller: (caller: Caller["Service"]) => Effect.Effect<Caller["Service"], Missing>
    /** The admin token comes from a setting or the data folder. Stores its hash, and removes the previous one. */
    readonly keepAdmin: (token: Redacted.Redacted) => Effect.Effect<void>
  }
>()("server/access/identity/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const principals = yield* Principals
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)

      const endTokens = yield* makeEndTokens
      const firstIssuers = yield* makeFirstIssuer
      const { mayMake, mayReplace } = yield* makeTokenLimits

      const insert = Effect.fnUntraced(function* (wanted: TokenRow) {
        const secret = `stoa_${randomBytes(32).toString("base64url")}`
        const token = new IssuedToken({
          id: newId("tok"),
          principal: wanted.principal.id,
          label: wanted.label,
          context: wanted.context,
          expiresAt: wanted.expiresAt,
          createdAt: wanted.createdAt,
          token: secret,
        })
        const { token: _, ...row } = encodeIssued(token)
        const issuedBy = (yield* currentCause).actor
        const kept = wanted.parent === undefined ? hashOf(secret) : hashOfSession(secret)
        const { hand, handAfter } = wanted.firstIssuer ?? { hand: issuedBy, handAfter: yield* journal.committed }
        const latestEnd = wanted.latestEnd == null ? null : DateTime.formatIso(wanted.latestEnd)
        yield* Effect.orDie(
          sql`INSERT INTO tokens ${sql.insert({ ...row, certificate: wanted.certificate ?? false, latestEnd, hash: kept, issuedBy, hand, handAfter, parent: wanted.parent ?? null, ...wanted.turn })}`,
        )
        yield* journal.append({
          kind: "token.issued",
          body: { token: token.id, principal: token.principal, context: token.context, expiresAt: token.expiresAt },
        })
        return token
      })

      const issue: Tokens["Service"]["issue"] = Effect.fn("Tokens.issue")(function* (
        wanted,
        { caller, firstIssuer } = {},
      ) {
        const principal = yield* principals.get(wanted.principal)
        if (principal.retiredAt !== null) return yield* new Missing({ noun: "principal", ref: wanted.principal })
        const now = yield* DateTime.now
        if (wanted.expiresAt !== undefined && DateTime.isLessThanOrEqualTo(wanted.expiresAt, now))
          return yield* new BadInput({
            issues: [{ path: "expiresAt", message: "is in the past; give a time in the future" }],
          })
        const expiresAt = wanted.expiresAt ?? (wanted.certificate === true ? DateTime.add(now, certificateLife) : null)
        if (caller !== undefined) yield* mayMake(caller, principal)
        const from = firstIssuer ?? (yield* firstIssuers.ofGift(caller, principal.id))
        return yield* insert({
          ...(from === undefined ? {} : { firstIssuer: from }),
          principal,
          label: wanted.label ?? null,
          context: wanted.context ?? usualContext(principal),
          expiresAt,
          createdAt: now,
          certificate: wanted.certificate ?? false,
          latestEnd: wanted.certificate === true ? (caller?.expiresAt ?? null) : null,
        })
      })

      const get: Tokens["Service"]["get"] = Effect.fn("Tokens.get")(function* (id) {
        const rows = yield* Effect.orDie(sql`SELECT * FROM tokens WHERE id = ${id}`)
        return rows[0] === undefined ? yield* new Missing({ noun: "token", ref: id }) : tokenFrom(rows[0])
      })

      const madeSince: Tokens["Service"]["madeSince"] = Effect.fnUntraced(function* (id, event) {
        const rows = yield* sql<{ hand: PrincipalId }>`SELECT hand FROM tokens
          WHERE id = ${id} AND hand_after >= ${event} AND hand <> principal`
        return rows[0]?.hand
      }, Effect.orDie)

      const revoke: Tokens["Service"]["revoke"] = Effect.fn("Tokens.revoke")(function* (id, caller) {
        const it = yield* get(id)
        // Without it nobody could let anybody in, and the next start would make it good again.
        if (it.madeFor === "house") return yield* new WrongState({ detail: notRevoked })
        if (caller !== undefined) yield* mayEnd(caller, it, yield* principals.get(it.principal))
        yield* end(id)
      })
      const end: (id: TokenId) => Effect.Effect<void, never, Transaction> = Effect.fnUntraced(function* (id) {
        const ended = yield* endTokens(sql`id = ${id}`)
        // A statement of its own: it sees sessions that were made until the token's row was locked.
        const made = ended.length === 0 ? [] : yield* sql<{ id: TokenId }>`SELECT id FROM tokens WHERE parent = ${id}`
        yield* Effect.forEach(made, (one) => end(one.id), { discard: true })
      }, Effect.orDie)

      const leave = makeSessionTransfer(sql)
      const openSession = makeOpenSession(sql, { insert, firstIssuerOf: firstIssuers.ofToken, revoke: end })
      const { closeTurn, openTurn } = makeTurnTokens(sql, { insert, revoke: end, get: principals.get })

      const rotate: Tokens["Service"]["rotate"] = Effect.fn("Tokens.rotate")(function* (id, { caller, latest }) {
        const old = yield* get(id)
        if (old.revokedAt !== null) return yield* new Missing({ noun: "token", ref: id })
        if (old.madeFor !== undefined) return yield* new WrongState({ detail: notRotated[old.madeFor] })
        const whose = yield* principals.get(old.principal)
        yield* mayReplace(caller, old, whose)
        const rows = yield* Effect.orDie(sql<StoredKind>`SELECT certificate, latest_end FROM tokens WHERE id = ${id}`)
        const goOver = yield* leave(id, caller)
        yield* end(id)
        const { certificate, latestEnd } = rows[0]!
        const renewable = decodeFlag(certificate)
        const outermost = earlier(latest, latestEnd === null ? null : DateTime.makeUnsafe(latestEnd))
        // Whoever rotates it sees the new secret, whoever made the old one.
        const firstIssuer = yield* firstIssuers.ofGift(caller, old.principal)
        const life = renewable && old.expiresAt !== null ? DateTime.distance(old.createdAt, old.expiresAt) : null
        const now = yield* DateTime.now
        const renewed = life === null ? old.expiresAt : DateTime.addDuration(now, life)
        const made = yield* insert({
          principal: whose,
          label: old.label,
          context: old.context,
          expiresAt: earlier(renewed, outermost),
          createdAt: now,
          certificate: life !== null,
          latestEnd: life === null ? null : outermost,
          ...(firstIssuer === undefined ? {} : { firstIssuer }),
        })
        yield* goOver(made.id)
        return made
      })

      const list: Tokens["Service"]["list"] = Effect.fn("Tokens.list")(function* (query) {
        const { after, limit } = pageFrom(query)
        const whose =
          query.principal === undefined ? sql`1 = 1` : sql`principal = ${(yield* principals.get(query.principal)).id}`
        const rows = yield* Effect.orDie(
          sql`SELECT * FROM tokens WHERE ${whose} AND id > ${after} ORDER BY id LIMIT ${limit + 1}`,
        )
        return pageOf(rows, limit, tokenFrom, (token) => token.id)
      })

      const epochNow = yield* rightsEpoch
      const callerAt = yield* makeCallers
      const authenticate: Tokens["Service"]["authenticate"] = (token) => callerAt(hashOf(token))
      const authenticateSession: Tokens["Service"]["authenticateSession"] = (secret) => callerAt(hashOfSession(secret))

      const isAlive: Tokens["Service"]["isAlive"] = Effect.fnUntraced(function* (id) {
        const now = DateTime.formatIso(yield* DateTime.now)
        const rows = yield* Effect.orDie(
          sql`SELECT t.id FROM tokens t JOIN principals p ON p.id = t.principal WHERE t.id = ${id}
            AND t.revoked_at IS NULL AND p.retired_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ${now})`,
        )
        return rows.length > 0
      })

      const isRevoked: Tokens["Service"]["isRevoked"] = Effect.fnUntraced(function* (id) {
        const rows = yield* Effect.orDie(
          sql<{ revokedAt: string | null }>`WITH RECURSIVE made (id, parent, revoked_at) AS (
            SELECT id, parent, revoked_at FROM tokens WHERE id = ${id}
            UNION ALL SELECT t.id, t.parent, t.revoked_at FROM tokens t JOIN made ON t.id = made.parent)
            SELECT revoked_at FROM made WHERE parent IS NULL`,
        )
        return rows[0]?.revokedAt !== null
      })

      const stillWorks: Tokens["Service"]["stillWorks"] = ({ principal, token }) =>
        token !== null
          ? isAlive(token)
          : Effect.match(principals.get(principal.id), {
              onFailure: () => false,
              onSuccess: ({ retiredAt }) => retiredAt === null,
            })

      const standIn: Tokens["Service"]["standIn"] = Effect.fnUntraced(function* (name) {
        const principal = yield* principals.get(name)
        if (principal.retiredAt !== null) return yield* new Missing({ noun: "principal", ref: name })
        const rows = yield* Effect.orDie(sql<{ epoch: number }>`SELECT epoch FROM access_epoch`)
        // Whatever its roles: a caller without a credential is never internal (S2-06).
        const context = outerOf(usualContext(principal), "agent")
        return { principal, context, token: null, expiresAt: null, epoch: rows[0]!.epoch }
      })

      const contextOf = Effect.fnUntraced(function* (id: TokenId) {
        const rows = yield* Effect.orDie(sql<{ context: AccessContext }>`SELECT context FROM tokens WHERE id = ${id}`)
        return rows[0]?.context
      })
      const callerNow = makeCallerNow(principals.get, epochNow, contextOf)

      const keepAdmin: Tokens["Service"]["keepAdmin"] = Effect.fn("Tokens.keepAdmin")(function* (token) {
        const hashed = hashOf(Redacted.value(token))
        yield* journal
          .transact(
            Effect.gen(function* () {
              const admin = yield* principals.get("admin").pipe(
                Effect.catchTag("Missing", () =>
                  principals.add({ kind: "person", name: "admin", roles: ["admin"] } as never),
                ),
                Effect.orDie,
              )
              const label = houseLabel
              const rows = yield* sql<{ id: TokenId; hash: string }>`SELECT id, hash FROM tokens
              WHERE principal = ${admin.id} AND label = ${label} AND revoked_at IS NULL`
              if (rows.length === 1 && rows[0]!.hash === hashed) return
              yield* Effect.forEach(rows, (row) => end(row.id), { discard: true })
              const issued = yield* insert({
                principal: admin,
                label,
                context: "internal",
                expiresAt: null,
                createdAt: yield* DateTime.now,
              })
              yield* sql`DELETE FROM tokens WHERE hash = ${hashed}`
              yield* sql`UPDATE tokens SET hash = ${hashed} WHERE id = ${issued.id}`
              yield* changed
            }),
          )
          .pipe(Effect.orDie)
      })

      return Tokens.of({
        openSession,
        openTurn,
        closeTurn,
        issue,
        rotate,
        revoke,
        get,
        madeSince,
        list,
        authenticate,
        authenticateSession,
        isAlive,
        isRevoked,
        stillWorks,
        standIn,
        callerNow,
        renewCaller: makeRenewCaller(callerNow),
        keepAdmin,
      })
    }),
  )
}
