// Pages written by a program. The check compares them, `npm run docs` writes them.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

interface Page {
  readonly path: string
  readonly from: string
  readonly text: string
}

/** docs/settings.md, by `describeSettings(): string` of the server's Settings.ts (nothing while it has no such export). */
export const generated = async (root: string): Promise<ReadonlyArray<Page>> => {
  const from = "packages/server/src/Settings.ts"
  const file = join(root, from)
  if (!existsSync(file) || !/^export (const|function) describeSettings\b/m.test(readFileSync(file, "utf8"))) return []
  const { describeSettings } = (await import(pathToFileURL(file).href)) as { describeSettings: () => string }
  return [{ path: "docs/settings.md", from, text: describeSettings() }]
}
