/** A declared model as the AI SDK has it. Each provider is loaded when the first of its models is asked. */
// edge: modules of the AI SDK, loaded by promises.
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider"
import { Redacted } from "effect"
import type { Access } from "./Access.ts"
import { scriptedModel } from "./scripted/scripted.ts"

/** The key goes to the address the operator set, and is not carried on from there. */
const straight: typeof fetch = (url, init) => fetch(url, { ...init, redirect: "error" })

const optionsOf = ({ baseUrl, key }: Access) => ({
  fetch: straight,
  ...(key === undefined ? {} : { apiKey: Redacted.value(key) }),
  ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
})

/** One that embeds; `DeclaredModel` refuses providers that have none. */
export const embeddingModel = async (access: Access): Promise<EmbeddingModelV4> => {
  const { baseUrl, declared, name } = access
  const model = declared.model ?? ""
  const options = optionsOf(access)
  switch (declared.provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai")
      return createOpenAI(options).embedding(model)
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google")
      return createGoogleGenerativeAI(options).embedding(model)
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      return createOpenAICompatible({ ...options, name, baseURL: baseUrl ?? "" }).embeddingModel(model)
    }
    case "anthropic":
    case "scripted":
      throw new Error(`${declared.provider} has no embedding models`)
  }
}

export const providerModel = async (access: Access): Promise<LanguageModelV4> => {
  const { baseUrl, declared, name } = access
  const model = declared.model ?? ""
  const options = optionsOf(access)
  switch (declared.provider) {
    case "scripted":
      return scriptedModel(declared.rules!)
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      return createAnthropic(options)(model)
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai")
      // What precedes `/chat/completions` is the address the file gives: another server may speak nothing else.
      return createOpenAI(options).chat(model)
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google")
      return createGoogleGenerativeAI(options)(model)
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      return createOpenAICompatible({ ...options, name, baseURL: baseUrl ?? "", includeUsage: true })(model)
    }
  }
}
