/** Many tools from one API description: all of them or none, because half an API is worse than none. */
import { firstIssues, ImportReport } from "@stoa/contract"
import { importOpenApiInSteps, type OpenApiOptions } from "@stoa/importers"
import { Effect } from "effect"
import { yieldToEventLoop } from "../../store/fibers/EventLoop.ts"
import { Tools } from "./Tools.ts"

export const makeToolImport = Effect.map(Tools, (tools) =>
  // Hundreds of operations are read one by one; other requests run in between.
  Effect.fn("ToolImport")(function* (
    document: Readonly<Record<string, unknown>>,
    options: OpenApiOptions & { readonly dryRun: boolean },
  ) {
    const steps = importOpenApiInSteps(document, options)
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yield* yieldToEventLoop
    const report = step.value
    const issues = [...report.issues]
    for (const form of report.tools) {
      for (const { message, path } of yield* tools.faults(form)) issues.push({ path: `${form.name}.${path}`, message })
      yield* yieldToEventLoop
    }
    const dryRun = options.dryRun || issues.length > 0
    if (!dryRun) yield* tools.addAll(report.tools)
    return new ImportReport({ ...report, issues: firstIssues(issues), dryRun })
  }),
)
