/** A command starts from the bundle while its sources are what it was made from, and from the sources otherwise. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, expect, it } from "vitest"
import { Home } from "../kit/home.ts"

const folder = mkdtempSync(join(tmpdir(), "stoa-bundle-"))
const bin = join(import.meta.dirname, "../../bin")
const cache = join(folder, "node_modules/.cache/stoa")
const source = join(folder, "packages/cli/src/main.ts")
const bundled = join(cache, "0123456789abcdef/main.mjs")
const home = new Home()
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await home.remove()
})

const put = (file: string, text: string) => {
  mkdirSync(join(file, ".."), { recursive: true })
  writeFileSync(file, text)
}
/** Which of the two says its name. */
const started = async () => {
  const ended = await home.program(process.execPath, [join(folder, "packages/cli/bin/stoa.mjs")]).ended
  expect(ended).toMatchObject({ code: 0, stderr: "" })
  return ended.stdout.trim()
}

it("takes the bundle as long as no source has changed, gone or is not known", async () => {
  cpSync(bin, join(folder, "packages/cli/bin"), { recursive: true })
  const other = join(folder, "packages/cli/src/other.ts")
  put(source, `console.log("sources")`)
  put(other, "export {}")
  expect(await started()).toBe("sources")
  const inputs = ["packages/cli/src/main.ts", "packages/cli/src/other.ts"].map((file) => {
    const { mtimeMs, size } = statSync(join(folder, file))
    return [file, mtimeMs, size]
  })
  put(bundled, `console.log("bundle")`)
  const current = {
    root: `${folder}/`,
    name: "0123456789abcdef",
    inputs,
    outputs: [["main.mjs", statSync(bundled).size]],
  }
  const point = (more: object) => put(join(cache, "current.json"), JSON.stringify({ ...current, ...more }))
  point({})
  expect(await started()).toBe("bundle")
  // Made in another place, or half of it.
  point({ root: "/elsewhere/" })
  expect(await started()).toBe("sources")
  point({ outputs: [["main.mjs", 1]] })
  expect(await started()).toBe("sources")
  point({})
  const { atime, mtime } = statSync(other)
  utimesSync(other, atime, new Date(mtime.getTime() + 1000))
  expect(await started()).toBe("sources")
  utimesSync(other, atime, mtime)
  writeFileSync(other, "export { }")
  utimesSync(other, atime, mtime)
  expect(await started()).toBe("sources")
  rmSync(other)
  expect(await started()).toBe("sources")
  point({ inputs: inputs.slice(0, 1) })
  expect(await started()).toBe("bundle")
  rmSync(bundled)
  expect(await started()).toBe("sources")
  put(join(cache, "current.json"), `{"name": "half`)
  expect(await started()).toBe("sources")
})

it("the tests of the command run the bundle of this checkout, which is fresh", async () => {
  const { entry } = (await import(pathToFileURL(join(bin, "entry.mjs")).href)) as { readonly entry: () => string }
  expect(entry()).toMatch(/\/node_modules\/\.cache\/stoa\/b-\w+\/main\.mjs$/)
})
