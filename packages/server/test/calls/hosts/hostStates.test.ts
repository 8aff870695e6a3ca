/** Every cell of the table of a host's connection that the clock has no part in, tried on a host; and the table itself. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import type { Event } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../../test/pause.ts"
import { Tokens } from "../../../src/access/identity/Tokens.ts"
import { HostGrace, type HostRow, Hosts, type HostConnection } from "../../../src/calls/hosts/Hosts.ts"
import { type ConnectionState, type ConnectionStep, nextState, takesCalls } from "../../../src/calls/hosts/lifecycle.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { fresh, someone } from "../../spaces/spacesGuests.ts"
import { callNow, callsHouse, callTool, eventsOf, stores, told } from "../callsKit.ts"

const states = Object.keys(nextState) as ReadonlyArray<ConnectionState>
const steps: ReadonlyArray<ConnectionStep> = ["connect", "leave", "lapse", "remove"]

describe("the connection of a host", () => {
  test("G-22 the table is total: what is removed stays so, and only what went away can lapse", () => {
    for (const state of states) assert.deepStrictEqual(Object.keys(nextState[state]).toSorted(), steps.toSorted())
    assert.deepStrictEqual(Object.values(nextState.removed), [null, null, null, null])
    assert.deepStrictEqual(
      states.filter((state) => nextState[state].lapse !== null),
      ["away"],
    )
    assert.deepStrictEqual(states.filter(takesCalls), ["connected", "away"])
  })
})

const connection = (): HostConnection => ({
  instance: fresh("instance"),
  call: () => {},
  ended: () => {},
  hasRoom: () => true,
  close: () => {},
})

const tool = (name: string) => ({ name, description: "d", inputSchema: { type: "object" as const } })

/** The timer of its last grace time fires, whatever this process remembers of the host. */
const lapsed = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql<{ lastSeenAt: string | null }>`SELECT last_seen_at FROM hosts WHERE id = ${id}`)
  const payload = { host: id, since: row?.lastSeenAt }
  yield* (yield* Hosts).heard({ kind: "timer.fired", body: { purpose: "host", payload } } as unknown as Event)
})

/** Each step from each state, on a host of its own: events, the host's row, and whether its tools take calls. */
const tryCells = Effect.fnUntraced(function* (
  states: ReadonlyArray<ConnectionState>,
  steps: ReadonlyArray<ConnectionStep>,
) {
  const hosts = yield* Hosts
  const owner = yield* someone()
  const reader = { principal: owner.principal, all: false }
  const caller = yield* (yield* Tokens).callerNow(owner.id, "internal")
  const lapse = ({ id }: HostRow) => lapsed(id)

  /** A host whose connection is in a state. */
  const hostIn = Effect.fnUntraced(function* (state: ConnectionState) {
    const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))], shared: false })
    const open = state === "declared" ? undefined : yield* hosts.connect(caller, row, connection())
    if (state === "away" || state === "lost") yield* open!.leave
    if (state === "lost") yield* lapse(row)
    if (state === "removed") yield* hosts.remove(row.id, reader)
    return { row, open }
  })

  for (const state of states)
    for (const step of steps) {
      const cell = `${step} of a connection that is ${state}`
      const expected = nextState[state][step]
      const { open, row } = yield* hostIn(state)
      // Its own timer fires meanwhile, too.
      const hostEvents = Effect.map(eventsOf(row.id), (all) => all.filter((kind) => kind.startsWith("host.")))
      const before = (yield* hostEvents).length
      // A host that was removed after its process had looked it up.
      if (step === "connect") yield* Effect.ignore(hosts.connect(caller, row, connection()))
      else if (step === "leave") yield* open?.leave ?? Effect.void
      else if (step === "lapse") yield* lapse(row)
      else yield* Effect.ignore(hosts.remove(row.id, reader))
      const events = (yield* hostEvents).slice(before)
      // That its time is over is no event: nobody did anything.
      const kinds = { connect: ["host.connected"], leave: ["host.disconnected"], remove: ["host.removed"], lapse: [] }
      assert.deepStrictEqual(events, expected === null ? [] : kinds[step], cell)
      const after = yield* Effect.option(hosts.get(row.id, reader))
      const end = expected ?? state
      assert.strictEqual(after._tag === "None", end === "removed", cell)
      if (after._tag === "Some") assert.strictEqual(after.value.connected, end === "connected", cell)
      let made = told(yield* callTool(owner, row.tools[0]!.name, { wait: 0 }))
      for (; made.state === "running"; made = yield* callNow(owner, made.id)) yield* Effect.promise(pause)
      const answer = end === "removed" ? "ToolNotFoundError" : takesCalls(end) ? "waiting" : "failed"
      assert.strictEqual(made.state ?? made.tag, answer, cell)
    }
})

