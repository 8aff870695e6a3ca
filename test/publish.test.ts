// What others install works without the sources: built and packed from a fixture, unpacked into an empty project, run.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { modules } from "../scripts/checks/kit.ts"
import { build } from "../scripts/publish/build.ts"
import { published } from "../scripts/publish/manifest.ts"
import { pack } from "../scripts/publish/pack.ts"
import { house } from "./check/fixture.ts"

it("exports, also by condition and pattern, lead to dist", () => {
  const { exports, files } = published({
    name: "@stoa/some",
    version: "0.1.0",
    exports: {
      ".": "./src/index.ts",
      "./api/*": "./src/api/*.ts",
      "./node": { types: "./src/node.ts", browser: "./src/browser.ts", default: "./src/node.ts" },
      "./package.json": "./package.json",
    },
  })
  expect(files).toEqual(["dist"])
  expect(exports).toEqual({
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./api/*": { types: "./dist/api/*.d.ts", default: "./dist/api/*.js" },
    "./node": { types: "./dist/node.d.ts", browser: "./dist/browser.js", default: "./dist/node.js" },
    "./package.json": "./package.json",
  })
})

it("packages run from their tarballs alone", async () => {
  const cli = { name: "@stoa/cli", version: "0.1.0", license: "MIT", type: "module", files: ["bin", "dist"] }
  const root = house({
    "packages/cli/package.json": JSON.stringify({ ...cli, bin: { stoa: "./bin/stoa.mjs" } }),
    "packages/cli/bin/stoa.mjs": `import "../src/main.ts"\n`,
    "packages/cli/src/page.txt": "a page",
    "packages/cli/src/worker.ts": `export const worker = 1\n`,
    "packages/cli/src/main.ts": `import { existsSync } from "node:fs"
import { Spaces } from "@stoa/server"
import { Effect } from "effect"
import { worker } from "./worker.ts"

const beside = [new URL("./worker.ts", import.meta.url), new URL("./page.txt", import.meta.url)]
const space: string = Effect.runSync(Spaces.get("general"))
console.log(space, worker, beside.every((file) => existsSync(file)))
`,
  })
  await build(root, () => {})
  const tarballs = await pack(root, join(root, "../out"))
  expect(Object.keys(tarballs)).toEqual(["contract", "server", "cli"])

  const project = join(root, "../project")
  for (const [name, tarball] of Object.entries(tarballs)) {
    const folder = join(project, "node_modules/@stoa", name)
    mkdirSync(folder, { recursive: true })
    expect(spawnSync("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"]).status).toBe(0)
    expect(existsSync(join(folder, "src"))).toBe(false)
  }
  symlinkSync(join(modules, "effect"), join(project, "node_modules/effect"))
  const ran = spawnSync(process.execPath, ["node_modules/@stoa/cli/bin/stoa.mjs"], { cwd: project, encoding: "utf8" })
  expect(ran.stderr).toBe("")
  expect(ran.stdout).toBe("general 1 true\n")

  // Types come along: a wrong use is refused.
  const options = { module: "NodeNext", strict: true, noEmit: true, skipLibCheck: true, types: [] }
  writeFileSync(join(project, "package.json"), `{ "type": "module" }`)
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["use.ts"] }))
  writeFileSync(join(project, "use.ts"), `import { Spaces } from "@stoa/server"\nSpaces.get(1)\n`)
  const typed = spawnSync(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", project], { encoding: "utf8" })
  expect(typed.stdout).toContain("TS2345")
})
