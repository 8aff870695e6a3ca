/**
 * The space that a caller has entered, stored with its run or its token: two tokens of one agent do not disturb each
 * other. Also the position from which it reads backwards: the newest message when it last read from the end.
 */
import type { Caller, MemberRole, PrincipalId, RunId, Space, SpaceId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { chain } from "../store/fibers/Resolved.ts"
import { Grants } from "../access/rights/Grants.ts"
import { rightsChanged } from "../access/rights/Rights.ts"
import { refuseAct, type SpaceRefusal } from "./refusals.ts"
import { judgeAct, memberOf, type SpaceIdentity, accessOf } from "./rules.ts"

type Who = Caller["Service"]

interface Entered extends SpaceIdentity {
  readonly role: MemberRole
}

/** Each run has its own active space (S1-36); a caller without run or token is identified by its principal. */
const holderOf = ({ principal, run, token }: Who): string => run ?? token ?? principal.id

/** Part of a statement: the space that a holder, such as a run, has entered. */
export const activeSpaceOf = (sql: SqlClient.SqlClient, holder: Statement.Fragment): Statement.Fragment =>
  sql`(SELECT a.space FROM active_spaces a WHERE a.holder = ${holder})`

/** Holders that are removed stand nowhere. */
export const forgetActiveSpaces = (sql: SqlClient.SqlClient, holders: ReadonlyArray<string>) =>
  sql`DELETE FROM active_spaces WHERE ${sql.in("holder", holders)}`

export class ActiveSpaces extends Context.Service<
  ActiveSpaces,
  {
    /** The space it has entered, if it may still be there. */
    readonly of: (who: Who) => Effect.Effect<SpaceId | undefined>
    /** Recorded of a run; who enters without one leaves no event. */
    readonly enter: (who: Who, space: Space) => Effect.Effect<void, SpaceRefusal, Transaction>
    readonly anchor: (who: Who, space: SpaceId) => Effect.Effect<number | undefined>
    readonly setAnchor: (who: Who, space: SpaceId, seq: number) => Effect.Effect<void, never, Transaction>
  }
>()("server/spaces/ActiveSpaces") {
  static readonly layer = Layer.effect(
    ActiveSpaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const grants = yield* Grants
      const journal = yield* Journal
      // Most callers have entered nothing, so the set of holders is cached. A caller that enters for the first time
      // raises the epoch of rights, for all processes, so that a set cached under an earlier epoch is read again.
      let known: { readonly epoch: number; readonly holders: Set<string> } | undefined
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
      const ask = Effect.map(
        Effect.orDie(sql<{ holder: string }>`SELECT holder FROM active_spaces`),
        (rows) => new Set(rows.map((row) => row.holder)),
      )
      const holdersAt = (epoch: number): Effect.Effect<ReadonlySet<string>> =>
        known !== undefined && known.epoch >= epoch
          ? Effect.succeed(known.holders)
          : Effect.map(ask, (holders) => (known = { epoch, holders }).holders)

      const nowhere: Effect.Effect<SpaceId | undefined> = Effect.succeed(undefined)
      const of: ActiveSpaces["Service"]["of"] = (who) =>
        chain(holdersAt(who.epoch), (holders) => (holders.has(holderOf(who)) ? find(who) : nowhere))
      const find = Effect.fnUntraced(function* (who: Who) {
        const holder = holderOf(who)
        const { id }: { readonly id: PrincipalId } = who.principal
        const found = yield* sql<Entered>`SELECT s.id, s.name, s.kind, m.role FROM active_spaces a
          JOIN spaces s ON s.id = a.space JOIN members m ON m.space = s.id AND m.principal = ${id}
          WHERE a.holder = ${holder} AND s.archived_at IS NULL`
        const [space] = found
        if (space === undefined) return undefined
        // A caller that may no longer enter it has no active space.
        const viewer = yield* grants.viewerOf(who, "spaces")
        return judgeAct("enter", accessOf(viewer, space, space.role)).is === "yes" ? space.id : undefined
      }, Effect.orDie)

      const enter: ActiveSpaces["Service"]["enter"] = Effect.fn("ActiveSpaces.enter")(function* (who, space) {
        const viewer = yield* grants.viewerOf(who, "spaces")
        const role = memberOf(space, who.principal.id)?.role
        const said = judgeAct("enter", accessOf(viewer, space, role, { archived: space.archivedAt !== null }))
        if (said.is !== "yes") return yield* refuseAct("enter", said, space, viewer)
        yield* put(who, space.id)
        if (who.run !== undefined)
          yield* journal.append({
            kind: "run.entered",
            body: { run: who.run as RunId, principal: who.principal.id, entered: space.id },
          })
      })
      const put = Effect.fnUntraced(function* (who: Who, space: SpaceId) {
        const row = { holder: holderOf(who), space, enteredAt: DateTime.formatIso(yield* DateTime.now) }
        const before = yield* sql`SELECT holder FROM active_spaces WHERE holder = ${row.holder}`
        yield* sql`INSERT INTO active_spaces ${sql.insert(row)}
          ON CONFLICT (holder) DO UPDATE SET space = excluded.space, entered_at = excluded.entered_at`
        if (before.length === 0) yield* changed
        // It may be asked again before the caller has the new epoch.
        known?.holders.add(row.holder)
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
