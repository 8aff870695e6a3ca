/**
 * The registered tools: by name and by wire name, in order of registration, a thousand at most (S4-33, S4-34, S4-42).
 */
import {
  type FunctionCallingTool,
  type ToolDefinition,
  ToolDefinitionSchema,
  ToolNotFoundError,
  ToolValidationError,
} from "@stoa/contract"
import { Effect, Schema } from "effect"
import { functionForms, type OpenAITool } from "./functionCalling.ts"
import type { CallContext, Tool } from "../Handler.ts"
import { faultOf } from "../schema/validateInput.ts"
import { nearest } from "../names/nearest.ts"
import { timeoutFault } from "../sandbox/Timeout.ts"
import { digestOf } from "../schema/schemaGuard.ts"
import { admitSchema, type Asker, measureSchema } from "../schema/validateSchema.ts"
import type { ToolsConfig } from "../ToolsConfig.ts"
import { spellingOf } from "../names/spelling.ts"
import { toWireName } from "../names/WireName.ts"

export interface ToolFilter {
  readonly category?: string
  readonly source?: string
  readonly riskLevel?: string
}

export interface RegisteredTool<C = CallContext> extends Tool<C> {
  readonly wireName: string
  /** Digest of the definition as shown: with another fingerprint, the tool has changed. */
  readonly fingerprint: string
  /** Its schema is our own code and is validated in place. Any other schema is validated under a deadline. */
  readonly reviewed: boolean
}

const decode = Schema.decodeUnknownEffect(ToolDefinitionSchema, { errors: "first" })

/** `C` is the part of a call that its handlers get. */
export class Registry<C = CallContext> {
  readonly #tools = new Map<string, RegisteredTool<C>>()
  readonly #wire = new Map<string, string>()
  /** By the spelling key of a name. */
  readonly #spelled = new Map<string, string>()
  readonly #config: ToolsConfig["registry"] & ToolsConfig["execution"]
  #version = 0
  #formats:
    | {
        readonly version: number
        readonly anthropic: ReadonlyArray<FunctionCallingTool>
        readonly openai: ReadonlyArray<OpenAITool>
      }
    | undefined

  constructor(config: ToolsConfig) {
    this.#config = { ...config.registry, ...config.execution }
  }

  /** Rises with every change: anything derived from another version is derived again. */
  get version(): number {
    return this.#version
  }
  get size(): number {
    return this.#tools.size
  }

  readonly add = (
    tool: Tool<C>,
    options: {
      readonly reviewed?: boolean
      /** Digest of what the tool connects to, if that can change without its definition: a url, a server. */
      readonly behind?: string
      /** Its owner: schemas of several owners are compiled in turn. */
      readonly by?: string
      /** It was accepted before: its schemas are measured, and compiled when first used. */
      readonly known?: boolean
    } = {},
  ): Effect.Effect<void, ToolValidationError> =>
    Effect.gen({ self: this }, function* () {
      const reviewed = options.reviewed ?? tool.definition.source !== "mcp"
      const schemas = options.known === true ? "known" : { by: options.by ?? "", reviewed }
      const definition = yield* this.#check(tool.definition, schemas)
      const { name } = definition
      if (this.#tools.has(name) && !this.#config.allowDuplicateNames)
        return yield* refuse(name, "name", "a name no other tool has", `${name}, which is taken: the first one stays`)
      if (!this.#tools.has(name) && this.#tools.size >= this.#config.maxTools)
        return yield* refuse(name, "name", `at most ${this.#config.maxTools} tools`, "one more")
      const wireName = toWireName(name)
      // A tool can be called by either of its names, so no name may equal another tool's wire name.
      const holder =
        this.#wire.get(wireName) ?? this.#wire.get(name) ?? (this.#tools.has(wireName) ? wireName : undefined)
      if (holder !== undefined && holder !== name)
        return yield* refuse(name, "name", "a wire name of its own", `${wireName}, which is ${holder}'s`)
      const alike = this.alike(name)
      if (alike !== undefined)
        return yield* refuse(name, "name", "a name unlike any other", `${name}, which is too similar to ${alike}`)
      this.#tools.set(name, {
        ...tool,
        definition,
        wireName,
        fingerprint: options.behind === undefined ? digestOf(definition) : digestOf([definition, options.behind]),
        reviewed,
      })
      this.#wire.set(wireName, name)
      this.#spelled.set(spellingOf(name), name)
      this.#version++
    })

  readonly remove = (name: string): boolean => {
    const tool = this.#tools.get(name)
    if (tool === undefined) return false
    this.#tools.delete(name)
    this.#wire.delete(tool.wireName)
    this.#spelled.delete(spellingOf(name))
    this.#version++
    return true
  }

