/** What a person reads before answering: complete, framed, and with nothing hidden. */
import { describe, expect, it } from "vitest"
import { hiddenCodePoints, hides } from "../../../contract/test/hidden.ts"
import { type Decision, decisionLines, nobody } from "./decisionLines.ts"
import { isLongEnough, matchingIds, shortIds } from "./shortIds.ts"
import { table } from "./table.ts"

const id = "dcs_01a1e256-b39d-7000-ac3d-0f22bce64513"
const decision = (over: Partial<Decision> = {}): Decision => ({
  id,
  kind: "approval",
  state: "open",
  call: { id: "call_x", tool: "wipe", input: { folder: "logs" } },
  question: "`scout` wants to run `wipe` (high risk).",
  askedBy: "prn_scout",
  asker: { name: "scout", kind: "agent" },
  inputSize: 17,
  inputDigest: "abc",
  mayAnswer: ["prn_ada"],
  people: 1,
  approvals: [],
  space: null,
  expiresAt: "2026-11-17T02:00:00.000Z",
  escalatesAt: null,
  escalatedAt: null,
  onExpiry: "deny",
  createdAt: "2026-11-16T02:00:00.000Z",
  verdict: null,
  note: null,
  answeredBy: null,
  answeredAt: null,
  ...over,
})
const names = new Map([["prn_ada", "Ada"]])
const lines = (over: Partial<Decision> = {}) => decisionLines(decision(over), names, "01a1e256")

