/**
 * The space a caller has entered, kept with its token: two tokens of one agent do not disturb each other. And the
 * place from which it reads backwards: the newest message when it last read from the end.
 */
import type { Caller, PrincipalId, SpaceId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Transaction } from "../store/Journal.ts"
import { shared } from "../store/Shared.ts"

type Who = Caller["Service"]

/** Whoever comes without a token is told apart by who it is. */
const holderOf = ({ principal, token }: Who): string => token ?? principal.id

export class ActiveSpaces extends Context.Service<
  ActiveSpaces,
  {
    /** The space it has entered, if it may still be there. */
    readonly of: (who: Who) => Effect.Effect<SpaceId | undefined>
    readonly enter: (who: Who, space: SpaceId) => Effect.Effect<void, never, Transaction>
    readonly anchor: (who: Who, space: SpaceId) => Effect.Effect<number | undefined>
    readonly setAnchor: (who: Who, space: SpaceId, seq: number) => Effect.Effect<void, never, Transaction>
  }
>()("server/spaces/ActiveSpaces") {
  static readonly layer = Layer.effect(
    ActiveSpaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Most callers have entered nothing: on SQLite they are known by that and not asked about at every call. On Postgres
      // somebody may have entered through another process, so there the rows are asked, for all at once who call at once.
      const holdersOf = (rows: Effect.Effect<ReadonlyArray<{ readonly holder: string }>, unknown>) =>
        Effect.map(Effect.orDie(rows), (found) => new Set(found.map((row) => row.holder)))
      const entered = shared((those: ReadonlySet<string>) =>
        holdersOf(sql`SELECT holder FROM active_spaces WHERE ${sql.in("holder", [...those])}`),
      )
      const holders = yield* sql.onDialectOrElse({
        pg: () => Effect.succeed(undefined),
        orElse: () => holdersOf(sql`SELECT holder FROM active_spaces`),
      })

      const nowhere: Effect.Effect<SpaceId | undefined> = Effect.succeed(undefined)
      const of: ActiveSpaces["Service"]["of"] = (who) => {
        if (holders !== undefined) return holders.has(holderOf(who)) ? find(who) : nowhere
        return Effect.withFiber((fiber) => {
          if (Context.getOrUndefined(fiber.context, sql.transactionService) !== undefined) return find(who)
          return Effect.flatMap(entered(holderOf(who)), (those) => (those.has(holderOf(who)) ? find(who) : nowhere))
        })
      }
      const find = Effect.fnUntraced(function* (who: Who) {
        const holder = holderOf(who)
        const { id }: { readonly id: PrincipalId } = who.principal
        const found = yield* sql<{ space: SpaceId }>`SELECT a.space FROM active_spaces a JOIN spaces s ON s.id = a.space
          WHERE a.holder = ${holder} AND s.archived_at IS NULL
            AND EXISTS (SELECT 1 FROM members m WHERE m.space = s.id AND m.principal = ${id})`
        return found[0]?.space
      }, Effect.orDie)

      const enter: ActiveSpaces["Service"]["enter"] = Effect.fn("ActiveSpaces.enter")(function* (
        who: Who,
        space: SpaceId,
      ) {
        const row = { holder: holderOf(who), space, enteredAt: DateTime.formatIso(yield* DateTime.now) }
        yield* sql`INSERT INTO active_spaces ${sql.insert(row)}
          ON CONFLICT (holder) DO UPDATE SET space = excluded.space, entered_at = excluded.entered_at`
        holders?.add(row.holder)
      }, Effect.orDie)

      const anchor: ActiveSpaces["Service"]["anchor"] = Effect.fnUntraced(function* (who: Who, space: SpaceId) {
        const found = yield* sql<{ seq: number }>`SELECT seq FROM read_anchors
          WHERE holder = ${holderOf(who)} AND space = ${space}`
        return found[0]?.seq
      }, Effect.orDie)

      const setAnchor: ActiveSpaces["Service"]["setAnchor"] = Effect.fnUntraced(function* (
        who: Who,
        space: SpaceId,
        seq: number,
      ) {
        yield* sql`INSERT INTO read_anchors ${sql.insert({ holder: holderOf(who), space, seq })}
          ON CONFLICT (holder, space) DO UPDATE SET seq = excluded.seq`
      }, Effect.orDie)

      return ActiveSpaces.of({ of, enter, anchor, setAnchor })
    }),
  )
}
