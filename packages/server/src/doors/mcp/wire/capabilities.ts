/** Our capabilities in each revision, and whether a client has the capability for a question of ours. */
import type { Asks, ClientRequests, EndpointView, JsonObject } from "../desk/Desk.ts"
import { declares, isObject, metaKeys } from "./message.ts"
import { formFor } from "../eras/old/oldForms.ts"
import { featuresOf, type Revision } from "./revision.ts"

/** Only what is served: the methods of any other capability answer "method not found". */
export const serverCapabilities = (view: EndpointView, revision: Revision): JsonObject => {
  const { completions, stateless } = featuresOf(revision)
  const told = { listChanged: true }
  return {
    tools: told,
    ...(view.resources === undefined ? {} : { resources: { subscribe: view.resources.subscribable, ...told } }),
    ...(view.prompts === undefined ? {} : { prompts: told }),
    ...(view.complete === undefined || !completions ? {} : { completions: {} }),
    ...(view.logs ? { logging: {} } : {}),
    ...(stateless && view.tasks !== undefined ? { extensions: { [metaKeys.tasks]: {} } } : {}),
  }
}

/** What a client would have to declare before it may be asked this; undefined if it has, or if no client can. */
const lacking = (
  capabilities: JsonObject,
  { method, params }: ClientRequests[string],
  revision: Revision,
): JsonObject | undefined => {
  const { elicitation, urlElicitation } = featuresOf(revision)
  switch (method) {
    case "roots/list":
      return declares(capabilities, "roots") ? undefined : { roots: {} }
    case "sampling/createMessage": {
      const needsTools = params?.["tools"] !== undefined
      if (declares(capabilities, "sampling") && (!needsTools || declares(capabilities, "sampling", "tools")))
        return undefined
      return { sampling: needsTools ? { tools: {} } : {} }
    }
    case "elicitation/create": {
      const url = params?.["mode"] === "url"
      const plain = declares(capabilities, "elicitation") && !declares(capabilities, "elicitation", "url")
      const able = url
        ? urlElicitation && declares(capabilities, "elicitation", "url")
        : elicitation &&
          (plain || declares(capabilities, "elicitation", "form")) &&
          formFor(params ?? {}, revision) !== undefined
      return able ? undefined : { elicitation: url ? { url: {} } : { form: {} } }
    }
    default:
      return { [method]: {} }
  }
}

/** All missing capabilities for these questions, in the shape a client declares them in. */
export const missingFor = (capabilities: JsonObject, asks: Asks, revision: Revision): JsonObject | undefined => {
  const missing = Object.values(asks.requests).flatMap((it) => lacking(capabilities, it, revision) ?? [])
  return missing.length === 0 ? undefined : Object.assign({}, ...missing)
}

/** Whether it has the shape of an answer to one of the three questions; anything else counts as not answered. */
export const isAnswer = (value: unknown): value is JsonObject =>
  isObject(value) &&
  (["accept", "decline", "cancel"].includes(value["action"] as string) ||
    Array.isArray(value["roots"]) ||
    (typeof value["model"] === "string" && typeof value["content"] === "object" && value["content"] !== null))
