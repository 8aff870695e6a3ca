/** What an agent is told at the beginning of a run, in sections that can be looked at one by one. */
import { Schema } from "effect"

export const PromptSection = Schema.Struct({
  /** Its heading: the label of a block, or what the house calls it. */
  name: Schema.String,
  text: Schema.String,
  /** Of its text, in characters. */
  size: Schema.Int,
})
export type PromptSection = typeof PromptSection.Type

export const Prompt = Schema.Struct({
  sections: Schema.Array(PromptSection),
  /** All sections under their headings. */
  text: Schema.String,
}).annotate({ identifier: "Prompt" })
export type Prompt = typeof Prompt.Type

/** The sections as one text. */
export const promptOf = (sections: ReadonlyArray<PromptSection>): Prompt => ({
  sections,
  text: sections.map(({ name, text }) => `# ${name}\n\n${text}`).join("\n\n"),
})
