/**
 * What an agent is told of its other runs: only what everybody who reads the space in which it stands may see, because
 * what it is told, it may say there. A public space is read by the whole house, members or not, so what it is told there
 * must be public, too. A run without a space is its own audience, and is told of none.
 */
import type { PrincipalId, RunId, SpaceId, SpaceKind } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../access/rights/Grants.ts"
import { asMember } from "../access/rights/Viewer.ts"
import { activeSpaceOf } from "../spaces/ActiveSpaces.ts"
import { makeMessageReads } from "../spaces/MessageReads.ts"
import { Spaces } from "../spaces/Spaces.ts"

/** In a space with more members, only runs of the same space are told. */
const maxMembers = 50

/** The space in which a run stands, as far as it may see that itself, with its members. */
export interface Audience {
  readonly id: SpaceId
  readonly kind: SpaceKind
  readonly members: ReadonlyArray<{ readonly id: PrincipalId }>
}

export const makeAudience = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const grants = yield* Grants
  const spaces = yield* Spaces
  const { audienceOf } = makeMessageReads(sql)

  /** Whether a member sees what is said in another space, as a member there and by its rules. */
  const sees = Effect.fnUntraced(function* (member: PrincipalId, space: SpaceId, kind: SpaceKind) {
    const viewer = yield* Effect.option(grants.viewerNow(member, "agent", "spaces"))
    if (viewer._tag === "None") return false
    const found = yield* Effect.option(spaces.get(space, asMember(viewer.value)))
    return found._tag === "Some" && (kind !== "public" || found.value.kind === "public")
  })

  /** Of these spaces, those that everybody in the audience sees. */
  const seenByAll = Effect.fnUntraced(function* (audience: Audience | null, others: Iterable<SpaceId>) {
    const seen = new Set<string>()
    if (audience === null) return seen
    for (const other of new Set(others)) {
      if (other === audience.id) seen.add(other)
      if (other === audience.id || audience.members.length > maxMembers) continue
      let all = true
      for (const { id } of audience.members) all = all && (yield* sees(id, other, audience.kind))
      if (all) seen.add(other)
    }
    return seen
  })

  /** Of these runs, those whose words the audience may know. */
  const mayTell = Effect.fnUntraced(function* (audience: Audience | null, runs: ReadonlyArray<string>) {
    if (audience === null || runs.length === 0) return new Set<string>()
    const rows = yield* Effect.orDie(
      sql<{ id: RunId; space: SpaceId }>`SELECT id, trigger_space AS space FROM runs
        WHERE ${sql.in("id", runs)} AND trigger_space IS NOT NULL`,
    )
    const seen = yield* seenByAll(
      audience,
      rows.map(({ space }) => space),
    )
    return new Set<string>(rows.filter(({ space }) => seen.has(space)).map(({ id }) => id))
  })

  /** The same for a run of the same agent: its own words it may know. Without a run, it is told all. */
  const mayTellIn = Effect.fn("Audience.mayTellIn")(function* (run: string | null, runs: ReadonlyArray<string>) {
    if (run === null) return new Set(runs)
    const rows = yield* Effect.orDie(
      sql<{ space: SpaceId | null }>`SELECT COALESCE(${activeSpaceOf(sql, sql`r.id`)}, r.trigger_space) AS space
        FROM runs r WHERE r.id = ${run}`,
    )
    const told = yield* mayTell(yield* audienceOf(rows[0]?.space ?? null), runs)
    return told.add(run)
  })

  return { seenByAll, mayTell, mayTellIn }
})
