import { Api, BadInput, Caller, ToolView } from "@stoa/contract"
import { inputSchemaOf } from "@stoa/tools"
import { Effect, Redacted, type Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Limits } from "../../../../access/limits/Limits.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { callFrom, Calls } from "../../../../calls/Calls.ts"
import { makeTypicalCaller } from "../../../../access/rights/TypicalCaller.ts"
import { Explanations } from "../../../../calls/catalogue/Explanations.ts"
import { everything, type ToolScope } from "../../../../calls/catalogue/Catalogue.ts"
import { makeHandedCallbackKey } from "../../../../calls/waiting/Callbacks.ts"
import { makeToolImport } from "../../../../calls/catalogue/ToolImport.ts"
import { makeToolNotes, makeVisibleToolNotes } from "../../../../calls/catalogue/ToolNotes.ts"
import { makeToolReads, type ShownTool } from "../../../../calls/catalogue/ToolReads.ts"
import { type Declaration, Tools } from "../../../../calls/catalogue/Tools.ts"
import { bodyFault } from "../../../node/Body.ts"

const viewOf = (
  { asks, set, tool: { definition, wireName } }: ShownTool,
  declaredIn?: Declaration,
  notes: ReadonlyArray<string> = [],
): ToolView =>
  new ToolView({
    name: definition.name,
    wireName,
    description: definition.description,
    inputSchema: inputSchemaOf(definition),
    ...(definition.outputSchema === undefined ? {} : { outputSchema: definition.outputSchema }),
    executionType: definition.executionType ?? "gateway",
    source: definition.source,
    set,
    visibility: definition.visibility ?? "hidden",
    riskLevel: definition.riskLevel,
    requiresApproval: definition.requiresApproval,
    ...(asks === undefined ? {} : { asks }),
    annotations: definition.annotations ?? {},
    ...(definition.customUI === undefined ? {} : { customUI: definition.customUI }),
    ...(declaredIn === undefined ? {} : { declaredIn }),
    ...(notes.length === 0 ? {} : { notes }),
  })

/** A document sent as text: an API description is larger than any other body, and few principals may send one. */
const documentIn = (text: string): Effect.Effect<Readonly<Record<string, Schema.Json>>, BadInput> =>
  Effect.suspend(() => {
    const fault = bodyFault(text, 10)
    const bad = (message: string) => Effect.fail(new BadInput({ issues: [{ path: "document", message }] }))
    if (fault !== undefined) return bad(fault)
    return Effect.matchEffect(Effect.try({ try: () => JSON.parse(text) as unknown, catch: String }), {
      onFailure: (why) => bad(`is not JSON: ${why}`),
      onSuccess: (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? Effect.succeed(value as Readonly<Record<string, Schema.Json>>)
          : bad("is not an object"),
    })
  })

export const toolsHandlers = HttpApiBuilder.group(
  Api,
  "tools",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const tools = yield* Tools
    const calls = yield* Calls
    const limits = yield* Limits
    const handOut = yield* makeHandedCallbackKey
    const explanations = yield* Explanations
    const notesOf = yield* makeToolNotes
    const notesFor = yield* makeVisibleToolNotes
    const standing = yield* makeTypicalCaller
    const reads = yield* makeToolReads
    const importTools = yield* makeToolImport

    const shown = Effect.fnUntraced(function* (name: string) {
      return viewOf(yield* reads.configured(name), undefined, yield* notesOf({ name }))
    })
    /** As the caller sees them. */
    const seen = Effect.map(
      tools.declarations,
      (declaredIn) =>
        (listed: ShownTool, notes: ReadonlyArray<string> = []) =>
          viewOf(listed, listed.set === "configured" ? declaredIn(listed.tool.definition.name) : undefined, notes),
    )

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const scope: ToolScope = query.set === undefined ? everything : { kind: "set", set: query.set }
        const who = query.as === undefined ? yield* Caller : yield* standing(query.as)
        const view = yield* seen
        const { items, next } = yield* reads.page(who, scope, query)
        const page = { items: items.map((one) => view(one)), next }
        const first = query.as !== undefined && query.cursor === undefined
        const leftOut = first ? yield* explanations.leftOut(who) : undefined
        return leftOut === undefined ? page : { ...page, leftOut }
      }),
      get: Effect.fnUntraced(function* ({ params: { name } }) {
        const found = yield* reads.find(name)
        return (yield* seen)(found, yield* notesFor(found))
      }),
      form: ({ params: { name } }) => Effect.andThen(require("write", `tools/${name}`), tools.get(name)),
      signingKey: ({ params }) => Effect.map(handOut(params.name), (key) => ({ key: Redacted.value(key) })),
      add: Effect.fnUntraced(function* ({ payload }) {
        const { name } = payload
        yield* require("admin", `tools/${typeof name === "string" ? name : "*"}`)
        return yield* shown((yield* tools.add(payload)).name)
      }),
      import: Effect.fnUntraced(function* ({ payload: { document, ...options }, query }) {
        yield* require("admin", "tools/*")
        yield* limits.take(yield* Caller, "imports")
        const parsed = typeof document === "string" ? yield* documentIn(document) : document
        return yield* importTools(parsed, { ...options, dryRun: query.dryRun === "true" })
      }),
      change: Effect.fnUntraced(function* ({ params: { name }, payload }) {
        yield* require("admin", `tools/${name}`)
        yield* tools.put(name, payload)
        return yield* shown(name)
      }),
      remove: ({ params: { name } }) => Effect.andThen(require("admin", `tools/${name}`), tools.remove(name)),
      call: Effect.fnUntraced(function* ({ headers, params: { name }, payload: { dryRun, input, space, wait } }) {
        const key = headers["idempotency-key"]
        const request = {
          tool: name,
          input: input ?? {},
          ...(space === undefined ? {} : { space }),
          ...(key === undefined ? {} : { key }),
          ...(wait === undefined ? {} : { wait: wait * 1000, stay: true }),
        }
        return dryRun === true ? yield* calls.preview(request) : callFrom(yield* calls.call(request))
      }),
    })
  }),
)