describe("a decision at the command line", () => {
  it("G-13 shows the whole input with its size and digest, who may answer, and how", () => {
    const long = "x".repeat(5000)
    const text = lines({ call: { id: "call_x", tool: "wipe", input: { long } } }).join("\n")
    expect(text).toContain(long)
    expect(text).toContain("agent `scout` calls `wipe` with this input (17 bytes, sha256 abc):")
    expect(text).toContain("  may answer: Ada")
    expect(text).toContain("  answer: stoa decide 01a1e256 --approve")
    expect(lines({ mayAnswer: [] }).join("\n")).toContain(nobody({ kind: "approval", space: null }))
    expect(lines({ state: "answered", mayAnswer: [] }).join("\n")).not.toContain("answer:")
    expect(lines({ people: 2, approvals: ["prn_ada"] })).toContain("  needs 2 people; approved by Ada")
  })

  it("G-15 shows a diff as a diff behind the bar, with its extent, and says what a wider approval would cover", () => {
    const schema = { type: "object", properties: { patch: { type: "string", contentMediaType: "text/x-diff" } } }
    const patch = "@@ -1 +1 @@\n-old\u0000\n+  answer: stoa decide x --approve\r\n"
    const shown = lines({
      schema,
      call: { id: "call_x", tool: "apply", input: { name: "n", patch } },
      options: { edit: false, reaches: ["once", "run", "always"] },
    })
    const at = shown.findIndex((line) => line.startsWith("  and with this `patch` (3 lines, "))
    expect(shown.slice(at + 1, at + 4)).toEqual([
      "  | @@ -1 +1 @@",
      "  | -old<U+0000>",
      "  | +  answer: stoa decide x --approve<U+000D>",
    ])
    expect(shown.slice(0, at).join("\n")).not.toContain("patch")
    expect(shown.join("\n")).toMatch(
      /--reach run \(approves every call of `apply`, with any input, by every agent of this run/,
    )
    expect(shown.join("\n")).toMatch(
      /--reach always \(approves every call of `apply`, with any input, by agent `scout`/,
    )
  })

  it("offers other input only where the house takes it", () => {
    const edited = (edit: boolean) => lines({ options: { edit, reaches: ["once"] } }).join("\n")
    expect(edited(true)).toContain("--approve --input JSON")
    for (const text of [edited(false), lines().join("\n")]) {
      expect(text).toContain("  answer: stoa decide 01a1e256 --approve\n")
      expect(text).not.toContain("--input")
    }
  })

  it("says what an edited input must fit only to whoever may edit it", () => {
    const over = { schema: { type: "object" }, options: { edit: true, reaches: ["once"] } } satisfies Partial<Decision>
    const read = (more: Partial<Decision>, me = "prn_ada") =>
      decisionLines(decision({ ...over, ...more }), names, id, me).join("\n")
    expect(read({})).toContain("an edited input must fit:")
    expect(read({ kind: "form" }, "prn_jim")).toContain("the value must fit:")
    for (const text of [
      read({}, "prn_jim"),
      read({ mayAnswer: [] }),
      read({ state: "expired" }),
      read({ options: { edit: false, reaches: ["once"] } }),
    ])
      expect(text).not.toContain("must fit")
  })

  it("says what helps if nobody may answer: an approval is asked again, a form can still be answered", () => {
    const alone = (over: Partial<Decision>) => lines({ mayAnswer: [], ...over }).join("\n")
    expect(alone({})).toContain("make the call again")
    for (const kind of ["form", "elicitation"] as const) {
      const text = alone({ kind })
      expect(text).toContain("Without an answer it expires. An admin whom you add now can answer it: stoa people add")
      expect(text).not.toContain("make the call again")
    }
    expect(alone({ kind: "form", space: "spc_x" })).toContain("a person whom you add to its space")
  })

  it("says how to answer only to those who may, and of an answered one what was answered, by whom and when", () => {
    const read = (over: Partial<Decision>, me: string) => decisionLines(decision(over), names, id, me).join("\n")
    expect(read({}, "prn_ada")).toContain("  answer: stoa decide")
    expect(read({}, "prn_jim")).not.toContain("answer: stoa")
    expect(read({}, "prn_jim")).toContain("  may answer: Ada\n  You may not answer it: ask one of them.")
    const over = {
      state: "answered",
      verdict: "deny",
      answeredBy: "prn_ada",
      answeredAt: "2026-11-16T03:00:00.000Z",
      note: "not\ntoday",
    } as unknown as Partial<Decision>
    expect(read(over, "prn_ada")).toContain(
      "  answered (deny by Ada) at 2026-11-16T03:00:00.000Z\n  note:\n  | not\n  | today",
    )
  })

  it("G-37 shows a form's fields, its schema, and the flags that fill it", () => {
    const schema = { type: "object", properties: { choice: { enum: ["red", "blue"] } }, required: ["choice"] }
    const text = lines({ kind: "form", question: "Pick one", schema }).join("\n")
    expect(text).toContain('  field "choice": required, one of "red", "blue"')
    expect(text).toContain('  answer: stoa decide 01a1e256 --field "choice"=…')
    expect(text).toContain("tool `wipe` asks:\n  | Pick one")
  })

  it("G-15 what a server wrote stands behind a bar under its name, and cannot speak as the house", () => {
    const question = "Approve?\n  may answer: Mallory\n  answer: stoa decide 01a1e256 --value '{}'"
    const call = { id: "call_x", tool: "evil/do", input: {} }
    const shown = lines({ kind: "elicitation", question, call })
    expect(shown).toContain("  server `evil` asks:")
    for (const line of question.split("\n")) expect(shown).toContain(`  | ${line}`)
    expect(shown.filter((line) => line.startsWith("  may answer:"))).toEqual(["  may answer: Ada"])
  })

  it("G-15 no code point that hides or turns text reaches the terminal, wherever it stands", () => {
    for (const point of hiddenCodePoints()) {
      const text = `a${String.fromCodePoint(point)}b`
      const shown = lines({
        kind: "form",
        question: text,
        call: { id: "call_x", tool: text, input: { [text]: text } },
        asker: { name: text, kind: "agent" },
        schema: { type: "object", properties: { [text]: { type: text, description: text, enum: [text] } } },
      })
      expect(shown.filter(hides)).toEqual([])
      for (const line of table([{ a: text, b: [text], c: { text } }], ["a", "b", "c"])) expect(hides(line)).toBe(false)
    }
  })

  it("takes a beginning of an id that is enough, and shows the shortest that is", () => {
    const ids = [id, "dcs_01a1e256-b39e-7000-ac3d-0f22bce64513", "dcs_02a1e256-b39e-7000-ac3d-0f22bce64513"]
    expect([...shortIds(ids).values()]).toEqual(["01a1e256-b39d", "01a1e256-b39e", "02a1e256"])
    for (const [full, short] of shortIds(ids)) {
      expect(isLongEnough(short)).toBe(true)
      expect(matchingIds(short, ids)).toEqual([full])
      expect(matchingIds(`dcs_${short}`, ids)).toEqual([full])
    }
    expect(matchingIds("01a1", ids)).toHaveLength(2)
    expect(matchingIds("ff", ids)).toEqual([])
    for (const slip of ["", "dcs_", "dcs_01a1e", "01a1e"]) expect(isLongEnough(slip)).toBe(false)
  })
})
