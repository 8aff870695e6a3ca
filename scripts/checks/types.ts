// tsc, and proof that it reports Effect mistakes: without effect-tsgo's patch, or without the plugin in tsconfig.json, it
// accepts them all in silence. So a probe with a floating effect is compiled under the same tsconfig, and must be refused.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { type Check, lines, orWords, run } from "./kit.ts"

const probe = `import { Effect } from "effect"
Effect.log("nobody runs this")
`

const effectIsWatched = async (root: string): Promise<boolean> => {
  const cache = join(root, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "probe-"))
  try {
    writeFileSync(join(folder, "probe.ts"), probe)
    const extend = { extends: join(relative(folder, root), "tsconfig.json") }
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        ...extend,
        compilerOptions: { incremental: false, tsBuildInfoFile: null },
        include: ["probe.ts"],
      }),
    )
    return (await run(root, "tsc", ["-p", folder])).stdout.includes("effect(floatingEffect)")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// Declarations are made, and thrown away: a type that cannot be named in them is refused only where they are emitted, and
// without this it would first be noticed when the packages are built.
const emit = [
  "--noEmit",
  "false",
  "--rootDir",
  ".",
  "--declaration",
  "--emitDeclarationOnly",
  "--outDir",
  "node_modules/.cache/types",
]

// One checker: several check the types that they share once each, which is half as much work again, and the linter runs
// beside it.
export const types: Check = async (root) => {
  const [out, watched] = await Promise.all([
    run(root, "tsc", ["-p", ".", "--checkers", "1", "--listFiles", ...emit]),
    effectIsWatched(root),
  ])
  const said = lines(out.stdout)
  const looked = said.filter((line) => line.startsWith(`${root}/`) && !line.includes("/node_modules/")).length
  const faults = said.filter((line) => /error TS|^\s/.test(line))
  const blind = "tsc accepted a floating Effect: run `npx effect-tsgo patch` and keep the plugin in tsconfig.json"
  return { looked, unit: "files", faults: [...(watched ? [] : [blind]), ...orWords(faults, out)] }
}
