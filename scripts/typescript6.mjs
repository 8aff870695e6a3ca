// dependency-cruiser needs the TypeScript compiler API, which 7 does not have: it gets this folder's 6, nothing else does.
import { createRequire, registerHooks } from "node:module"
import { pathToFileURL } from "node:url"

const here = createRequire(import.meta.url)
registerHooks({
  resolve: (specifier, context, next) =>
    /^typescript(\/|$)/.test(specifier) && context.parentURL !== import.meta.url
      ? { url: pathToFileURL(here.resolve(specifier)).href, shortCircuit: true }
      : next(specifier, context),
})
