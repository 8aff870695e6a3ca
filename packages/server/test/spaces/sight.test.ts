/**
 * The spaces that a principal may see, followed through events, are those that the room computes from its rows, after
 * every event; and those are what the rule says of every row, without the database's own choice of candidates.
 */
import { assert, it } from "@effect/vitest"
import type { MemberRole, Principal, Space } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Rules } from "../../src/access/rights/Rules.ts"
import { houseViewer, type Viewer } from "../../src/access/rights/Viewer.ts"
import { isSeen, judgeSpace } from "../../src/spaces/rules.ts"
import { isOpenSight, losesSight, narrowSight, type Sight, widenSight } from "../../src/spaces/Sight.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Deltas } from "../../src/store/journal/signals/Deltas.ts"
import { SharedDatabase } from "../../src/store/leases/Holder.ts"
import { times } from "../../../../test/long.ts"
import { ground, stores } from "../stores.ts"

const kinds = ["public", "private", "dm", "team"] as const
const people = 6

/** What happens: numbers that choose among what is there. */
const happenings = fc.array(
  fc.oneof(
    fc.record({
      is: fc.constant("add" as const),
      kind: fc.constantFrom(...kinds),
      by: fc.nat(people - 1),
      members: fc.uniqueArray(fc.nat(people - 1), { maxLength: 4 }),
      absent: fc.boolean(),
    }),
    fc.record({
      is: fc.constantFrom("join" as const, "leave" as const),
      space: fc.nat(20),
      whom: fc.nat(people - 1),
    }),
    fc.record({ is: fc.constantFrom("rename" as const, "archive" as const, "restore" as const), space: fc.nat(20) }),
  ),
  { minLength: 5, maxLength: 25 },
)

for (const [name, store] of stores)
  it.live(`X-30 S0-71 what events tell of the spaces one sees is what the rows say, on ${name}`, () =>
    Effect.gen(function* () {
      const { end, read, transact } = yield* Journal
      const [principals, grants, spaces, sql] = [
        yield* Principals,
        yield* Grants,
        yield* Spaces,
        yield* SqlClient.SqlClient,
      ]
      let made = 0
      const fresh = (word: string) => `${word}-${++made}`
      const all: Array<Principal> = []
      const add = Effect.fnUntraced(function* (kind: Principal["kind"], roles?: Principal["roles"]) {
        const wanted = { kind, name: fresh(kind), ...(roles === undefined ? {} : { roles }) }
        const principal = yield* transact(principals.add(wanted))
        all.push(principal)
        return principal
      })
      yield* add("person")
      yield* add("agent")
      yield* add("person", ["admin"])
      yield* add("service")
      // Those whose rules look at names: their set is loaded again.
      for (const effect of ["deny", "ask"] as const) {
        const { id } = yield* add("person")
        yield* transact(grants.add({ principal: id, resource: "spaces/b*", actions: ["read"], effect } as never))
      }
      const keeper = houseViewer(all[0]!)

      const sightOf = Effect.fnUntraced(function* (viewer: Viewer) {
        return { viewer, open: isOpenSight(viewer), spaces: yield* spaces.visibleTo(viewer) } satisfies Sight
      })
      const ofRule = Effect.fnUntraced(function* (viewer: Viewer) {
        const rows = yield* sql<Pick<Space, "id" | "name" | "kind"> & { role: MemberRole | null }>`
          SELECT s.id, s.name, s.kind, (SELECT m.role FROM members m WHERE m.space = s.id
            AND m.principal = ${viewer.principal.id}) AS role FROM spaces s`
        const seen = rows.filter((row) => {
          const read = judgeSpace(viewer, "read", row)
          return isSeen({ kind: row.kind, role: row.role ?? undefined, admin: viewer.all, read })
        })
        return seen.map(({ id }) => id).toSorted()
      })

      const there: Array<Space> = []
      const happen = Effect.fnUntraced(function* (one: Happening) {
        if (one.is === "add") {
          const { absent, by, kind, members } = one
          const others = members.map((at) => all[at]!.id)
          const wanted = { name: fresh(made % 2 === 0 ? "a" : "b"), kind, members: others }
          there.push(yield* spaces.add(wanted, houseViewer(all[by]!), absent ? { absent } : {}))
          return
        }
        if (there.length === 0) return
        const space = yield* spaces.get(there[one.space % there.length]!.id, keeper)
        if (one.is === "rename") yield* spaces.change(space, { name: fresh(made % 2 === 0 ? "a" : "b") }, keeper)
        if (one.is === "archive") yield* spaces.change(space, { archived: true }, keeper)
        if (one.is === "restore") yield* spaces.change(space, { archived: false }, keeper)
        if (one.is === "join") yield* spaces.addMember(space, all[one.whom]!, keeper)
        if (one.is === "leave") {
          const gone = space.members[one.whom % Math.max(1, space.members.length)]
          yield* spaces.removeMember(space, all.find(({ id }) => id === gone?.id) ?? all[one.whom]!, keeper)
        }
      })

      const kept = { followed: 0, loaded: 0 }
      const follow = Effect.fnUntraced(function* (happened: ReadonlyArray<Happening>) {
        const viewers = yield* Effect.forEach(all, ({ id }) => grants.viewerNow(id, "agent", "spaces"))
        const sights = new Map<Viewer, Sight>()
        for (const viewer of viewers) sights.set(viewer, yield* sightOf(viewer))
        for (const one of happened) {
          const from = yield* end
          // A dm that there is, an archived space: refused, and nothing has happened.
          yield* Effect.ignore(transact(happen(one)))
          const events = yield* read({ after: from, limit: 10 })
          for (const viewer of viewers) {
            let sight = sights.get(viewer)!
            if (events.some((event) => losesSight(sight, event))) {
              sight = yield* sightOf(viewer)
              kept.loaded++
            }
            for (const event of events) {
              widenSight(sight, event)
              narrowSight(sight, event)
              kept.followed++
            }
            sights.set(viewer, sight)
            const rows = yield* spaces.visibleTo(viewer)
            const told = `${viewer.principal.name} after ${JSON.stringify(one)}`
            assert.deepStrictEqual([...sight.spaces].toSorted(), [...rows].toSorted(), told)
            assert.deepStrictEqual([...rows].toSorted(), yield* ofRule(viewer), told)
          }
        }
      })
      for (const happened of fc.sample(happenings, { numRuns: times(12, 200), seed: 30 })) yield* follow(happened)
      assert.isAbove(kept.followed, 100)
      assert.isAbove(kept.loaded, 20)
    }).pipe(
      Effect.provide(
        Spaces.layer("stoa.config.json").pipe(
          Layer.provide(Layer.provide(Deltas.layer, Layer.succeed(SharedDatabase, false))),
          Layer.provideMerge(Grants.layer),
          Layer.provideMerge(Layer.mergeAll(Principals.layer("stoa.config.json"), Rules.layer)),
          Layer.provideMerge(ground(store)),
        ),
      ),
      Effect.scoped,
    ),
  )

type Happening = ReturnType<typeof happenings.generate>["value"][number]