/** Whoever goes away is late at once. */
const noGrace = Layer.succeed(HostGrace, 0)

for (const store of stores)
  layer(Layer.provide(callsHouse({ store }), noGrace), { excludeTestServices: true, timeout: 60_000 })(
    `lines of hosts whose time is over, on ${store}`,
    (it) => {
      it.effect("G-22 a lapse from every state, and every step from lost, do what the table says", () =>
        Effect.andThen(tryCells(states, ["lapse"]), tryCells(["lost"], steps)),
      )
    },
  )

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`lines of hosts on ${store}`, (it) => {
    it.effect(
      "G-22 every step from every state does what the table says: events, calls taken, and the host's row",
      () => tryCells(["declared", "connected", "away", "removed"], ["connect", "leave", "remove"]),
    )

    it.effect("G-22 removed twice at once, it is removed once", () =>
      Effect.gen(function* () {
        const hosts = yield* Hosts
        const owner = yield* someone()
        const reader = { principal: owner.principal, all: false }
        const caller = yield* (yield* Tokens).callerNow(owner.id, "internal")
        const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))], shared: false })
        const remove = Effect.ignore(hosts.remove(row.id, reader))
        yield* Effect.all(
          Array.from({ length: 5 }, () => remove),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(yield* eventsOf(row.id), ["host.declared", "host.removed"])
      }),
    )

    it.effect("G-22 a host whose time is over by its row is lost, also where it went away only a moment ago", () =>
      Effect.gen(function* () {
        const hosts = yield* Hosts
        const owner = yield* someone()
        const caller = yield* (yield* Tokens).callerNow(owner.id, "internal")
        const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))], shared: false })
        const { leave } = yield* hosts.connect(caller, row, connection())
        let made = told(yield* callTool(owner, row.tools[0]!.name, { wait: 0 }))
        for (; made.state === "running"; made = yield* callNow(owner, made.id)) yield* Effect.promise(pause)
        // Still there: an old timer changes nothing.
        yield* lapsed(row.id)
        assert.strictEqual((yield* callNow(owner, made.id)).state, "waiting")
        yield* leave
        yield* lapsed(row.id)
        assert.strictEqual((yield* callNow(owner, made.id)).state, "failed")
      }),
    )

    it.effect("a connection stands only while its token does", () =>
      Effect.gen(function* () {
        const [hosts, tokens, { transact }] = [yield* Hosts, yield* Tokens, yield* Journal]
        const owner = yield* someone()
        const { id, token } = yield* transact(tokens.issue({ principal: owner.id }))
        const caller = yield* tokens.authenticate(token)
        const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))], shared: false })
        const { stands } = yield* hosts.connect(caller, row, connection())
        assert.isTrue(yield* stands)
        yield* transact(tokens.revoke(id))
        assert.isFalse(yield* stands)
      }),
    )

    it.effect(
      "G-22 a connection that another process of the house has taken over gets no call, and its end changes nothing",
      () =>
        Effect.gen(function* () {
          const hosts = yield* Hosts
          const sql = yield* SqlClient.SqlClient
          const owner = yield* someone()
          const reader = { principal: owner.principal, all: false }
          const caller = yield* (yield* Tokens).callerNow(owner.id, "internal")
          const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))], shared: false })
          const sent: Array<string> = []
          const { leave, pump } = yield* hosts.connect(caller, row, {
            ...connection(),
            call: ({ id }) => void sent.push(id),
          })
          const holders = yield* sql<{ holder: string }>`SELECT holder FROM hosts WHERE id = ${row.id}`
          yield* sql`UPDATE hosts SET holder = 'another' WHERE id = ${row.id}`
          let made = told(yield* callTool(owner, row.tools[0]!.name, { wait: 0 }))
          for (; made.state === "running"; made = yield* callNow(owner, made.id)) yield* Effect.promise(pause)
          yield* pump
          assert.deepStrictEqual(sent, [])
          yield* leave
          assert.isTrue((yield* hosts.get(row.id, reader)).connected)
          assert.notInclude(yield* eventsOf(row.id), "host.disconnected")
          // Its own again: the next connection gets what nobody was sent.
          yield* sql`UPDATE hosts SET holder = ${holders[0]!.holder} WHERE id = ${row.id}`
          yield* hosts.connect(caller, row, { ...connection(), call: ({ id }) => void sent.push(id) })
          assert.deepStrictEqual(sent, [made.id])
        }),
    )
  })
