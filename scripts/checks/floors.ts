// dependency-cruiser by the rules of .dependency-cruiser.cjs. It must have seen every .ts file of packages/*/src: without
// TypeScript 6 (scripts/typescript6.mjs) it sees none and says "no violations".
import { join } from "node:path"
import { type Check, files, home, modules, orWords, run } from "./kit.ts"

interface Report {
  readonly modules: ReadonlyArray<{ readonly source: string }>
  readonly summary: {
    readonly violations: ReadonlyArray<{
      readonly from: string
      readonly to: string
      readonly rule: { readonly name: string }
      readonly comment?: string
    }>
    readonly ruleSetUsed?: { readonly forbidden?: ReadonlyArray<{ readonly name: string; readonly comment?: string }> }
  }
}

export const floors: Check = async (root) => {
  const sources = (await files(root)).filter((path) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path))
  if (sources.length === 0) return { looked: 0, unit: "files", faults: [] }
  const out = await run(root, process.execPath, [
    "--import",
    join(home, "scripts/typescript6.mjs"),
    join(modules, "dependency-cruiser/bin/dependency-cruiser.mjs"),
    "packages",
    "--config=.dependency-cruiser.cjs",
    "--output-type=json",
  ])
  if (!out.stdout.startsWith("{")) return { looked: 0, unit: "files", faults: orWords([], { ...out, code: 1 }) }
  const report = JSON.parse(out.stdout) as Report
  const seen = new Set(report.modules.map((it) => it.source))
  const reasons = new Map(report.summary.ruleSetUsed?.forbidden?.map((it) => [it.name, it.comment]))
  const unseen = sources.filter((path) => !seen.has(path) && !path.endsWith("routeTree.gen.ts"))
  return {
    looked: sources.filter((path) => seen.has(path)).length,
    unit: "files",
    faults: [
      ...unseen.map((path) => `${path}: not seen by dependency-cruiser`),
      ...report.summary.violations.map(
        (it) => `${it.from} -> ${it.to} (${it.rule.name}) ${it.comment ?? reasons.get(it.rule.name) ?? ""}`,
      ),
    ],
  }
}
