/** What the page offers is what the house allows: the page's rules against the house's own, in all cases. */
import { readdirSync, readFileSync } from "node:fs"
import {
  Action,
  agentRoles,
  mayUse,
  type MemberRole,
  type MemoryRight,
  PrincipalKind,
  Role,
  type SpaceKind,
  ToolsetName,
  Verdict,
} from "@stoa/contract"
import { expect, it } from "vitest"
import { roomFault } from "../../../../server/src/memory/records/rules.ts"
import { type Act, judgeAct } from "../../../../server/src/spaces/rules.ts"
import { rightsOf } from "../../../src/features/memory/memory.logic.ts"
import { rightsIn, rightsOn, type SpaceRights } from "../../../src/features/spaces/rights.logic.ts"

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

it("with a record of memory, and with one that the house writes", () => {
  const kinds = [
    ["stoa", "note"],
    ["stoa", "conversation"],
    ["engrams", "knowledge"],
    ["engrams", "conversation"],
    ["engrams", "setting"],
  ] as const
  for (const owner of ["me", "you"])
    for (const open of booleans)
      for (const right of [null, "read", "write"] satisfies ReadonlyArray<MemoryRight | null>)
        for (const [namespace, kind] of kinds) {
          const shares = right === null ? [] : [{ principal: "me", right }]
          const record = { owner, namespace, kind, public: open, deletedAt: null }
          const may = rightsOf(record, "me", shares)
          const said = `${owner} ${open} ${right} ${namespace} ${kind}`
          /** As `Memories` asks for one and the other. */
          const does = (act: "write" | "own", fields?: ReadonlyArray<"content" | "tags" | "public" | "pinned">) =>
            mayUse(act, "me", { owner, public: open, shared: right }) &&
            roomFault(record, undefined, fields) === undefined
          expect(may.write, `write ${said}`).toBe(does("write", ["content"]))
          expect(may.write, `tag ${said}`).toBe(does("write", ["tags"]))
          expect(may.own, `pin ${said}`).toBe(does("own", ["pinned"]))
          expect(may.rule, `publish ${said}`).toBe(does("own", ["public"]))
          expect(may.rule, `delete ${said}`).toBe(does("own"))
        }
  // What was deleted can only be restored, by its owner.
  const deleted = { namespace: "stoa", kind: "note", public: false, deletedAt: "2026-01-01T00:00:00.000Z" } as const
  expect(rightsOf({ ...deleted, owner: "me" }, "me", [])).toEqual({ write: false, own: true, rule: false })
  expect(rightsOf({ ...deleted, owner: "you" }, "me", [{ principal: "me", right: "write" }])).toEqual({
    write: false,
    own: false,
    rule: false,
  })
})

it("no list of roles, actions, verdicts, kinds of principals or toolsets is written on the page: the contract has them", () => {
  const source = new URL("../../../src/", import.meta.url)
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
