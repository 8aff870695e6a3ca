/** What the page offers is what the house allows: the page's rules against the house's own, in all cases. */
import { readdirSync, readFileSync } from "node:fs"
import {
  Action,
  agentRoles,
  type MemberRole,
  type MemoryRight,
  PrincipalKind,
  Role,
  type SpaceKind,
  ToolsetName,
  Verdict,
} from "@stoa/contract"
import { expect, it } from "vitest"
import { mayUse } from "../../../server/src/memory/records/rules.ts"
import { type Act, judgeAct } from "../../../server/src/spaces/rules.ts"
import { rightsOf } from "../../src/features/memory/memory.logic.ts"
import { rightsIn, rightsOn, type SpaceRights } from "../../src/features/spaces/rights.logic.ts"

const booleans = [true, false]
const allow = { verdict: "allow", rule: "role:member" } as const

/** Each right, and the acts of the house it stands for. */
const acts: Readonly<Record<keyof SpaceRights, ReadonlyArray<Act>>> = {
  speak: ["post", "call", "type", "react"],
  pin: ["pin"],
  own: ["change"],
  restore: ["restore"],
  join: ["join"],
  invite: ["invite"],
  leave: ["leave"],
  expel: ["expel"],
}

it("in a space", () => {
  let cases = 0
  for (const kind of ["public", "private", "dm", "team"] satisfies ReadonlyArray<SpaceKind>)
    for (const role of [undefined, "member", "owner"] satisfies ReadonlyArray<MemberRole | undefined>)
      for (const admin of booleans)
        for (const archived of booleans)
          for (const author of booleans) {
            const access = { kind, role, admin, archived, author, read: allow, write: allow }
            // For who may not see it, it is not on the page.
            if (judgeAct("see", access).is === "hidden") continue
            cases++
            const me = { id: "me", roles: admin ? (["admin"] as const) : (["member"] as const) }
            const members = role === undefined ? [] : [{ id: "me", name: "Me", kind: "person" as const, role }]
            const may = rightsIn({ kind, members, archivedAt: archived ? "2026-01-01T00:00:00.000Z" : null }, me)
            const said = JSON.stringify({ kind, role, admin, archived, author })
            for (const [right, stands] of Object.entries(acts) as ReadonlyArray<
              [keyof SpaceRights, ReadonlyArray<Act>]
            >)
              for (const act of stands) {
                const allowed = judgeAct(act, access).is === "yes"
                // Who is a member has joined already, and who is none cannot leave; to restore is for what is archived.
                const makesSense =
                  (act !== "join" || role === undefined) &&
                  (act !== "leave" || role !== undefined) &&
                  (act !== "restore" || archived)
                expect(may[right], `${act} ${said}`).toBe(allowed && makesSense)
              }
            const on = rightsOn({ author: { id: author ? "me" : "you" } as never }, me, may)
            expect(on.edit, `edit ${said}`).toBe(judgeAct("edit", access).is === "yes")
            expect(on.remove, `remove ${said}`).toBe(judgeAct("remove", access).is === "yes")
          }
  expect(cases).toBeGreaterThan(50)
})

it("with a record of memory", () => {
  for (const owner of ["me", "you"])
    for (const open of booleans)
      for (const right of [null, "read", "write"] satisfies ReadonlyArray<MemoryRight | null>) {
        const shares = right === null ? [] : [{ principal: "me", right }]
        const may = rightsOf({ owner, deletedAt: null }, "me", shares)
        const access = { owner: owner as never, public: open, shared: right }
        for (const act of ["write", "own"] as const)
          expect(may[act], `${act} ${owner} ${open} ${right}`).toBe(mayUse(act, "me" as never, access))
      }
  // What was deleted can only be restored, by its owner.
  expect(rightsOf({ owner: "me", deletedAt: "2026-01-01T00:00:00.000Z" }, "me", [])).toEqual({
    write: false,
    own: true,
  })
  expect(
    rightsOf({ owner: "you", deletedAt: "2026-01-01T00:00:00.000Z" }, "me", [{ principal: "me", right: "write" }]),
  ).toEqual({ write: false, own: false })
})

it("no list of roles, actions, verdicts, kinds of principals or toolsets is written on the page: the contract has them", () => {
  const source = new URL("../../src/", import.meta.url)
  const lists = [
    Role.literals,
    agentRoles,
    Action.literals,
    Verdict.literals,
    PrincipalKind.literals,
    ToolsetName.literals,
  ]
  const written = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => {
      const text = readFileSync(new URL(file, source), "utf8").replaceAll(/\s+/g, " ")
      // The beginning of a list is enough.
      return lists.some(([one, two]) => text.includes(`["${one}", "${two}"`))
    })
  expect(written).toEqual([])
})
