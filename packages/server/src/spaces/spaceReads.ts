/** How spaces are found: by name, by id or in lists, and only those that `rules.ts` lets the viewer see. */
import {
  Ambiguous,
  Forbidden,
  type MemberRole,
  Missing,
  type Page,
  type PageQuery,
  type Space,
  type SpaceId,
} from "@stoa/contract"
import { spellingOf } from "@stoa/tools"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { nameKey } from "../access/identity/Principals.ts"
import { asMember, type Viewer } from "../access/rights/Viewer.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import { type SightRefusal, refuseSight } from "./refusals.ts"
import { type SpaceRow, spacesFrom } from "./rows.ts"
import { isSeen, judgeSpace, memberOf } from "./rules.ts"
import { isOpenSight, type WatchScope } from "./Sight.ts"

/** No name looks like an id, so that nobody can impersonate another's space. */
const isId = (ref: string): boolean => ref.startsWith("spc_")

interface Row extends SpaceRow {
  readonly nameKey: string
  readonly myRole: MemberRole | null
}

export interface SpaceReads {
  readonly get: (ref: string, viewer: Viewer) => Effect.Effect<Space, SightRefusal | Ambiguous>
  /** Only one that the viewer is a member of, as seed 001 wants it in every kind of space (S1-38, S1-51). */
  readonly ofMember: (ref: string, viewer: Viewer) => Effect.Effect<Space, SightRefusal | Ambiguous>
  /**
   * All that are not archived; fails if the viewer's rights let it see none. `asMember`: its own and public ones, even
   * if it is an admin, who sees everybody's.
   */
  readonly list: (
    viewer: Viewer,
    query: PageQuery,
    options?: { readonly asMember?: true },
  ) => Effect.Effect<Page<Space>, Forbidden>
  /** Those the viewer may see now. */
  readonly visibleTo: (viewer: Viewer) => Effect.Effect<Set<string>>
  /** Those it is a member of, in this role if one is given, and may see now. */
  readonly ownOf: (viewer: Viewer, role?: MemberRole) => Effect.Effect<ReadonlyArray<SpaceId>>
  /** What the viewer may follow now: all events, or those of its spaces. `Sight.ts` keeps it current. */
  readonly watchScope: (viewer: Viewer) => Effect.Effect<WatchScope>
}

