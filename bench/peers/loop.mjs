/**
 * `loop.mjs RULES`: the AI SDK's own loop over our scripted provider, with a tool that does nothing. It keeps nothing, asks
 * nobody and survives nothing: the least that a step of an agent costs.
 */
import { jsonSchema, stepCountIs, streamText, tool } from "ai"
import { scriptedModel } from "../../packages/server/src/models/scripted.ts"

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

const drive = async ({ callers, millis, steps }) => {
  let ended = 0
  const started = performance.now()
  const one = async () => {
    while (performance.now() < started + millis) {
      const answer = streamText({ model, prompt: "ten", tools: { hello }, stopWhen: stepCountIs(steps) })
      await answer.consumeStream()
      const taken = (await answer.steps).length
      if (taken !== steps) throw new Error(`the loop took ${taken} steps`)
      ended++
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: ended / ((performance.now() - started) / 1000) }
}

process.on("message", (question) => {
  drive(question).then(
    (answer) => process.send(answer),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.once("disconnect", () => process.exit(0))
process.send({ port: 0 })
