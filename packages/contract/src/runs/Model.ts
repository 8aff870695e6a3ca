/** Language models by name: what the configuration file declares, and their state in the house. */
import { Schema } from "effect"
import { placeholdersIn } from "../tools/Placeholder.ts"

export const ModelProvider = Schema.Literals(["anthropic", "openai", "google", "openai-compatible", "scripted"])
export type ModelProvider = typeof ModelProvider.Type

/** What a model is for: thinking (the default), or embedding. */
const ModelPurpose = Schema.Literals(["thinking", "embedding"])

/** Its name for agents and people. */
export const ModelName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/, {
    message: "must be a model's name of 1 to 100 letters, digits or . _ : / @ -, beginning with a letter or digit",
  }),
)

const Text = (most: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most))
const Dollars = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const Tokens = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000_000 }))

/** Price per million tokens in US dollars. Without a price a model costs nothing. */
export const ModelPrice = Schema.Struct({
  in: Dollars,
  out: Dollars,
  /** For input from the provider's cache; absent: the price of any input. */
  cached: Schema.optionalKey(Dollars),
})
export type ModelPrice = typeof ModelPrice.Type

/** One entry of the section `models`. */
export const DeclaredModel = Schema.Struct({
  provider: ModelProvider,
  /** `embedding`: it measures how near texts are in meaning, for search in memory; agents cannot use it. */
  purpose: Schema.optionalKey(ModelPurpose),
  /** With `embedding`: how many numbers a vector has; absent: the model's default. */
  dimensions: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 }))),
  /** The provider's own name for it. */
  model: Schema.optionalKey(Text(200)),
  /**
   * The part before `/messages`, `/chat/completions` or `/embeddings`. It may be local: `egress` applies to tools, not
   * to models.
   */
  baseUrl: Schema.optionalKey(
    Text(2000).check(
      Schema.isPattern(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, {
        message: "must be an address such as http://127.0.0.1:8080/v1, without a user name or a query in it",
      }),
    ),
  ),
  /** `${secret.NAME}` or `${env.NAME}`; absent: the vendor's usual variable. */
  apiKey: Schema.optionalKey(
    Text(8192).check(
      Schema.makeFilter((text) => {
        const read = placeholdersIn(text)
        return "parts" in read || read.fault
      }),
    ),
  ),
  /** With `scripted`: its rules, absolute or beside the configuration file. */
  rules: Schema.optionalKey(Text(4096)),
  price: Schema.optionalKey(ModelPrice),
  /** Other words by which it can be requested. */
  keywords: Schema.optionalKey(Schema.Array(Text(100)).check(Schema.isMaxLength(50))),
  /** The most tokens it produces in one step; absent: the provider's default. */
  maxOutput: Schema.optionalKey(Tokens),
  /** The size of its context window; absent: 100,000 tokens. */
  window: Schema.optionalKey(Tokens),
}).check(
  Schema.makeFilter((it) => {
    const fault = (path: string, issue: string) => ({ path: [path], issue })
    if (it.purpose === "embedding" && (it.provider === "scripted" || it.provider === "anthropic"))
      return fault("provider", "must be one that embeds: openai, google or openai-compatible")
    if (it.dimensions !== undefined && it.purpose !== "embedding")
      return fault("dimensions", 'is allowed only with the purpose "embedding"')
    if (it.provider === "scripted")
      return it.rules !== undefined || fault("rules", "is missing: a scripted model needs a file of rules")
    if (it.rules !== undefined) return fault("rules", "is allowed only with the provider scripted")
    if (it.model === undefined) return fault("model", "is missing: give the provider's own name for the model")
    return (
      it.provider !== "openai-compatible" ||
      it.baseUrl !== undefined ||
      fault("baseUrl", "is missing: give the address of the provider")
    )
  }),
)
export type DeclaredModel = typeof DeclaredModel.Type

/** A model as the house has it. */
export class Model extends Schema.Class<Model>("Model")({
  name: Schema.String,
  provider: ModelProvider,
  purpose: ModelPurpose,
  /** The provider's own name for it. */
  model: Schema.NullOr(Schema.String),
  keywords: Schema.Array(Schema.String),
  price: Schema.NullOr(ModelPrice),
  /** Whether it can be used now. */
  ready: Schema.Boolean,
  /** What is missing, and who can set it. */
  problem: Schema.optionalKey(Schema.String),
}) {}
