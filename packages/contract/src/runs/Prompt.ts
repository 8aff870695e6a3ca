/** What an agent is told at the beginning of a run, in sections that can be viewed one by one. */
import { Schema } from "effect"

const about = {
  /** In characters. */
  size: Schema.Int,
  /** The approximate number of tokens: an estimate, since every model counts differently and only when it is asked. */
  tokens: Schema.Int,
}

export const PromptSection = Schema.Struct({
  /** Its heading: the label of a block, or the house's name for it. */
  name: Schema.String,
  text: Schema.String,
  ...about,
})
export type PromptSection = typeof PromptSection.Type

/** The tools it is told about besides the text. */
const PromptTools = Schema.Struct({ names: Schema.Array(Schema.String), ...about })

export const Prompt = Schema.Struct({
  sections: Schema.Array(PromptSection),
  tools: PromptTools,
  /** All sections under their headings. */
  text: Schema.String,
  /** Of sections and tools together; also an estimate. */
  tokens: Schema.Int,
  /** The context window of its model in tokens; null without a model. */
  window: Schema.NullOr(Schema.Int),
}).annotate({ identifier: "Prompt" })
export type Prompt = typeof Prompt.Type

/** The sections as one text. */
export const promptTextOf = (sections: ReadonlyArray<Pick<PromptSection, "name" | "text">>): string =>
  sections.map(({ name, text }) => `# ${name}\n\n${text}`).join("\n\n")
