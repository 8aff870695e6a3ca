/** A configured tool as a form: the fields of its kind, the initial values, and which parts are JSON. */
import type { Json } from "../../feed/types.ts"
import type { JsonSchema } from "../../parts/form/schemaForm.logic.ts"
import { riskOf } from "@stoa/contract"
import { isFields } from "../../parts/form/json.logic.ts"
import { words } from "./words/en.ts"

/** The kinds with a form; every other kind is edited as JSON, besides the common fields. */
export const newKinds = ["http", "webhook"] as const
export type Kind = (typeof newKinds)[number] | "other"

const text = { type: "string", minLength: 1 }
const headers = { type: "object", title: words.form.headers, description: words.form.headersHint }

const executions: Readonly<Record<(typeof newKinds)[number], JsonSchema>> = {
  http: {
    type: "object",
    title: words.form.request,
    properties: {
      url: { ...text, title: words.form.address, description: words.form.addressHint },
      method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], title: words.form.method },
      headers,
      body: { title: words.form.body, description: words.form.bodyHint },
    },
    required: ["url"],
  },
  webhook: {
    type: "object",
    title: words.form.request,
    properties: {
      webhookUrl: { ...text, title: words.form.address },
      method: { enum: ["POST", "PUT"], title: words.form.method },
      headers,
    },
    required: ["webhookUrl"],
  },
}

export const kindOf = (form: Json | undefined): Kind => {
  if (!isFields(form) || !isFields(form["execution"])) return "other"
  const { execution, executionType } = form
  return executionType === "external" && "webhookUrl" in execution ? "webhook" : "url" in execution ? "http" : "other"
}

/** The risk that the house derives if none is chosen. */
const usualRisk = (form: Json | undefined): string => riskOf({ ...(isFields(form) ? form : {}), riskLevel: undefined })

/** A tool keeps its name: an existing one has no name field. */
export const formSchema = (form: Json | undefined, isNew: boolean): JsonSchema => {
  const kind = kindOf(form)
  return {
    type: "object",
    properties: {
      ...(isNew ? { name: { ...text, title: words.form.name, description: words.form.nameHint } } : {}),
      description: {
        ...text,
        maxLength: 10_000,
        title: words.form.description,
        description: words.form.descriptionHint,
      },
      ...(kind === "other" ? {} : { execution: executions[kind] }),
      inputSchema: { type: "object", title: words.form.input, description: words.form.inputHint },
      riskLevel: {
        enum: ["low", "medium", "high", "critical"],
        title: words.form.risk,
        description: words.form.riskHint(usualRisk(form)),
      },
      requiresApproval: { type: "boolean", title: words.form.approval },
    },
    required: [...(isNew ? ["name"] : []), "description", ...(kind === "other" ? [] : ["execution"]), "inputSchema"],
  }
}

/** What the person did not choose is not sent: the house has the defaults, and they are the same at every door. */
export const initialForm = (kind: (typeof newKinds)[number]): Record<string, Json> => ({
  name: "",
  description: "",
  executionType: kind === "webhook" ? "external" : "gateway",
  execution: kind === "webhook" ? { webhookUrl: "", method: "POST" } : { url: "", method: "GET" },
  inputSchema: { type: "object", properties: {} },
})
