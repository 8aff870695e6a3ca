// Small houses in the temp folder to show faults to the checks: `house()` has none, and files laid over it plant one.
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"
import { home, modules } from "../../scripts/checks/kit.ts"
import { behavioursText } from "../../scripts/docs/behaviours.ts"

type Files = Record<string, string>

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const manifest = (name: string, dependencies: Record<string, string>) =>
  json({
    name: `@stoa/${name}`,
    version: "0.1.0",
    license: "MIT",
    type: "module",
    exports: { ".": "./src/index.ts" },
    dependencies,
  })

const behaviours = { "S0-01": "Six tools exist." }

const faultless: Files = {
  ".gitignore": "node_modules\n",
  "package.json": json({
    name: "stoa",
    private: true,
    license: "MIT",
    workspaces: ["packages/*"],
    type: "module",
    devDependencies: { "dependency-cruiser": "18.7.2" },
  }),
  "package-lock.json": json({
    packages: { "": {}, "node_modules/effect": { license: "MIT", integrity: `sha512-${"A".repeat(86)}==` } },
  }),
  "README.md": "# Stoa\n\nSee [the errors](docs/errors/SpaceMissing.md).\n",
  "docs/errors/SpaceMissing.md": "# SpaceMissing\n",
  "docs/ledger-later.md": "# Later\n\n- S0-01: waits for the room of runs\n",
  "docs/behaviours.json": json(behaviours),
  "docs/behaviours.md": behavioursText(behaviours, {
    claims: new Map(),
    later: new Set(["S0-01"]),
    exceptions: new Set(),
  }),
  "packages/contract/package.json": manifest("contract", { effect: "4.1.0" }),
  "packages/contract/src/index.ts": `export * from "./Errors.ts"\n`,
  "packages/contract/src/Errors.ts": `import { Schema } from "effect"

export class SpaceMissing extends Schema.TaggedError<SpaceMissing>()("SpaceMissing", { space: Schema.String }) {}
`,
  "packages/server/package.json": manifest("server", { "@stoa/contract": "0.1.0", effect: "4.1.0" }),
  "packages/server/src/index.ts": `export { Spaces } from "./spaces/Spaces.ts"\n`,
  "packages/server/src/store/Store.ts": `export const Store = { rows: ["general"] }\n`,
  "packages/server/src/README.md": "- **May use**: every room, `@stoa/contract`.\n",
  "packages/server/src/spaces/README.md": "- **May use**: `store`.\n",
  "packages/server/src/spaces/find.ts": `// #region find
export const find = (rows: ReadonlyArray<string>, name: string) => rows.find((row) => row === name)
// #endregion
`,
  "packages/server/src/spaces/Spaces.ts": `import { SpaceMissing } from "@stoa/contract"
import { Effect } from "effect"
import { Store } from "../store/Store.ts"
import { find } from "./find.ts"

export const Spaces = {
  get: (name: string) =>
    Effect.fromNullishOr(find(Store.rows, name)).pipe(Effect.mapError(() => new SpaceMissing({ space: name }))),
}
`,
}

const configs = [
  "tsconfig.json",
  ".oxlintrc.json",
  ".oxfmtrc.json",
  ".dependency-cruiser.cjs",
  "knip.json",
  "scripts/rules.ts",
]

const folder = (): string => {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "stoa-check-")))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true }))
  const root = join(outer, "main")
  mkdirSync(root)
  spawnSync("git", ["init", "-q"], { cwd: root })
  return root
}

const lay = (root: string, files: Files) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** node_modules of links to ours, except that @stoa/* are the fixture's own packages. */
const link = (root: string) => {
  mkdirSync(join(root, "node_modules/@stoa"), { recursive: true })
  for (const name of readdirSync(modules))
    if (name !== "@stoa" && name !== ".cache") symlinkSync(join(modules, name), join(root, "node_modules", name))
  for (const name of readdirSync(join(root, "packages")))
    symlinkSync(join(root, "packages", name), join(root, "node_modules/@stoa", name))
}

/** A house every check accepts, with `faults` laid over it. */
export const house = (faults: Files = {}): string => {
  const root = folder()
  for (const path of configs) cpSync(join(home, path), join(root, path))
  lay(root, { ...faultless, ...faults })
  link(root)
  return root
}

/** Nothing to look at: no file of ours. */
export const nothing = (): string => folder()
