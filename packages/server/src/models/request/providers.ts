/** A declared model as a model of the AI SDK. Each provider is loaded when one of its models is first used. */
// edge: modules of the AI SDK, loaded by promises.
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider"
import { Redacted } from "effect"
import type { Access } from "./Access.ts"
import { scriptedModel } from "../scripted/scripted.ts"

/** The key goes only to the address that the operator set, so redirects are refused. */
const straight: typeof fetch = (url, init) => fetch(url, { ...init, redirect: "error" })

const optionsOf = ({ baseUrl, key }: Access) => ({
  fetch: straight,
  ...(key === undefined ? {} : { apiKey: Redacted.value(key) }),
  ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
})

/** An embedding model; `DeclaredModel` refuses providers that have none. */
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
      // The file's address is followed by `/chat/completions`: a compatible server may support nothing else.
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
