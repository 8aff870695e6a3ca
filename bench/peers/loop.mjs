/**
 * `loop.mjs RULES`: the AI SDK's own loop over our scripted provider, with a tool that does nothing. It keeps nothing, asks
 * nobody and survives nothing: the least that a step of an agent costs.
 */
import { jsonSchema, stepCountIs, streamText, tool } from "ai"
import { scriptedModel } from "../../packages/server/src/models/scripted/scripted.ts"
import { driven } from "./driven.mjs"

const [rules] = process.argv.slice(2)
const scripted = scriptedModel(rules)
/** Its rules look at the step, which a house tells it; here it is counted from the prompt. */
const model = {
  ...scripted,
  doStream: (options) => {
    const step = 1 + options.prompt.filter(({ role }) => role === "tool").length
    return scripted.doStream({ ...options, providerOptions: { stoa: { agent: "", step, text: "ten", fill: {} } } })
  },
}
const schema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] }
const hello = tool({ description: "Says hello.", inputSchema: jsonSchema(schema), execute: async () => ({ ok: true }) })

driven(async (steps) => {
  const answer = streamText({ model, prompt: "ten", tools: { hello }, stopWhen: stepCountIs(steps) })
  await answer.consumeStream()
  const taken = (await answer.steps).length
  if (taken !== steps) throw new Error(`the loop took ${taken} steps`)
})