export const makeSpaceReads = (sql: SqlClient.SqlClient) => {
  const mine = ({ principal }: Viewer) => sql`LEFT JOIN members r ON r.space = s.id AND r.principal = ${principal.id}`
  // The database filters by kind and membership, so that few rows are read; `sees` applies the rules.
  const candidates = ({ all }: Viewer) => (all ? sql`1 = 1` : sql`(s.kind = 'public' OR r.principal IS NOT NULL)`)
  const sees = (
    viewer: Viewer,
    row: Pick<Row, "id" | "name" | "kind" | "myRole">,
    read = judgeSpace(viewer, "read", row),
  ): boolean => isSeen({ kind: row.kind, role: row.myRole ?? undefined, admin: viewer.all, read })

  const named = Effect.fnUntraced(function* (ref: string, viewer: Viewer) {
    const rows = yield* sql<Row>`SELECT s.*, r.read_seq, r.role AS my_role FROM spaces s ${mine(viewer)}
      WHERE ${isId(ref) ? sql`s.id = ${ref}` : sql`s.lookup_key = ${nameKey(ref)}`} AND ${candidates(viewer)}`
    return rows.filter((row) => sees(viewer, row))
  }, Effect.orDie)

  const get: SpaceReads["get"] = Effect.fn("Spaces.get")(function* (ref, viewer) {
    const rows = yield* named(ref, viewer)
    if (rows.length > 1)
      return yield* new Ambiguous({ noun: "space", name: ref, ids: rows.map(({ id }) => id).toSorted() })
    const found = yield* Effect.orDie(spacesFrom(sql, rows))
    return found[0] ?? (yield* refuseSight("space", ref, viewer, `spaces/${ref}`))
  })

  const ofMember: SpaceReads["ofMember"] = Effect.fn("Spaces.ofMember")(function* (ref, viewer) {
    const space = yield* get(ref, viewer)
    return memberOf(space, viewer.principal.id) !== undefined ? space : yield* new Missing({ noun: "space", ref })
  })

  const list: SpaceReads["list"] = Effect.fn("Spaces.list")(function* (by, query, options = {}) {
    const { after, limit } = pageFrom(query)
    const viewer = options.asMember === true ? asMember(by) : by
    const seen: Array<Row> = []
    for (let from = after, more = viewer.coverage("read", "spaces/") !== "none"; more;) {
      const rows = yield* Effect.orDie(
        sql<Row>`SELECT s.*, r.read_seq, r.role AS my_role FROM spaces s ${mine(viewer)}
          WHERE s.archived_at IS NULL AND ${candidates(viewer)} AND s.name_key > ${from}
          ORDER BY s.name_key LIMIT ${limit + 1}`,
      )
      seen.push(...rows.filter((row) => sees(viewer, row)))
      more = seen.length <= limit && rows.length > limit
      from = rows.at(-1)?.nameKey ?? from
    }
    if (seen.length === 0 && after === "") {
      const { rule, verdict } = viewer.judge("read", "spaces/*")
      if (verdict !== "allow") return yield* new Forbidden({ action: "read", resource: "spaces/*", rule })
    }
    const page = pageOf(
      seen,
      limit,
      (row) => row,
      (row) => row.nameKey,
    )
    return { items: yield* Effect.orDie(spacesFrom(sql, page.items)), next: page.next }
  })

  /** One that was just made, as its maker sees it. */
  const made = Effect.fnUntraced(function* (id: SpaceId, by: Viewer) {
    const rows = yield* sql<Row>`SELECT s.*, r.read_seq FROM spaces s ${mine(by)} WHERE s.id = ${id}`
    return (yield* spacesFrom(sql, rows))[0]!
  }, Effect.orDie)

  /** What is said of all of them is not asked again of each. */
  const readOfAll = (viewer: Viewer) =>
    viewer.coverage("read", "spaces/") === "all" ? viewer.judge("read", "spaces/*") : undefined

  const visibleTo: SpaceReads["visibleTo"] = Effect.fnUntraced(function* (viewer: Viewer) {
    if (viewer.coverage("read", "spaces/") === "none") return new Set<string>()
    const read = readOfAll(viewer)
    const rows = yield* sql<Row>`SELECT s.id, s.name, s.kind, r.role AS my_role FROM spaces s ${mine(viewer)}
      WHERE ${candidates(viewer)}`
    return new Set(rows.filter((row) => sees(viewer, row, read)).map((row) => row.id))
  }, Effect.orDie)

  const ownOf: SpaceReads["ownOf"] = Effect.fnUntraced(function* (viewer: Viewer, role?: MemberRole) {
    const read = readOfAll(viewer)
    const rows = yield* sql<Row>`SELECT s.id, s.name, s.kind, m.role AS my_role FROM spaces s
      JOIN members m ON m.space = s.id WHERE m.principal = ${viewer.principal.id}
        AND ${role === undefined ? sql`1 = 1` : sql`m.role = ${role}`}`
    return rows.filter((row) => sees(viewer, row, read)).map((row) => row.id)
  }, Effect.orDie)

  /** Those that a rule denies to the viewer: even with the right to read all events, it may not read theirs. */
  const refusedTo = Effect.fnUntraced(function* (viewer: Viewer) {
    if (viewer.coverage("read", "spaces/") === "all") return new Set<string>()
    const rows = yield* sql<Row>`SELECT id, name FROM spaces`
    const said = rows.map((row) => ({ id: row.id, ...judgeSpace(viewer, "read", row) }))
    return new Set<string>(said.flatMap((it) => (it.verdict !== "allow" && it.rule !== "silence" ? it.id : [])))
  }, Effect.orDie)

  const watchScope: SpaceReads["watchScope"] = Effect.fnUntraced(function* (viewer: Viewer) {
    const everything = viewer.judge("read", "events/*").verdict === "allow"
    return {
      viewer,
      everything,
      open: isOpenSight(viewer),
      spaces: everything ? new Set<string>() : yield* visibleTo(viewer),
      refused: everything ? yield* refusedTo(viewer) : new Set<string>(),
    }
  })

  /** The names of those that the viewer sees and whose names read like this one. */
  const alike = Effect.fnUntraced(function* (name: string, viewer: Viewer) {
    const rows = yield* sql<Row>`SELECT s.*, r.read_seq, r.role AS my_role FROM spaces s ${mine(viewer)}
      WHERE s.spelling = ${spellingOf(name)} AND ${candidates(viewer)}`
    return rows.filter((row) => sees(viewer, row))
  }, Effect.orDie)

  return { alike, made, get, ofMember, list, visibleTo, ownOf, watchScope }
}
