/**
 * The spaces that the configuration file declares: only the file says who is in them. A space removed from the file is
 * archived, and remembered as the file's: the file takes it back, with its history, when it declares the name again.
 */
import { type NewSpace, type Principal, type Space, type SpaceId } from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { nameKey, Principals } from "../access/identity/Principals.ts"
import { houseViewer, type Viewer } from "../access/rights/Viewer.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import { memberOf } from "./rules.ts"
import { Spaces } from "./Spaces.ts"

/** What is wrong with a declared space, and in which field. */
export interface Fault {
  readonly name: string
  readonly message: string
}

export interface AppliedSpaces {
  readonly added: Array<string>
  readonly changed: Array<string>
  readonly retired: Array<string>
}

export class DeclaredSpaces extends Context.Service<
  DeclaredSpaces,
  {
    readonly declare: (
      wanted: ReadonlyArray<NewSpace>,
      by: Principal,
    ) => Effect.Effect<AppliedSpaces, Fault, Transaction>
    /** How many the file declares. */
    readonly declared: Effect.Effect<number>
  }
>()("server/spaces/DeclaredSpaces") {
  static readonly layer = Layer.effect(
    DeclaredSpaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const spaces = yield* Spaces
      const principals = yield* Principals

      const owned = Effect.map(
        Effect.orDie(sql<{ space: SpaceId }>`SELECT space FROM declared_spaces WHERE retired_at IS NULL`),
        (rows) => new Set(rows.map((row) => row.space)),
      )

      /** The file's own comes first, then the one that it retired last, then what was made at run time. */
      const namesakes = (name: string) =>
        Effect.orDie(
          sql<{ id: SpaceId; standing: "declared" | "retired" | "foreign" }>`SELECT s.id,
              CASE WHEN d.space IS NULL THEN 'foreign' WHEN d.retired_at IS NULL THEN 'declared' ELSE 'retired' END AS standing
            FROM spaces s LEFT JOIN declared_spaces d ON d.space = s.id WHERE s.lookup_key = ${nameKey(name)}
            ORDER BY CASE WHEN d.space IS NULL THEN 2 WHEN d.retired_at IS NULL THEN 0 ELSE 1 END, d.retired_at DESC`,
        )

      const fault = (name: string) => (error: { readonly message: string }) => ({ name, message: error.message })

      /** Returns whether anything changed. */
      const follow = Effect.fnUntraced(function* (space: Space, wanted: NewSpace, house: Viewer) {
        if (space.kind !== wanted.kind)
          return yield* Effect.fail({
            name: wanted.name,
            message: `is a ${space.kind} space, and the kind of a space cannot change; use another name`,
          })
        const changes = {
          ...(space.archivedAt === null ? {} : { archived: false }),
          ...(space.name === wanted.name ? {} : { name: wanted.name }),
          ...((wanted.topic ?? null) === space.topic ? {} : { topic: wanted.topic ?? null }),
          ...(wanted.trigger === undefined || wanted.trigger === space.trigger ? {} : { trigger: wanted.trigger }),
        }
        if (Object.keys(changes).length > 0) yield* spaces.change(space, changes, house)
        const now = { ...space, archivedAt: null }
        const members = yield* Effect.forEach(wanted.members ?? [], (ref) => principals.get(ref))
        const come = members.filter((one) => memberOf(space, one.id) === undefined)
        const gone = space.members.filter((one) => !members.some(({ id }) => id === one.id))
        for (const one of come) yield* spaces.addMember(now, one, house)
        for (const one of gone) yield* spaces.removeMember(now, yield* principals.get(one.id), house)
        return Object.keys(changes).length + come.length + gone.length > 0
      })

      const declare: DeclaredSpaces["Service"]["declare"] = Effect.fn("DeclaredSpaces.declare")(function* (wanted, by) {
        const done: AppliedSpaces = { added: [], changed: [], retired: [] }
        const house = houseViewer(by)
        const before = yield* owned
        const now = DateTime.formatIso(yield* DateTime.now)
        const kept = new Set<SpaceId>()
        for (const one of wanted) {
          // Finds its own space, not one with the same name that somebody who cannot see it has made since.
          const own = (yield* namesakes(one.name))[0]
          if (own?.standing === "foreign")
            return yield* Effect.fail({
              name: one.name,
              message: "a space made at run time has this name; rename one of the two",
            })
          if (own === undefined) {
            const { id } = yield* Effect.mapError(spaces.add(one, house, { absent: true }), fault(one.name))
            yield* Effect.orDie(sql`INSERT INTO declared_spaces ${sql.insert({ space: id })}`)
            kept.add(id)
            done.added.push(`spaces/${one.name}`)
            continue
          }
          kept.add(own.id)
          const space = yield* Effect.orDie(spaces.get(own.id, house))
          const changed = yield* Effect.mapError(follow(space, one, house), fault(one.name))
          if (own.standing === "retired") {
            yield* Effect.orDie(sql`UPDATE declared_spaces SET retired_at = NULL WHERE space = ${own.id}`)
            done.added.push(`spaces/${one.name}`)
          } else if (changed) done.changed.push(`spaces/${one.name}`)
        }
        for (const id of before) {
          if (kept.has(id)) continue
          const space = yield* Effect.orDie(spaces.get(id, house))
          yield* Effect.orDie(sql`UPDATE declared_spaces SET retired_at = ${now} WHERE space = ${id}`)
          if (space.archivedAt === null) yield* Effect.orDie(spaces.change(space, { archived: true }, house))
          done.retired.push(`spaces/${nameKey(space.name)}`)
        }
        return done
      })

      return DeclaredSpaces.of({ declare, declared: Effect.map(owned, ({ size }) => size) })
    }),
  )
}
