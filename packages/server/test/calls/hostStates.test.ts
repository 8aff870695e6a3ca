/** Every cell of the table of a host's line that the clock has no part in, tried on a host; and the table itself. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../test/pause.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { type HostRow, Hosts, type Line } from "../../src/calls/hosts/Hosts.ts"
import { type LineState, type LineStep, nextLine, takesCalls } from "../../src/calls/hosts/lifecycle.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { callNow, callsHouse, callTool, eventsOf, stores, told } from "./callsKit.ts"

const states = Object.keys(nextLine) as ReadonlyArray<LineState>
const steps: ReadonlyArray<LineStep> = ["connect", "leave", "lapse", "remove"]

describe("the line of a host", () => {
  test("G-22 the table is total: what is removed stays so, and only what went away can lapse", () => {
    for (const state of states) assert.deepStrictEqual(Object.keys(nextLine[state]).toSorted(), steps.toSorted())
    assert.deepStrictEqual(Object.values(nextLine.removed), [null, null, null, null])
    assert.deepStrictEqual(
      states.filter((state) => nextLine[state].lapse !== null),
      ["away"],
    )
    assert.deepStrictEqual(states.filter(takesCalls), ["connected", "away"])
  })
})

const line = (): Line => ({
  instance: fresh("instance"),
  token: null,
  call: () => {},
  ended: () => {},
  hasRoom: () => true,
  stands: Effect.succeed(true),
  close: () => {},
})

const tool = (name: string) => ({ name, description: "d", inputSchema: { type: "object" as const } })

for (const store of stores)
  layer(callsHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`lines of hosts on ${store}`, (it) => {
    it.effect(
      "G-22 every step from every state does what the table says: events, calls taken, and the host's row",
      () =>
        Effect.gen(function* () {
          const hosts = yield* Hosts
          const owner = yield* someone()
          const reader = { principal: owner.principal, all: false }
          const caller = yield* (yield* Tokens).again(owner.id, "internal")

          /** A host whose line is in a state. */
          const hostIn = Effect.fnUntraced(function* (state: Exclude<LineState, "lost">) {
            const name = fresh("host")
            const row = yield* hosts.declare(caller, name, { tools: [tool(fresh("hosted"))] })
            const open = state === "declared" ? undefined : yield* hosts.connect(row, line())
            if (state === "away") yield* open!.leave
            if (state === "removed") yield* hosts.remove(row.id, reader)
            return { row, open }
          })
          const now = (row: HostRow) => Effect.option(hosts.get(row.id, reader))

          for (const state of ["declared", "connected", "away", "removed"] as const)
            for (const step of ["connect", "leave", "remove"] as const) {
              const cell = `${step} of a line that is ${state}`
              const expected = nextLine[state][step]
              const { open, row } = yield* hostIn(state)
              const before = (yield* eventsOf(row.id)).length
              // A host that was removed after its process had looked it up.
              if (step === "connect") yield* Effect.ignore(hosts.connect(row, line()))
              else if (step === "leave") yield* open?.leave ?? Effect.void
              else yield* Effect.ignore(hosts.remove(row.id, reader))
              const events = (yield* eventsOf(row.id)).slice(before)
              const told_ = { connect: "host.connected", leave: "host.disconnected", remove: "host.removed" }[step]
              assert.deepStrictEqual(events, expected === null ? [] : [told_], cell)
              const after = yield* now(row)
              const end = expected ?? state
              assert.strictEqual(after._tag === "None", end === "removed", cell)
              if (after._tag === "Some") assert.strictEqual(after.value.connected, end === "connected", cell)
              let made = told(yield* callTool(owner, row.tools[0]!.name, { wait: 0 }))
              for (; made.state === "running"; made = yield* callNow(owner, made.id)) yield* Effect.promise(pause)
              const answer = end === "removed" ? "ToolNotFoundError" : takesCalls(end) ? "waiting" : "failed"
              assert.strictEqual(made.state ?? made.tag, answer, cell)
            }
        }),
    )

    it.effect(
      "G-22 a line that another process of the house has taken over gets no call, and its end changes nothing",
      () =>
        Effect.gen(function* () {
          const hosts = yield* Hosts
          const sql = yield* SqlClient.SqlClient
          const owner = yield* someone()
          const reader = { principal: owner.principal, all: false }
          const caller = yield* (yield* Tokens).again(owner.id, "internal")
          const row = yield* hosts.declare(caller, fresh("host"), { tools: [tool(fresh("hosted"))] })
          const sent: Array<string> = []
          const { leave, pump } = yield* hosts.connect(row, { ...line(), call: ({ id }) => void sent.push(id) })
          const holders = yield* sql<{ holder: string }>`SELECT holder FROM hosts WHERE id = ${row.id}`
          yield* sql`UPDATE hosts SET holder = 'another' WHERE id = ${row.id}`
          let made = told(yield* callTool(owner, row.tools[0]!.name, { wait: 0 }))
          for (; made.state === "running"; made = yield* callNow(owner, made.id)) yield* Effect.promise(pause)
          yield* pump
          assert.deepStrictEqual(sent, [])
          yield* leave
          assert.isTrue((yield* hosts.get(row.id, reader)).connected)
          assert.notInclude(yield* eventsOf(row.id), "host.disconnected")
          // Its own again: the next line gets what nobody was sent.
          yield* sql`UPDATE hosts SET holder = ${holders[0]!.holder} WHERE id = ${row.id}`
          yield* hosts.connect(row, { ...line(), call: ({ id }) => void sent.push(id) })
          assert.deepStrictEqual(sent, [made.id])
        }),
    )
  })
