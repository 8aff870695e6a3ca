/** A declared model as the AI SDK has it. Each provider is loaded when the first of its models is asked. */
// edge: modules of the AI SDK, loaded by promises.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { Redacted } from "effect"
import type { Access } from "./Access.ts"
import { scriptedModel } from "./scripted.ts"

/** The key goes to the address the operator set, and is not carried on from there. */
const straight: typeof fetch = (url, init) => fetch(url, { ...init, redirect: "error" })

export const providerModel = async ({ baseUrl, declared, key, name }: Access): Promise<LanguageModelV4> => {
  const model = declared.model ?? ""
  const options = {
    fetch: straight,
    ...(key === undefined ? {} : { apiKey: Redacted.value(key) }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  }
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
