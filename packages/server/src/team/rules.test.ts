/** The table of who may do what with an agent, cell by cell. */
import { assert, it } from "@effect/vitest"
import type { Agent, PrincipalId } from "@stoa/contract"
import { type Act, mayByPlace, rightFor } from "./rules.ts"

const whom = { id: "prn_it", owner: "prn_owner" } as unknown as Agent
const who = (id: string) => ({ id: id as PrincipalId })

it("S3-48 G-04 by its place in the tree an agent acts on its children, and only on them", () => {
  const table: Record<Act, ReadonlyArray<boolean>> = {
    inspect: [false, false, true, false],
    stop: [false, false, true, false],
    spawn: [true, false, false, false],
    merge: [true, false, true, false],
  }
  for (const [act, cells] of Object.entries(table))
    assert.deepStrictEqual(
      (["self", "parent", "child", "sibling"] as const).map((place) => mayByPlace(act as Act, place)),
      cells,
      act,
    )
})

it("by rights it takes write to change an agent, and admin to read its mail, except for itself and its owner", () => {
  for (const id of ["prn_it", "prn_owner", "prn_other"]) {
    assert.strictEqual(rightFor("stop", who(id), whom), "write")
    assert.strictEqual(rightFor("spawn", who(id), whom), "write")
    assert.strictEqual(rightFor("inspect", who(id), whom), id === "prn_other" ? "admin" : undefined)
  }
})
