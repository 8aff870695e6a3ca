import { type Check, orWords, run } from "./kit.ts"

interface Report {
  readonly number_of_files: number
  readonly diagnostics: ReadonlyArray<{
    readonly message: string
    readonly code?: string
    readonly filename: string
    readonly labels?: ReadonlyArray<{ readonly span?: { readonly line?: number } }>
  }>
}

/** oxlint with types, and the house's own rules (scripts/rules.ts). Warnings count: nobody reads them otherwise. */
export const lint: Check = async (root) => {
  const out = await run(root, "oxlint", ["--type-aware", "--deny-warnings", "--format=json"])
  const at = out.stdout.indexOf("{")
  if (at < 0) return { looked: 0, unit: "files", faults: orWords([], { ...out, code: 1 }) }
  const report = JSON.parse(out.stdout.slice(at)) as Report
  const faults = report.diagnostics.map(
    (it) => `${it.filename}:${it.labels?.[0]?.span?.line ?? 1} ${it.code ?? ""} ${it.message}`,
  )
  return { looked: report.number_of_files, unit: "files", faults: orWords(faults, out) }
}
