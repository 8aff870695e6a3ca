/** Spaces and who is in them. A space one may not see looks like one that does not exist (X-30). */
import {
  BadInput,
  type Member,
  type MemberRole,
  Missing,
  NameTaken,
  type NewSpace,
  type Page,
  type PageQuery,
  type Principal,
  type PrincipalId,
  type Space,
  type SpaceChange,
  type SpaceId,
  type SpaceKind,
  type Trigger,
  WrongState,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { nameKey, Principals } from "../access/identity/Principals.ts"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import { type SpaceRow, spacesFrom } from "./rows.ts"

/** Who looks, and whether they may look everywhere: admins may. */
export interface Viewer {
  readonly principal: Principal
  readonly all: boolean
  /** Opens a space for others, without being in it. */
  readonly absent?: true
}

const usualTrigger = (kind: SpaceKind): Trigger => (kind === "dm" ? "dm" : kind === "team" ? "team-edge" : "mention")

/** No name looks like an id, so that nobody can take the place of another's space. */
const isId = (ref: string): boolean => ref.startsWith("spc_")

/** A DM is the pair, not its spelling (S0-54). */
const pairOf = (members: ReadonlyArray<PrincipalId>): string => members.toSorted().join(" ")

export class Spaces extends Context.Service<
  Spaces,
  {
    readonly add: (wanted: NewSpace, by: Viewer) => Effect.Effect<Space, NameTaken | Missing | BadInput, Transaction>
    readonly get: (ref: string, viewer: Viewer) => Effect.Effect<Space, Missing>
    readonly list: (viewer: Viewer, query: PageQuery) => Effect.Effect<Page<Space>>
    readonly change: (space: Space, changes: SpaceChange) => Effect.Effect<void, NameTaken | WrongState, Transaction>
    readonly addMember: (
      space: Space,
      member: Principal,
      role?: MemberRole,
    ) => Effect.Effect<void, WrongState, Transaction>
    readonly removeMember: (space: Space, member: Principal) => Effect.Effect<void, WrongState, Transaction>
    readonly markRead: (space: Space, member: Principal, seq: number) => Effect.Effect<void, Missing, Transaction>
    readonly membersOf: (space: SpaceId) => Effect.Effect<ReadonlyArray<Pick<Principal, "id" | "kind">>>
    /** The spaces a principal is in. */
    readonly spacesOf: (principal: PrincipalId) => Effect.Effect<ReadonlyArray<SpaceId>>
    /** The spaces whose events a principal may see now: its own, and the public ones. */
    readonly visibleTo: (principal: PrincipalId) => Effect.Effect<ReadonlySet<string>>
  }
>()("server/spaces/Spaces") {
  static readonly layer = Layer.effect(
    Spaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const principals = yield* Principals

      const visible = ({ all, principal }: Viewer) =>
        all
          ? sql`1 = 1`
          : sql`(s.kind = 'public' OR s.id IN (SELECT space FROM members WHERE principal = ${principal.id}))`
      const readBy = (viewer: Viewer) =>
        sql`LEFT JOIN members r ON r.space = s.id AND r.principal = ${viewer.principal.id}`

      const get: Spaces["Service"]["get"] = Effect.fn("Spaces.get")(function* (ref, viewer) {
        const rows = yield* sql<SpaceRow>`SELECT s.*, r.read_seq FROM spaces s ${readBy(viewer)}
          WHERE ${isId(ref) ? sql`s.id = ${ref}` : sql`s.name_key = ${nameKey(ref)}`} AND ${visible(viewer)}`.pipe(
          Effect.orDie,
        )
        const found = yield* Effect.orDie(spacesFrom(sql, rows))
        return found[0] ?? (yield* new Missing({ noun: "space", ref }))
      })

      const list: Spaces["Service"]["list"] = Effect.fn("Spaces.list")(function* (viewer: Viewer, query: PageQuery) {
        const { after, limit } = pageFrom(query)
        const rows = yield* sql<SpaceRow>`SELECT s.*, r.read_seq FROM spaces s ${readBy(viewer)}
          WHERE s.archived_at IS NULL AND ${visible(viewer)} AND s.name_key > ${after}
          ORDER BY s.name_key LIMIT ${limit + 1}`
        const page = pageOf(
          rows,
          limit,
          (row) => row,
          (row) => nameKey(row.name),
        )
        return { items: yield* spacesFrom(sql, page.items), next: page.next }
      }, Effect.orDie)

      const membersFor = Effect.fnUntraced(function* (wanted: NewSpace, { absent, all, principal: by }: Viewer) {
        const given = yield* Effect.forEach(wanted.members ?? [], (ref) => principals.get(ref))
        const left = given.findIndex((one) => one.retiredAt !== null)
        if (left >= 0)
          return yield* new BadInput({
            issues: [
              { path: `members.${left}`, message: `somebody who is here; ${given[left]!.name} has left the house` },
            ],
          })
        const named = given.map((one) => one.id)
        // Whoever opens a space is in it; a dm is between the two it names.
        const members = [
          ...new Set(absent === true || (wanted.kind === "dm" && named.length >= 2) ? named : [by.id, ...named]),
        ]
        if (wanted.kind === "dm" && members.length !== 2)
          return yield* new BadInput({
            issues: [
              { path: "members", message: `a dm has exactly two members, and this one would have ${members.length}` },
            ],
          })
        // Else a refusal would tell strangers whether two others talk, and under which name.
        if (wanted.kind === "dm" && !all && !members.includes(by.id))
          return yield* new BadInput({ issues: [{ path: "members", message: "a dm that you are in yourself" }] })
        return members
      })

      const add: Spaces["Service"]["add"] = Effect.fn("Spaces.add")(function* (wanted, by) {
        const members = yield* membersFor(wanted, by)
        const now = DateTime.formatIso(yield* DateTime.now)
        const id = newId<SpaceId>("spc")
        const row = {
          id,
          name: wanted.name,
          nameKey: nameKey(wanted.name),
          kind: wanted.kind,
          pair: wanted.kind === "dm" ? pairOf(members) : null,
          triggerPolicy: wanted.trigger ?? usualTrigger(wanted.kind),
          topic: wanted.topic ?? null,
          lastSeq: 0,
          createdAt: now,
          archivedAt: null,
        }
        const taken = yield* Effect.orDie(
          sql<{ name: string }>`SELECT name FROM spaces WHERE name_key = ${row.nameKey} OR pair = ${row.pair}`,
        )
        if (taken[0] !== undefined) return yield* new NameTaken({ noun: "space", name: taken[0].name })
        yield* Effect.catchReason(sql`INSERT INTO spaces ${sql.insert(row)}`, "SqlError", "UniqueViolation", () =>
          Effect.fail(new NameTaken({ noun: "space", name: wanted.name })),
        ).pipe(Effect.catchTag("SqlError", Effect.die))
        const rows = members.map((principal) => ({
          space: id,
          principal,
          role: principal === by.principal.id ? "owner" : "member",
          readSeq: 0,
          joinedAt: now,
        }))
        if (rows.length > 0) yield* Effect.orDie(sql`INSERT INTO members ${sql.insert(rows as never)}`)
        yield* journal.append({
          kind: "space.added",
          space: id,
          body: { space: id, name: row.name, kind: row.kind, trigger: row.triggerPolicy, members },
        })
        return yield* Effect.orDie(get(id, { ...by, all: true }))
      })

      const change: Spaces["Service"]["change"] = Effect.fn("Spaces.change")(function* (space, changes) {
        if (space.archivedAt !== null && changes.archived !== false)
          return yield* new WrongState({
            detail: `${space.name} is archived. Bring it back first with {"archived": false}.`,
          })
        if (changes.name !== undefined && nameKey(changes.name) !== nameKey(space.name)) {
          const taken = yield* Effect.orDie(sql`SELECT id FROM spaces WHERE name_key = ${nameKey(changes.name)}`)
          if (taken.length > 0) return yield* new NameTaken({ noun: "space", name: changes.name })
        }
        const now = DateTime.formatIso(yield* DateTime.now)
        const row = {
          ...(changes.name === undefined ? {} : { name: changes.name, nameKey: nameKey(changes.name) }),
          ...(changes.topic === undefined ? {} : { topic: changes.topic }),
          ...(changes.trigger === undefined ? {} : { triggerPolicy: changes.trigger }),
          ...(changes.archived === undefined ? {} : { archivedAt: changes.archived ? now : null }),
        }
        if (Object.keys(row).length === 0) return
        yield* Effect.catchReason(
          sql`UPDATE spaces SET ${sql.update(row)} WHERE id = ${space.id}`,
          "SqlError",
          "UniqueViolation",
          () => Effect.fail(new NameTaken({ noun: "space", name: changes.name ?? space.name })),
        ).pipe(Effect.catchTag("SqlError", Effect.die))
        yield* journal.append({
          kind: "space.changed",
          space: space.id,
          body: { space: space.id, changes: Object.keys(changes) },
        })
      })

      const settled = Effect.fnUntraced(function* (space: Space) {
        if (space.kind === "dm")
          return yield* new WrongState({ detail: "A dm is between its two members; open a private space for more." })
        if (space.archivedAt !== null) return yield* new WrongState({ detail: `${space.name} is archived.` })
      })

      const addMember: Spaces["Service"]["addMember"] = Effect.fn("Spaces.addMember")(function* (
        space,
        member,
        role = "member",
      ) {
        yield* settled(space)
        if (member.retiredAt !== null) return yield* new WrongState({ detail: `${member.name} has left the house.` })
        const joinedAt = DateTime.formatIso(yield* DateTime.now)
        // A newcomer has nothing unread: what was said before was not said to it.
        const row = { space: space.id, principal: member.id, role, readSeq: space.lastSeq, joinedAt }
        const rows = yield* Effect.orDie(
          sql`INSERT INTO members ${sql.insert(row)} ON CONFLICT (space, principal) DO NOTHING RETURNING space`,
        )
        if (rows.length === 0) return
        yield* journal.append({
          kind: "member.added",
          space: space.id,
          body: { space: space.id, principal: member.id, role },
        })
      })

      const removeMember: Spaces["Service"]["removeMember"] = Effect.fn("Spaces.removeMember")(
        function* (space, member) {
          yield* settled(space)
          const rows = yield* Effect.orDie(
            sql`DELETE FROM members WHERE space = ${space.id} AND principal = ${member.id} RETURNING space`,
          )
          if (rows.length === 0) return
          yield* journal.append({
            kind: "member.removed",
            space: space.id,
            body: { space: space.id, principal: member.id, open: space.kind === "public" },
          })
        },
      )

      const markRead: Spaces["Service"]["markRead"] = Effect.fn("Spaces.markRead")(function* (space, member, wanted) {
        const seq = Math.min(wanted, space.lastSeq)
        const rows = yield* Effect.orDie(
          sql<{ readSeq: number }>`UPDATE members SET read_seq = ${seq}
            WHERE space = ${space.id} AND principal = ${member.id} AND read_seq < ${seq} RETURNING read_seq`,
        )
        if (rows.length > 0)
          yield* journal.append({ kind: "space.read", body: { space: space.id, principal: member.id, seq } })
        else if (!isMember(space, member.id)) return yield* new Missing({ noun: "membership in", ref: space.name })
      })

      const visibleTo: Spaces["Service"]["visibleTo"] = Effect.fnUntraced(function* (principal: PrincipalId) {
        const rows = yield* sql<{ id: string }>`SELECT id FROM spaces WHERE kind = 'public'
          UNION SELECT space AS id FROM members WHERE principal = ${principal}`
        return new Set(rows.map((row) => row.id))
      }, Effect.orDie)

      const membersOf: Spaces["Service"]["membersOf"] = Effect.fnUntraced(function* (space: SpaceId) {
        return yield* sql<Pick<Principal, "id" | "kind">>`SELECT p.id, p.kind FROM members m
          JOIN principals p ON p.id = m.principal WHERE m.space = ${space} AND p.retired_at IS NULL ORDER BY p.name_key`
      }, Effect.orDie)

      const spacesOf: Spaces["Service"]["spacesOf"] = Effect.fnUntraced(function* (principal: PrincipalId) {
        const rows = yield* sql<{ space: SpaceId }>`SELECT space FROM members WHERE principal = ${principal}`
        return rows.map((row) => row.space)
      }, Effect.orDie)

      return Spaces.of({ add, get, list, change, addMember, removeMember, markRead, membersOf, spacesOf, visibleTo })
    }),
  )
}

export const memberOf = (space: Space, principal: PrincipalId): Member | undefined =>
  space.members.find((member) => member.id === principal)

export const isMember = (space: Space, principal: PrincipalId): boolean => memberOf(space, principal) !== undefined
