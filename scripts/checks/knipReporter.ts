// Loaded by knip (see unused.ts): one line of JSON with what it found and how many files it read.
import { relative } from "node:path"
import type { ReporterOptions } from "knip"

const words: Record<string, string> = {
  files: "no file imports it",
  exports: "exported, but used nowhere else",
  types: "exported type, but used nowhere else",
  dependencies: "dependency that nothing imports",
  devDependencies: "dev dependency that nothing imports",
  unlisted: "imported, but not in this package's package.json",
  unresolved: "import that leads nowhere",
}

export default ({ issues, report, counters, cwd }: ReporterOptions): void => {
  const faults: Array<string> = []
  for (const [kind, on] of Object.entries(report)) {
    if (!on) continue
    for (const file of Object.values(issues[kind as keyof typeof issues] ?? {}))
      for (const issue of Object.values(file)) {
        const at = `${relative(cwd, issue.filePath)}${issue.line === undefined ? "" : `:${issue.line}`}`
        faults.push(`${at} ${kind === "files" ? "" : `${issue.symbol}: `}${words[kind] ?? kind}`)
      }
  }
  console.log(JSON.stringify({ processed: counters.processed, faults }))
}
