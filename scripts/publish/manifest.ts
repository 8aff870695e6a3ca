// package.json as it is published: `./src/x.ts` becomes `./dist/x.js` with its types. npm does not apply
// publishConfig.exports itself, and Node refuses to strip types below node_modules, so the staged copy is rewritten.

type Exports = string | null | { readonly [key: string]: Exports }

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: { readonly [entry: string]: Exports }
  readonly files?: ReadonlyArray<string>
  readonly dependencies?: Record<string, string>
  readonly [key: string]: unknown
}

const built = (path: string, extension: string) =>
  path.replace(/^\.\/src\//, "./dist/").replace(/(\.d)?\.tsx?$/, extension)

const rewritten = (to: Exports, condition?: string): Exports => {
  if (typeof to === "object" && to !== null)
    return Object.fromEntries(Object.entries(to).map(([key, value]) => [key, rewritten(value, key)]))
  if (to === null || !/^\.\/src\/.*\.tsx?$/.test(to)) return to
  if (condition === "types") return built(to, ".d.ts")
  return condition === undefined ? { types: built(to, ".d.ts"), default: built(to, ".js") } : built(to, ".js")
}

/** Safe in a browser, and so on any Node with fetch; the others use node:sqlite and newer syntax. */
const forOldNode = ["@stoa/contract", "@stoa/sdk"]

export const published = (manifest: Manifest): Manifest => {
  const { private: _private, devDependencies: _dev, scripts: _scripts, exports, ...kept } = manifest
  const entries = Object.entries(exports ?? {}).map(([entry, to]) => [entry, rewritten(to)] as const)
  return {
    ...kept,
    ...(exports === undefined ? {} : { exports: Object.fromEntries(entries) }),
    files: [...new Set([...(manifest.files ?? []), "dist"])],
    engines: { node: forOldNode.includes(manifest.name) ? ">=20" : ">=22.19" },
  }
}
