/** An agent's tools as a model is told about them: under wire names, without their handlers. Pure. */
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Callable } from "../../calls/catalogue/Catalogue.ts"
import { isForModel, schemaForModel } from "../../calls/catalogue/ForModel.ts"

export const wireToolsOf = (
  tools: ReadonlyArray<Callable>,
  /** Of whoever the agent acts for (`Wallets.behind`). */
  wallet: string | null,
): ReadonlyArray<LanguageModelV4FunctionTool> =>
  tools
    .filter((it) => isForModel(it, wallet))
    .map((it) => {
      const { definition, wireName } = it.tool
      return {
        type: "function",
        name: wireName,
        description: it.asks ? `${definition.description} (A person is asked first.)` : definition.description,
        inputSchema: schemaForModel(it) as LanguageModelV4FunctionTool["inputSchema"],
      }
    })
