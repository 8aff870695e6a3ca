// Pages written by a program. The check compares them, `npm run docs` writes them.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { behavioursFile, behavioursPage, describeBehaviours } from "./behaviours.ts"
import { definitions } from "./definitions.ts"
import { endpointsFile } from "./endpoints.ts"
import { referenceOf } from "./reference.ts"

interface Page {
  readonly path: string
  readonly from: string
  readonly text: string
}

/** Packages whose types are their reference. */
const referenced: ReadonlyArray<readonly [folder: string, page: string]> = [
  ["packages/tools", "docs/reference/tools.md"],
]

const references = (root: string): ReadonlyArray<Page> =>
  referenced
    .filter(([folder]) => existsSync(join(root, folder, "src/index.ts")))
    .map(([folder, path]) => ({ path, from: `${folder}/src/index.ts`, text: referenceOf(root, folder) }))

const behaviours = async (root: string): Promise<ReadonlyArray<Page>> =>
  existsSync(join(root, behavioursFile))
    ? [
        {
          path: behavioursPage,
          from: `${behavioursFile} and the titles of tests`,
          text: await describeBehaviours(root),
        },
      ]
    : []

/** docs/settings.md, by `describeSettings(): string` of the server's Settings.ts (nothing while it has no such export). */
export const generated = async (root: string): Promise<ReadonlyArray<Page>> => {
  const from = "packages/server/src/Settings.ts"
  const file = join(root, from)
  const pages = [
    ...references(root),
    ...(await behaviours(root)),
    ...(await endpointsFile(root)),
    ...(await definitions(root)),
  ]
  if (!existsSync(file) || !/^export (const|function) describeSettings\b/m.test(readFileSync(file, "utf8")))
    return pages
  const { describeSettings } = (await import(pathToFileURL(file).href)) as { describeSettings: () => string }
  return [{ path: "docs/settings.md", from, text: describeSettings() }, ...pages]
}
