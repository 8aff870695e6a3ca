/**
 * Spaces, their members and read cursors. Every action names its principal, and `rules.ts` is applied here, so that no
 * caller can forget it. To somebody who may not see a space, it does not exist.
 */
import {
  BadInput,
  Forbidden,
  type Message,
  Missing,
  NameTaken,
  type NewSpace,
  OwnedByFile,
  type Principal,
  type PrincipalId,
  type Space,
  type SpaceChange,
  type SpaceId,
  type SpaceKind,
  type TriggerRule,
  WrongState,
} from "@stoa/contract"
import { spellingOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { nameKey, nameTaken, Principals } from "../access/identity/Principals.ts"
import { demandsOf, findVisible } from "../access/rights/FindIfPermitted.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import { newId } from "../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../store/journal/Journal.ts"
import { Deltas } from "../store/journal/signals/Deltas.ts"
import { lockName } from "../store/database/dialect/Locks.ts"
import { dmBetween, lastSeqsIn, ownersIn, pairOf, peopleIn, type SpacePeople } from "./rows.ts"
import { type SpaceReads, makeSpaceReads } from "./spaceReads.ts"
import { withoutWrongState, type SpaceRefusal, refuseAct, type SightRefusal } from "./refusals.ts"
import { type Act, judgeAct, memberOf, accessOf } from "./rules.ts"

const usualTriggerRule = (kind: SpaceKind): TriggerRule =>
  kind === "dm" ? "dm" : kind === "team" ? "team-edge" : "mention"

/** Lists are sorted by name, then by id. */
const orderOf = (name: string, id: string): string => `${nameKey(name)} ${id}`

export class Spaces extends Context.Service<
  Spaces,
  SpaceReads & {
    /** `absent`: opened for others, without joining it. `id`: chosen beforehand. */
    readonly add: (
      wanted: NewSpace,
      by: Viewer,
      options?: { readonly absent?: true; readonly id?: SpaceId },
    ) => Effect.Effect<Space, NameTaken | Missing | BadInput | Forbidden, Transaction>
    /** The DM of two principals, whatever its name; undefined if they have none. */
    readonly between: (one: PrincipalId, other: PrincipalId) => Effect.Effect<SpaceId | undefined>
    /**
     * Fails unless the viewer may do this there; if a message is given, to that message. What is said of the space is
     * what it was when it was loaded: whoever changes something loads it in the same transaction.
     */
    readonly require: (act: Act, space: Space, viewer: Viewer, message?: Message) => Effect.Effect<void, SpaceRefusal>
    readonly change: (
      space: Space,
      changes: SpaceChange,
      by: Viewer,
    ) => Effect.Effect<void, NameTaken | SpaceRefusal | OwnedByFile, Transaction>
    /** Whom a caller means who adds or removes a member: one of them, or a principal that it may see. */
    readonly memberNamed: (space: Space, ref: string, by: Viewer) => Effect.Effect<Principal, Missing | Forbidden>
    readonly addMember: (
      space: Space,
      member: Principal,
      by: Viewer,
    ) => Effect.Effect<void, SpaceRefusal | OwnedByFile, Transaction>
    readonly removeMember: (
      space: Space,
      member: Principal,
      by: Viewer,
    ) => Effect.Effect<void, SpaceRefusal | OwnedByFile, Transaction>
    /** Shows to those who see the space that somebody is typing there; it is not stored. */
    readonly typing: (space: Space, by: Viewer) => Effect.Effect<void, SpaceRefusal>
    readonly markRead: (space: Space, by: Viewer, seq: number) => Effect.Effect<void, SightRefusal, Transaction>
    /** The people in it, the longest members first: since when, and who let them in. */
    readonly peopleOf: (space: SpaceId) => Effect.Effect<SpacePeople>
    readonly ownersOf: (space: string) => Effect.Effect<ReadonlyArray<PrincipalId>>
    /** Of these, the ones that a principal owns: the number of the newest message in each. */
    readonly lastSeqs: (owner: PrincipalId, ids: ReadonlyArray<SpaceId>) => Effect.Effect<ReadonlyMap<string, number>>
  }
>()("server/spaces/Spaces") {
  /** `file`: the configuration file, whose spaces nobody else may change. */
  static readonly layer = (file: string) =>
    Layer.effect(
      Spaces,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const journal = yield* Journal
        const principals = yield* Principals
        const deltas = yield* Deltas

        const { alike, get, list, made, ofMember, ownOf, visibleTo, watchScope } = makeSpaceReads(sql)

        const require: Spaces["Service"]["require"] = (act, space, viewer, message) =>
          Effect.suspend((): Effect.Effect<void, SpaceRefusal> => {
            const standing = accessOf(viewer, space, memberOf(space, viewer.principal.id)?.role, {
              archived: space.archivedAt !== null,
              author: message?.author.id === viewer.principal.id,
            })
            const said = judgeAct(act, standing)
            return said.is === "yes" ? Effect.void : refuseAct(act, said, space, viewer, message)
          })

        /** A space of the configuration file can be changed only there. */
        const free = Effect.fnUntraced(function* (space: Space, { house }: Viewer) {
          if (house === true) return
          const rows = yield* Effect.orDie(
            sql`SELECT space FROM declared_spaces WHERE space = ${space.id} AND retired_at IS NULL`,
          )
          if (rows.length > 0) return yield* new OwnedByFile({ noun: "space", name: space.name, file })
        })

        const visible = (ref: string, by: Viewer) =>
          findVisible(demandsOf(by), principals.get(ref), { ref, self: by.principal.id })

        const membersFor = Effect.fnUntraced(function* (wanted: NewSpace, viewer: Viewer, absent: boolean) {
          const { all, principal: by } = viewer
          const given = yield* Effect.forEach(wanted.members ?? [], (ref) => visible(ref, viewer))
          const left = given.findIndex((one) => one.retiredAt !== null)
          if (left >= 0) return yield* bad(`members.${left}`, `must not be retired; ${given[left]!.name} is`)
          const named = given.map((one) => one.id)
          // The opener is a member; a dm is between the two principals it names.
          const members = [
            ...new Set(absent || (wanted.kind === "dm" && named.length >= 2) ? named : [by.id, ...named]),
          ]
          if (wanted.kind === "dm" && members.length !== 2)
            return yield* bad("members", `a dm must have exactly two members, not ${members.length}`)
          // Otherwise a refusal would reveal whether two others have a dm, and its name.
          if (wanted.kind === "dm" && !all && !members.includes(by.id))
            return yield* bad("members", "a dm must include you")
          return members
        })

        /**
         * A name is free for a viewer that sees no space of a name that reads like it: otherwise a refusal would reveal
         * one. `of`: the space that is to have it.
         */
        const nameFor = Effect.fnUntraced(function* (name: string, viewer: Viewer, of: SpaceId) {
          const spelling = spellingOf(name)
          yield* Effect.orDie(lockName(sql, "spaces", spelling))
          const others = (yield* alike(name, viewer)).filter(({ id }) => id !== of)
          const taken = others.map((other) => other.name)
          if (taken.length > 0) return yield* nameTaken("space", name, taken)
          return { name, lookupKey: nameKey(name), nameKey: orderOf(name, of), spelling }
        })

        const add: Spaces["Service"]["add"] = Effect.fn("Spaces.add")(function* (wanted, by, options = {}) {
          const { rule, verdict } = by.judge("write", `spaces/${wanted.name}`)
          if (verdict !== "allow")
            return yield* new Forbidden({ action: "write", resource: `spaces/${wanted.name}`, rule })
          const members = yield* membersFor(wanted, by, options.absent === true)
          const now = DateTime.formatIso(yield* DateTime.now)
          const id = options.id ?? newId<SpaceId>("spc")
          const row = {
            id,
            ...(yield* nameFor(wanted.name, by, id)),
            kind: wanted.kind,
            pair: wanted.kind === "dm" ? pairOf(members) : null,
            triggerPolicy: wanted.trigger ?? usualTriggerRule(wanted.kind),
            topic: wanted.topic ?? null,
            lastSeq: 0,
            createdAt: now,
            archivedAt: null,
            openedBy: by.house === true ? "house" : by.principal.id,
          }
          const talking = yield* Effect.orDie(sql<{ name: string }>`SELECT name FROM spaces WHERE pair = ${row.pair}`)
          if (talking[0] !== undefined) return yield* new NameTaken({ noun: "space", name: talking[0].name })
          yield* Effect.catchReason(sql`INSERT INTO spaces ${sql.insert(row)}`, "SqlError", "UniqueViolation", () =>
            Effect.fail(new NameTaken({ noun: "space", name: wanted.name })),
          ).pipe(Effect.catchTag("SqlError", Effect.die))
          const after = yield* journal.committed
          const rows = members.map((principal) => ({
            space: id,
            principal,
            role: principal === by.principal.id ? "owner" : "member",
            readSeq: 0,
            joinedAt: now,
            joinedAfter: after,
            letInBy: row.openedBy,
          }))
          if (rows.length > 0) yield* Effect.orDie(sql`INSERT INTO members ${sql.insert(rows as never)}`)
          yield* journal.append({
            kind: "space.added",
            space: id,
            body: { space: id, name: row.name, kind: row.kind, trigger: row.triggerPolicy, members },
          })
          return yield* made(id, by)
        })

        const change: Spaces["Service"]["change"] = Effect.fn("Spaces.change")(function* (space, changes, by) {
          const { archived, topic: _, ...rest } = changes
          const small = archived === undefined && Object.keys(rest).length === 0
          yield* require(archived === false ? "restore" : small ? "topic" : "change", space, by)
          yield* free(space, by)
          const { name } = changes
          // The same name in another case is no other name, whatever reads like it.
          const renamed = name !== undefined && nameKey(name) !== nameKey(space.name)
          const named = renamed ? yield* nameFor(name, by, space.id) : name === undefined ? {} : { name }
          const now = DateTime.formatIso(yield* DateTime.now)
          const row = {
            ...named,
            ...(changes.topic === undefined ? {} : { topic: changes.topic }),
            ...(changes.trigger === undefined ? {} : { triggerPolicy: changes.trigger }),
            ...(archived === undefined ? {} : { archivedAt: archived ? now : null }),
          }
          if (Object.keys(row).length === 0) return
          yield* Effect.orDie(sql`UPDATE spaces SET ${sql.update(row)} WHERE id = ${space.id}`)
          yield* journal.append({
            kind: "space.changed",
            space: space.id,
            body: { space: space.id, changes: Object.keys(changes) },
          })
        })

        const memberNamed: Spaces["Service"]["memberNamed"] = Effect.fn("Spaces.memberNamed")(
          function* (space, ref, by) {
            const key = nameKey(ref)
            const known = space.members.find(({ id, name }) => id === ref || nameKey(name) === key)
            return known === undefined ? yield* visible(ref, by) : yield* principals.get(known.id)
          },
        )

        const addMember: Spaces["Service"]["addMember"] = Effect.fn("Spaces.addMember")(function* (space, member, by) {
          yield* require(member.id === by.principal.id ? "join" : "invite", space, by)
          yield* free(space, by)
          if (member.retiredAt !== null) return yield* new WrongState({ detail: `${member.name} is retired.` })
          const joinedAt = DateTime.formatIso(yield* DateTime.now)
          const role = "member"
          // A new member has nothing unread: earlier messages were not addressed to it.
          const letInBy = by.house === true ? "house" : by.principal.id
          const joinedAfter = yield* journal.committed
          const place = { space: space.id, principal: member.id, role, readSeq: space.lastSeq }
          const row = { ...place, joinedAt, joinedAfter, letInBy }
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
          function* (space, member, by) {
            yield* require(member.id === by.principal.id ? "leave" : "expel", space, by)
            yield* free(space, by)
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

        const typing: Spaces["Service"]["typing"] = Effect.fn("Spaces.typing")(function* (space, by) {
          yield* require("type", space, by)
          const { id: actor, name } = by.principal
          yield* deltas.emit({ kind: "typing", at: yield* DateTime.now, space: space.id, actor, body: { name } })
        })

        const markRead: Spaces["Service"]["markRead"] = Effect.fn("Spaces.markRead")(function* (space, by, wanted) {
          yield* withoutWrongState(require("mark", space, by))
          const member = by.principal.id
          const seq = Math.min(wanted, space.lastSeq)
          const rows = yield* Effect.orDie(
            sql<{ readSeq: number }>`UPDATE members SET read_seq = ${seq}
              WHERE space = ${space.id} AND principal = ${member} AND read_seq < ${seq} RETURNING read_seq`,
          )
          if (rows.length > 0)
            yield* journal.append({ kind: "space.read", body: { space: space.id, principal: member, seq } })
        })

        return Spaces.of({
          add,
          get,
          ofMember,
          between: (one, other) => dmBetween(sql, one, other),
          list,
          require,
          change,
          memberNamed,
          addMember,
          removeMember,
          typing,
          markRead,
          peopleOf: (space) => Effect.orDie(peopleIn(sql, space)),
          ownersOf: (space) => Effect.orDie(ownersIn(sql, space)),
          visibleTo,
          ownOf,
          lastSeqs: (owner, ids) => Effect.orDie(lastSeqsIn(sql, owner, ids)),
          watchScope,
        })
      }),
    )
}

const bad = (path: string, message: string) => Effect.fail(new BadInput({ issues: [{ path, message }] }))

export const isMember = (space: Space, principal: PrincipalId): boolean => memberOf(space, principal) !== undefined
