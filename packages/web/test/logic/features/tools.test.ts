/** A configured tool as a form, and a call as it is shown. */
import { definitionOf, httpMethods, readTool } from "@stoa/contract"
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
      expect(issuesOf(formSchema(form, true), form).map(({ path }) => path)).toEqual(["name", "description", address])
    }
  })

  it("X-54 what was not chosen is left to the house: a method has the same risk from the page as from the API", () => {
    const base = { name: "t", description: "d", inputSchema: { type: "object" }, executionType: "gateway" }
    const risk = (form: object) => {
      const read = readTool(form)
      return read.ok ? definitionOf(read.tool).riskLevel : JSON.stringify(read.issues)
    }
    for (const method of Object.keys(httpMethods)) {
      const execution = { url: "https://a.example", method }
      const fromPage = { ...initialForm("http"), name: "t", description: "d", execution }
      expect([method, risk(fromPage)]).toEqual([method, httpMethods[method]!.riskLevel])
      expect(risk(fromPage)).toBe(risk({ ...base, execution }))
      const shown = formSchema(fromPage, true)["properties"] as Record<string, { description?: string }>
      expect(shown["riskLevel"]!.description).toContain(httpMethods[method]!.riskLevel)
    }
    for (const kind of newKinds)
      expect(Object.keys(initialForm(kind))).toEqual([
        "name",
        "description",
        "executionType",
        "execution",
        "inputSchema",
      ])
  })

  it("one of another kind keeps what the form does not show, and a tool keeps its name", () => {
    const other = { executionType: "gateway", execution: { operation: "evaluate", expression: "1" } }
    expect(kindOf(other)).toBe("other")
    expect(issuesOf(formSchema(other, false), { ...other, description: "Counts", inputSchema: {} })).toEqual([])
    expect(JSON.stringify(formSchema(initialForm("http"), false))).not.toContain('"name"')
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
