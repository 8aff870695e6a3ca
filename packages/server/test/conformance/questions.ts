/** The fixture tools that ask their client first, and the prompt that does. */
import type { CatalogueOffer } from "../../src/toolsets/toolsetTool.ts"
import type { Answers } from "../../src/servers/InputRequired.ts"
import { asks, form, nothing, object, roots, sample, say, text, tool, typed } from "./fixture.ts"

const name = object({ name: { type: "string" } }, "name")
const ok = object({ ok: { type: "boolean" } }, "ok")

const stateful = (toolName: string) =>
  tool(toolName, nothing, (_, { answers, state }) =>
    answers["confirm"] === undefined || state !== "asked"
      ? asks({ confirm: form("Please confirm", ok) }, "asked")
      : say("state-ok"),
  )

export const askingTools: ReadonlyArray<CatalogueOffer> = [
  tool("test_streaming_elicitation", nothing, (_, { answers }) =>
    answers["user_name"] === undefined ? asks({ user_name: form("What is your name?", name) }) : say("Thank you"),
  ),
  tool("test_input_required_result_elicitation", nothing, (_, { answers }) => {
    const answer = answers["user_name"]
    if (answer === undefined) return asks({ user_name: form("What is your name?", name) })
    return say(`Hello, ${String(typed(answer, "name"))}!`)
  }),
  tool("test_input_required_result_sampling", nothing, (_, { answers }) => {
    const answer = answers["capital_question"]
    if (answer === undefined) return asks({ capital_question: sample("What is the capital of France?", 100) })
    return say(`The model says: ${JSON.stringify(answer["content"])}`)
  }),
  tool("test_input_required_result_list_roots", nothing, (_, { answers }) => {
    const answer = answers["client_roots"]
    if (answer === undefined) return asks({ client_roots: roots })
    return say(`Roots: ${JSON.stringify(answer["roots"])}`)
  }),
  stateful("test_input_required_result_request_state"),
  stateful("test_input_required_result_tampered_state"),
  tool("test_input_required_result_multiple_inputs", nothing, (_, { answers, state }) => {
    const all = ["user_name", "greeting", "client_roots"].every((key) => answers[key] !== undefined)
    if (all && state === "several") return say("All three are here")
    return asks(
      {
        user_name: form("What is your name?", name),
        greeting: sample("Generate a greeting", 50),
        client_roots: roots,
      },
      "several",
    )
  }),
  tool("test_input_required_result_multi_round", nothing, (_, { answers, state }) => {
    if (state === 1 && answers["step1"] !== undefined) return asks({ step2: form("Step 2: your colour?", name) }, 2)
    if (state === 2 && answers["step2"] !== undefined) return say("Both steps are done")
    return asks({ step1: form("Step 1: your name?", name) }, 1)
  }),
  tool("test_input_required_result_capabilities", nothing, (_, { answers, capabilities }) => {
    const requests = {
      ...("elicitation" in capabilities ? { person: form("What is your name?", name) } : {}),
      ...("sampling" in capabilities ? { model: sample("Say a name", 20) } : {}),
    }
    return Object.keys(requests).every((key) => answers[key] !== undefined) ? say("Asked and answered") : asks(requests)
  }),
]

export const askingPrompt = (answers: Answers) => {
  const answer = answers["user_context"]
  if (answer === undefined)
    return asks({
      user_context: form("What context should the prompt use?", object({ context: { type: "string" } }, "context")),
    })
  const words = `Use this context: ${String(typed(answer, "context"))}`
  return { messages: [{ role: "user", content: text(words) }] }
}
