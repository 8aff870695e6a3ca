/** Which events and signals a watcher sees: what the feed asks for each of them. */
import { assert, describe, it } from "@effect/vitest"
import { type Delta, type Event, kinds, type Principal, type PrincipalId } from "@stoa/contract"
import { changesRights, isConcerned } from "../../src/access/rights/Concerned.ts"
import { houseViewer } from "../../src/access/rights/Viewer.ts"
import { emptySight, isStale, maySee, maySeeDelta, type WatchScope } from "../../src/spaces/Sight.ts"

const me = "prn_00000000-0000-4000-8000-000000000001" as PrincipalId
const principal = { id: me } as Principal
const sight = (over: Partial<WatchScope> = {}): WatchScope => ({
  viewer: { ...houseViewer(principal), all: false },
  everything: false,
  open: true,
  spaces: new Set(["spc_mine"]),
  refused: new Set(["spc_refused"]),
  ...over,
})
const eventOf = (kind: string, body: object, over: object = {}) =>
  ({ kind, actor: null, space: null, body, ...over }) as unknown as Event

describe("what a watcher sees", () => {
  it("no kind is open to everybody, and what is for admins stays with them", () => {
    for (const [kind, { audience }] of Object.entries(kinds)) {
      const event = eventOf(kind, { principal: me })
      assert.strictEqual(maySee(sight({ everything: true }), event), true)
      assert.strictEqual(maySee(sight(), event), audience !== "admins", kind)
      const other = { ...event, body: { principal: "prn_other" } } as unknown as Event
      assert.strictEqual(maySee(sight(), other), false, kind)
      assert.strictEqual(maySee(sight(), { ...other, actor: me }), audience !== "space", kind)
    }
  })

  it("X-30 events of a space go to those who see it, and not to whom a rule denies it, whatever else they may", () => {
    const at = (space: string) => eventOf("message.created", { principal: "prn_other" }, { space })
    const seen = (scope: WatchScope) => ["spc_mine", "spc_other", "spc_refused"].filter((it) => maySee(scope, at(it)))
    assert.deepStrictEqual(seen(sight()), ["spc_mine"])
    assert.deepStrictEqual(seen(sight({ everything: true })), ["spc_mine", "spc_other"])
    assert.deepStrictEqual(seen(emptySight({ principal, context: "agent" })), [])
  })

  it("an event concerns its subject, whom it asks, and those who may read the record", () => {
    const bodies = [
      { approver: me },
      { approvers: ["prn_other", me] },
      { readers: [me], public: false },
      { readers: [], public: true },
    ]
    for (const body of bodies) assert.isTrue(isConcerned(eventOf("decision.asked", body), me), JSON.stringify(body))
    for (const body of [{ approver: "prn_other" }, { approvers: undefined }, { readers: [], public: false }])
      assert.isFalse(isConcerned(eventOf("decision.asked", body), me), JSON.stringify(body))
  })

  it("a signal of no space is seen by whoever sends it and by those who read all events", () => {
    const delta = (space: string | null, actor: string | null) => ({ kind: "run.text", space, actor }) as Delta
    const cases = [delta("spc_mine", null), delta("spc_other", me), delta(null, me), delta(null, "prn_other")]
    const seen = (scope: WatchScope) => cases.map((one) => maySeeDelta(scope, one))
    assert.deepStrictEqual(seen(sight()), [true, false, true, false])
    assert.deepStrictEqual(seen(sight({ everything: true })), [true, true, true, true])
  })

  it("what is seen is loaded again when one's own rules change, and not for another's", () => {
    const grant = eventOf("grant.added", { principal: me })
    assert.isTrue(changesRights(grant, me))
    assert.isTrue(isStale(sight(), [grant]))
    assert.isFalse(isStale(sight(), [eventOf("grant.added", { principal: "prn_other" })]))
    assert.isTrue(isStale(sight(), [eventOf("house.reloaded", { changed: ["policies"] })]))
    assert.isTrue(isStale(emptySight({ principal, context: "agent" }), []))
  })
})