  /** Another tool whose name reads like this one. */
  readonly alike = (name: string): string | undefined => {
    const other = this.#spelled.get(spellingOf(name))
    return other === name ? undefined : other
  }

  /** By name or by wire name. */
  readonly find = (name: string): RegisteredTool<C> | undefined =>
    this.#tools.get(name) ?? this.#tools.get(this.#wire.get(name) ?? "")

  readonly names = (): ReadonlyArray<string> => [...this.#tools.keys()]

  readonly get = (name: string): Effect.Effect<RegisteredTool<C>, ToolNotFoundError> =>
    Effect.suspend(() => {
      const tool = this.find(name)
      return tool === undefined ? Effect.fail(notFound(name, this.names())) : Effect.succeed(tool)
    })

  readonly list = (filter: ToolFilter = {}): ReadonlyArray<ToolDefinition> =>
    [...this.#tools.values()]
      .map((tool) => tool.definition)
      .filter(
        (one) =>
          (filter.category === undefined || one.category === filter.category) &&
          (filter.source === undefined || one.source === filter.source) &&
          (filter.riskLevel === undefined || one.riskLevel === filter.riskLevel),
      )

  /** Derived once per change, not once per model request. */
  readonly formats = () => {
    if (this.#formats?.version === this.#version) return this.#formats
    const forms = Array.from(this.#tools.values(), functionForms)
    this.#formats = {
      version: this.#version,
      anthropic: forms.map(({ anthropic }) => anthropic),
      openai: forms.map(({ openai }) => openai),
    }
    return this.#formats
  }

  /** A definition is checked when it is registered, not when a model relies on it. */
  #check(given: ToolDefinition, schemas: Asker | "known"): Effect.Effect<ToolDefinition, ToolValidationError> {
    return Effect.gen({ self: this }, function* () {
      const name = typeof given.name === "string" ? given.name : "(no name)"
      const definition = yield* Effect.mapError(decode(given), (error) =>
        refuse(name, "definition", "a tool definition", error.message.split("\n")[0]!),
      )
      if (!/^[^\s\p{C}]{1,128}$/u.test(name))
        return yield* refuse(name, "name", "1 to 128 characters without spaces", JSON.stringify(name))
      if (timeoutFault(definition) !== undefined)
        return yield* refuse(name, "timeoutMs", "a number of milliseconds above 0", String(definition.timeoutMs))
      const seen = new Set<string>()
      for (const parameter of definition.parameters) {
        if (seen.has(parameter.name))
          return yield* refuse(name, parameter.name, "a parameter named once", "named twice")
        seen.add(parameter.name)
        // If there is a complete schema, the parameter list is only documentation, and the schema decides.
        const unchecked = parameter.default === undefined || definition.inputSchema !== undefined
        const fault = unchecked ? undefined : faultOf(parameter, parameter.default)
        if (fault !== undefined)
          return yield* refuse(name, parameter.name, `a default that is ${fault.expected}`, fault.received)
      }
      const unchecked = yield* Effect.forEach(["inputSchema", "outputSchema"] as const, (field) => {
        const schema = definition[field]
        if (schema === undefined) return Effect.succeed([])
        return schemas === "known"
          ? Effect.as(measureSchema(name, field, schema), [])
          : Effect.map(admitSchema(name, field, schema, schemas), (paths) => paths.map((path) => `${field}${path}`))
      })
      if (unchecked.flat().length > 0)
        yield* Effect.logWarning(
          `${name}: patterns that need more than linear time are not checked here, but left to the server that defined them`,
          unchecked.flat(),
        )
      const timeoutMs = Math.min(definition.timeoutMs, this.#config.maxTimeoutMs)
      // Keeps the schemas as their author wrote them: a model sees the same bytes (S4-38).
      const { inputSchema, outputSchema } = given
      return {
        ...definition,
        timeoutMs,
        ...(inputSchema === undefined ? {} : { inputSchema }),
        ...(outputSchema === undefined ? {} : { outputSchema }),
      }
    })
  }
}

const refuse = (tool: string, parameter: string, expected: string, received: string) =>
  new ToolValidationError({
    message: `The tool "${tool}" was not registered: ${parameter} must be ${expected}, but is ${received}`,
    toolName: tool,
    parameter,
    expected,
    received,
  })

/** Names the nearest tool, and only tools the caller may use (G-32, S4-23). */
export const notFound = (tool: string, available: ReadonlyArray<string>): ToolNotFoundError => {
  const meant = nearest(tool, available)
  return new ToolNotFoundError({
    message: `Tool "${tool.slice(0, 200)}" not found.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`,
    toolName: tool,
    availableTools: available,
  })
}
