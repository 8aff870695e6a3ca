import { assert, it } from "@effect/vitest"
import { conversation, type PastStep } from "./conversation.ts"

const step = (number: number, text: string): PastStep => ({
  number,
  model: "m",
  parts: [{ type: "text", text }],
  results: [],
})

it("what a run is told later stands after the step that came before it", () => {
  const told = [
    { kind: "system", body: "rules", step: 0 },
    { kind: "user", body: "ask", step: 0 },
    { kind: "user", body: "reply", step: 1 },
  ] as const
  const texts = conversation(told, [step(1, "I asked."), step(2, "I heard.")], "m").map(({ content, role }) => [
    role,
    typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join(""),
  ])
  assert.deepStrictEqual(texts, [
    ["system", "rules"],
    ["user", "ask"],
    ["assistant", "I asked."],
    ["user", "reply"],
    ["assistant", "I heard."],
  ])
})
