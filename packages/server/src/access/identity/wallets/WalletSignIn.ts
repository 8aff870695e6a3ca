/**
 * Sign-in with a wallet: a text that names this house, signed once, gives a short-lived token of the principal that has
 * the wallet. A challenge is issued for any address, so that a request reveals nothing; every wrong answer gets the
 * same refusal and uses up the challenge.
 */
import { randomBytes } from "node:crypto"
import {
  BadInput,
  type IssuedToken,
  type PrincipalId,
  TooManyRequests,
  Unauthenticated,
  WalletChallenge,
  type WalletChallengeId,
  type WalletSignature,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { causedBy, currentCause, newId, provenanceOf } from "../../../store/journal/Correlation.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { networkOf } from "../../limits/network.ts"
import { isSignedBy, type Scheme, schemeOf, checksumAddress } from "./signatures.ts"
import { Tokens } from "../Tokens.ts"
import { walletKey } from "./walletKey.ts"
import { Wallets } from "./Wallets.ts"

const challengeLife = { minutes: 5 }
const tokenLife = { hours: 1 }
/** Challenges per network in a minute: anybody can create these rows. */
const maxInAMinute = 30
/**
 * Open challenges for one wallet and in the whole house. Above that, the network with the most of them loses its oldest:
 * a flood from elsewhere, or for another wallet, takes nobody's challenge away.
 */
const maxOfWallet = 50
const maxOpen = 10_000

/** In the format that wallets know (EIP-4361), so that they can warn if page and house differ. */
const textOf = (asked: {
  readonly house: string
  readonly scheme: Scheme
  readonly wallet: string
  readonly now: DateTime.Utc
  readonly until: DateTime.Utc
}): string =>
  [
    `${new URL(asked.house).host} wants you to sign in with your ${asked.scheme} account:`,
    checksumAddress(asked.wallet),
    "",
    "Sign in to this Stoa house. Whoever has this signature can act as you there for an hour.",
    "",
    `URI: ${asked.house}`,
    "Version: 1",
    ...(asked.scheme === "Ethereum" ? ["Chain ID: 1"] : []),
    `Nonce: ${randomBytes(16).toString("hex")}`,
    `Issued At: ${DateTime.formatIso(asked.now)}`,
    `Expiration Time: ${DateTime.formatIso(asked.until)}`,
  ].join("\n")

export class WalletSignIn extends Context.Service<
  WalletSignIn,
  {
    /** A text to sign, for anybody who claims to have this wallet. */
    readonly challenge: (asked: {
      readonly wallet: string
      readonly house: string
      readonly address: string
    }) => Effect.Effect<WalletChallenge, BadInput | TooManyRequests>
    /** A token of the wallet's holder, for the signature. Uses up the challenge in any case. */
    readonly token: (signed: WalletSignature) => Effect.Effect<IssuedToken, Unauthenticated>
  }
>()("server/access/identity/WalletSignIn") {
  static readonly layer = Layer.effect(
    WalletSignIn,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { committed, transact } = yield* Journal
      const tokens = yield* Tokens
      const wallets = yield* Wallets

      /** Removes the oldest challenge of the network that has the most of these. */
      const dropOne = (of: Statement.Fragment) => sql`DELETE FROM wallet_challenges WHERE id = (
        SELECT id FROM wallet_challenges WHERE ${of} AND network = (
          SELECT network FROM wallet_challenges WHERE ${of} GROUP BY network ORDER BY count(*) DESC, max(created_at) DESC LIMIT 1)
        ORDER BY created_at, id LIMIT 1)`

      const makeRoom = Effect.fnUntraced(function* (wallet: string, network: string, now: DateTime.Utc) {
        yield* sql`DELETE FROM wallet_challenges WHERE expires_at <= ${DateTime.formatIso(now)}`
        const since = DateTime.formatIso(DateTime.subtract(now, { minutes: 1 }))
        const [counts] = yield* sql<{ recent: number; ofWallet: number; open: number }>`SELECT
          (SELECT count(*) FROM wallet_challenges WHERE network = ${network} AND created_at > ${since}
            AND created_at <= ${DateTime.formatIso(now)}) AS recent,
          (SELECT count(*) FROM wallet_challenges WHERE wallet = ${wallet}) AS of_wallet,
          (SELECT count(*) FROM wallet_challenges) AS open`
        const { ofWallet, open, recent } = counts!
        if (recent >= maxInAMinute) return false
        if (ofWallet >= maxOfWallet) yield* dropOne(sql`wallet = ${wallet}`)
        else if (open >= maxOpen) yield* dropOne(sql`1 = 1`)
        return true
      }, Effect.orDie)

      const challenge: WalletSignIn["Service"]["challenge"] = Effect.fn("WalletSignIn.challenge")(function* ({
        address,
        house,
        wallet,
      }) {
        const scheme = schemeOf(wallet)
        if (scheme === undefined)
          return yield* new BadInput({
            issues: [{ path: "wallet", message: "an address that can sign: 0x and 40 hex digits, or a key in base58" }],
          })
        const now = yield* DateTime.now
        const until = DateTime.add(now, challengeLife)
        const network = networkOf(address)
        const key = walletKey(wallet)
        const id = newId<WalletChallengeId>("wch")
        const message = textOf({ house, scheme, wallet, now, until })
        const made = transact(
          Effect.gen(function* () {
            if (!(yield* makeRoom(key, network, now))) return false
            const times = { createdAt: DateTime.formatIso(now), expiresAt: DateTime.formatIso(until) }
            yield* Effect.orDie(
              sql`INSERT INTO wallet_challenges ${sql.insert({ id, wallet: key, network, message, ...times })}`,
            )
            return true
          }),
        )
        if (!(yield* made))
          return yield* new TooManyRequests({
            resource: "wallet challenges",
            limit: `${maxInAMinute} in 60 s`,
            retryAfter: 60,
          })
        return new WalletChallenge({ id, wallet, message, expiresAt: until })
      })

      const refused = new Unauthenticated({ reason: "wallet" })

      const token: WalletSignIn["Service"]["token"] = Effect.fn("WalletSignIn.token")(function* (signed) {
        const now = yield* DateTime.now
        const at = DateTime.formatIso(now)
        // Used up before it is checked: of two requests with the same challenge, at most one gets a token.
        const rows = yield* transact(
          Effect.orDie(
            sql<{ wallet: string; message: string }>`UPDATE wallet_challenges SET used_at = ${at}
              WHERE id = ${signed.challenge} AND used_at IS NULL AND expires_at > ${at} RETURNING wallet, message`,
          ),
        )
        const asked = rows[0]
        if (asked === undefined || !isSignedBy(asked.wallet, asked.message, signed.signature)) return yield* refused
        const principal = yield* wallets.holder(asked.wallet)
        if (principal === undefined) return yield* refused
        const expiresAt = DateTime.add(now, tokenLife)
        const cause = {
          ...(yield* currentCause),
          actor: principal.id,
          provenance: provenanceOf(principal.kind),
        }
        // The principal that assigned the wallet may have its key, so it may be the one that signs.
        const given = yield* Effect.orDie(
          sql<{ walletBy: PrincipalId | null; walletAfter: number | null }>`SELECT wallet_by, wallet_after
            FROM principals WHERE id = ${principal.id}`,
        )
        const { walletBy = null, walletAfter = null } = given[0] ?? {}
        const firstIssuer = { hand: walletBy ?? principal.id, handAfter: walletAfter ?? (yield* committed) }
        return yield* causedBy(
          cause,
          transact(tokens.issue({ principal: principal.id, label: "wallet sign-in", expiresAt }, { firstIssuer })),
        ).pipe(Effect.mapError(() => refused))
      })

      return WalletSignIn.of({ challenge, token })
    }),
  )
}
