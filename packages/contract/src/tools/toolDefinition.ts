/**
 * Between a configured tool and the one definition that every face is made from: defaults are filled in here,
 * and nowhere else.
 */
import { isObject, type JsonObject } from "../json.ts"
import type { JsonSchema, RiskLevel, ToolAnnotations, ToolDefinition, ToolParameter } from "./Tool.ts"
import { defaultVisibility, kindOf, type ToolConfiguration, type ToolForm, type ToolKind } from "./ToolConfiguration.ts"

const typeOf = (schema: JsonObject): ToolParameter["type"] => {
  const type = Array.isArray(schema["type"]) ? schema["type"].find((it) => it !== "null") : schema["type"]
  if (type === "integer" || type === "number") return "number"
  return type === "string" || type === "boolean" || type === "array" ? type : "object"
}

/** The first level of a schema as documentation; the schema itself decides. */
export const parametersOf = (schema: JsonSchema): ReadonlyArray<ToolParameter> => {
  const required: ReadonlyArray<unknown> = Array.isArray(schema["required"]) ? schema["required"] : []
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  return Object.entries(properties).map(([name, value]) => {
    const property = isObject(value) ? value : {}
    const { default: usual, description, enum: values } = property
    return {
      name,
      type: typeOf(property),
      description: typeof description === "string" ? description : "",
      required: required.includes(name),
      ...(usual === undefined ? {} : { default: usual }),
      ...(Array.isArray(values) && values.every((it) => typeof it === "string") ? { enum: values } : {}),
    }
  })
}

/** What HTTP says about its methods. POST and PATCH may destroy or not, so nothing is claimed. */
export const httpMethods: Readonly<
  Record<string, { readonly riskLevel: RiskLevel; readonly annotations: ToolAnnotations }>
> = {
  GET: { riskLevel: "low", annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } },
  HEAD: { riskLevel: "low", annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } },
  POST: { riskLevel: "medium", annotations: { readOnlyHint: false, idempotentHint: false } },
  PUT: { riskLevel: "medium", annotations: { readOnlyHint: false, idempotentHint: true } },
  PATCH: { riskLevel: "medium", annotations: { readOnlyHint: false, idempotentHint: false } },
  DELETE: { riskLevel: "high", annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true } },
}

/** The HTTP method of a form that makes an http tool; GET if it names none. */
const methodOf = ({ execution, executionType }: Pick<ToolForm, "execution" | "executionType">): unknown =>
  kindOf(executionType, execution) === "http" ? (execution?.["method"] ?? "GET") : undefined

/**
 * The risk of a tool, whoever offers it and at whatever door: an explicit risk counts; then what destroys is high,
 * whether its author or its HTTP method says so; then what only reads is low; then the method decides.
 */
export const riskOf = (tool: {
  readonly riskLevel?: RiskLevel | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly execution?: ToolForm["execution"]
  readonly executionType?: ToolForm["executionType"]
}): RiskLevel => {
  const { annotations, execution, executionType, riskLevel } = tool
  if (riskLevel !== undefined) return riskLevel
  const method = executionType === undefined ? undefined : methodOf({ executionType, ...(execution && { execution }) })
  const usual = typeof method === "string" && Object.hasOwn(httpMethods, method) ? httpMethods[method] : undefined
  if (annotations?.destructiveHint === true || usual?.annotations.destructiveHint === true) return "high"
  if (annotations?.readOnlyHint === true) return "low"
  return usual?.riskLevel ?? "medium"
}

/** The default timeouts. An image takes long, and is paid for even if nobody waits for it. */
const usualTimeout: Record<ToolKind, number> = {
  http: 30_000,
  webhook: 30_000,
  ui: 30_000,
  image: 120_000,
  compute: 30_000,
  static: 30_000,
  agent: 60_000,
}

const timeoutOf = (tool: ToolConfiguration): number => {
  // A ui tool's own limit is for people's answers; asking them takes no time.
  if (tool.kind === "ui" || tool.kind === "static") return usualTimeout[tool.kind]
  return tool.execution.timeout ?? usualTimeout[tool.kind]
}

/** The component is named beside `execution` or, as seed 001 also does, inside. */
const customUIOf = (tool: ToolConfiguration): string | undefined =>
  tool.form.display?.customUI ?? (tool.kind === "ui" ? tool.execution.display?.customUI : undefined)

export const definitionOf = (tool: ToolConfiguration): ToolDefinition => {
  const { form } = tool
  const customUI = customUIOf(tool)
  return {
    name: form.name,
    description: form.description,
    parameters: parametersOf(form.inputSchema),
    riskLevel: riskOf(form),
    timeoutMs: timeoutOf(tool),
    requiresApproval: form.requiresApproval ?? false,
    source: "configured",
    // Unchanged: a model sees this schema, byte for byte (S1-01).
    inputSchema: form.inputSchema,
    ...(form.outputSchema === undefined ? {} : { outputSchema: form.outputSchema }),
    ...(form.annotations === undefined ? {} : { annotations: form.annotations }),
    executionType: form.executionType,
    visibility: form.visibility ?? defaultVisibility[form.executionType],
    ...(customUI === undefined ? {} : { customUI }),
  }
}

/**
 * The form of a definition, with all defaults filled in. How it runs is not part of a definition, so it is a parameter.
 */
export const formOf = (definition: ToolDefinition, execution?: ToolForm["execution"]): ToolForm => {
  const { annotations, customUI, executionType = "gateway", outputSchema } = definition
  return {
    name: definition.name,
    description: definition.description,
    inputSchema: inputSchemaOf(definition),
    executionType,
    visibility: definition.visibility ?? defaultVisibility[executionType],
    ...(execution === undefined ? {} : { execution }),
    ...(customUI === undefined ? {} : { display: { customUI } }),
    riskLevel: definition.riskLevel,
    requiresApproval: definition.requiresApproval,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

const property = ({ default: usual, description, enum: values, type }: ToolParameter) => ({
  type,
  description,
  ...(values === undefined ? {} : { enum: values }),
  ...(usual === undefined ? {} : { default: usual }),
})

/** The schema as its author wrote it; a flat list becomes the equivalent schema. */
export const inputSchemaOf = (definition: ToolDefinition): JsonSchema =>
  definition.inputSchema ?? {
    type: "object",
    properties: Object.fromEntries(definition.parameters.map((parameter) => [parameter.name, property(parameter)])),
    required: definition.parameters.filter(({ required }) => required).map(({ name }) => name),
  }
