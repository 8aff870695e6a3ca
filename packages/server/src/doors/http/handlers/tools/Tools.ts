import { Api, BadInput, Caller, firstIssues, ImportReport, Missing, ToolView } from "@stoa/contract"
import { importOpenApiInSteps } from "@stoa/importers"
import { inputSchemaOf, nearest } from "@stoa/tools"
import { Effect, Redacted, type Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Limits } from "../../../../access/limits/Limits.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { callFrom, Calls } from "../../../../calls/Calls.ts"
import { makeTypicalCaller } from "../../../../access/rights/TypicalCaller.ts"
import { Explanations } from "../../../../calls/catalogue/Explanations.ts"
import { Catalogue, everything, type ToolScope } from "../../../../calls/catalogue/Catalogue.ts"
import type { CatalogueTool } from "../../../../calls/catalogue/Traits.ts"
import { makeHandedCallbackKey } from "../../../../calls/waiting/Callbacks.ts"
import { makeToolNotes, makeVisibleToolNotes } from "../../../../calls/catalogue/ToolNotes.ts"
import { type Declaration, Tools } from "../../../../calls/catalogue/Tools.ts"
import { pageFrom, pageOf } from "../../../../store/Pages.ts"
import { bodyFault } from "../../../node/Body.ts"
import { yieldToEventLoop } from "../../../../store/fibers/EventLoop.ts"

const viewOf = (
  { asks, set, tool: { definition, wireName } }: Pick<CatalogueTool, "set" | "tool"> & { readonly asks?: boolean },
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
    const catalogue = yield* Catalogue
    const tools = yield* Tools
    const calls = yield* Calls
    const limits = yield* Limits
    const handOut = yield* makeHandedCallbackKey
    const explanations = yield* Explanations
    const notesOf = yield* makeToolNotes
    const notesFor = yield* makeVisibleToolNotes
    const standing = yield* makeTypicalCaller

    const configured: ToolScope = { kind: "set", set: "configured" }
    /** A tool that was just configured, in its present state, even if lists exclude it for the caller. */
    const shown = Effect.fnUntraced(function* (name: string) {
      const caller = yield* Caller
      const callable = (yield* catalogue.list(caller, configured)).find(({ tool }) => tool.definition.name === name)
      const notes = yield* notesOf({ name })
      if (callable !== undefined) return viewOf(callable, undefined, notes)
      const every = yield* catalogue.every(caller)
      const { tool } = every.find((one) => one.set === "configured" && one.tool.definition.name === name)!
      return viewOf({ set: "configured", tool }, undefined, notes)
    })
    /** As the caller sees them. */
    const seen = Effect.map(
      tools.declarations,
      (declaredIn) =>
        (listed: Parameters<typeof viewOf>[0], notes: ReadonlyArray<string> = []) =>
          viewOf(listed, listed.set === "configured" ? declaredIn(listed.tool.definition.name) : undefined, notes),
    )

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const scope: ToolScope = query.set === undefined ? everything : { kind: "set", set: query.set }
        const who = query.as === undefined ? yield* Caller : yield* standing(query.as)
        const view = yield* seen
        const all = (yield* catalogue.list(who, scope)).map((one) => view(one))
        const first = query.as !== undefined && query.cursor === undefined
        const leftOut = first ? yield* explanations.leftOut(who) : undefined
        const { after, limit } = pageFrom(query)
        const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1)).filter((one) => one.name > after)
        const page = pageOf(
          sorted.slice(0, limit + 1),
          limit,
          (one) => one,
          (one) => one.name,
        )
        return leftOut === undefined ? page : { ...page, leftOut }
      }),
      get: Effect.fnUntraced(function* ({ params: { name } }) {
        const listed = yield* catalogue.list(yield* Caller, everything)
        const found = listed.find(({ tool }) => tool.definition.name === name || tool.wireName === name)
        if (found !== undefined) return (yield* seen)(found, yield* notesFor(found))
        const names = listed.map(({ tool }) => tool.definition.name)
        const meant = nearest(name, names)
        return yield* new Missing({ noun: "tool", ref: name, ...(meant === undefined ? {} : { meant }) })
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
        const dryRun = query.dryRun === "true"
        // Hundreds of operations are read one by one; other requests run in between.
        const steps = importOpenApiInSteps(
          typeof document === "string" ? yield* documentIn(document) : document,
          options,
        )
        let step = steps.next()
        for (; step.done !== true; step = steps.next()) yield* yieldToEventLoop
        const report = step.value
        const issues = [...report.issues]
        for (const form of report.tools) {
          for (const { message, path } of yield* tools.faults(form))
            issues.push({ path: `${form.name}.${path}`, message })
          yield* yieldToEventLoop
        }
        // All or nothing: half an API is worse than none.
        if (!dryRun && issues.length === 0) yield* tools.addAll(report.tools)
        return new ImportReport({ ...report, issues: firstIssues(issues), dryRun: dryRun || issues.length > 0 })
      }),
      change: Effect.fnUntraced(function* ({ params: { name }, payload }) {
        yield* require("admin", `tools/${name}`)
        const form = { ...payload, name: payload["name"] ?? name }
        yield* tools.change(name, form).pipe(Effect.catchTag("Missing", () => tools.add(form)))
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
