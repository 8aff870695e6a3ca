/** A configured tool as a form, and a call as it is shown. */
import { describe, expect, it } from "vitest"
import { messageCallOf, type Call } from "../../../src/features/tools/lastCalls.logic.ts"
import { initialForm, formSchema, kindOf, newKinds } from "../../../src/features/tools/toolForm.logic.ts"
import { issuesOf } from "../../../src/parts/form/schemaForm.logic.ts"

describe("a tool as a form", () => {
  it("what a new one begins with is of its kind, and lacks a name, a description and an address", () => {
    for (const kind of newKinds) {
      const form = initialForm(kind)
      expect(kindOf(form)).toBe(kind)
      const address = kind === "http" ? "execution.url" : "execution.webhookUrl"
      expect(issuesOf(formSchema(kind, true), form).map(({ path }) => path)).toEqual(["name", "description", address])
    }
  })

  it("one of another kind keeps what the form does not show, and a tool keeps its name", () => {
    const other = { executionType: "gateway", execution: { operation: "evaluate", expression: "1" } }
    expect(kindOf(other)).toBe("other")
    expect(issuesOf(formSchema("other", false), { ...other, description: "Counts", inputSchema: {} })).toEqual([])
    expect(JSON.stringify(formSchema("http", false))).not.toContain('"name"')
  })
})

describe("a call as it is shown", () => {
  const call = {
    id: "call_1",
    tool: "mail",
    state: "done",
    input: {},
    output: { ok: true },
    principal: "prn_1",
    space: null,
    rule: null,
    createdAt: "2026-11-17T10:00:00.000Z",
    settledAt: "2026-11-17T10:00:00.250Z",
  } as unknown as Call

  it("takes as long as from its receipt to its end, and nothing while it is open", () => {
    expect(messageCallOf(call)).toMatchObject({ id: "call_1", durationMs: 250, output: { ok: true } })
    expect(messageCallOf({ ...call, settledAt: null })).not.toHaveProperty("durationMs")
  })
})
