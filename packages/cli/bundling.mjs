// How programs are bundled: for bundle.mjs, and for programs of tests that are started often.
import { existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"

/** Workers and files are looked for beside the source that names them, and are there. */
const beside = {
  name: "beside",
  transform: {
    filter: { code: /import\.meta\.(?:url|dirname)/ },
    handler: (code, id) =>
      existsSync(id)
        ? {
            code: code
              .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
              .replaceAll("import.meta.dirname", JSON.stringify(dirname(id))),
            map: null,
          }
        : null,
  },
}

/** Notes each source as it was before it was read: what changes meanwhile is seen as changed. */
const noting = (sources) => ({
  name: "noting",
  load: (id) => {
    if (existsSync(id) && !id.includes("/node_modules/")) sources.set(id, statSync(id))
    return null
  },
})

/**
 * Bundles these programs into a folder, by their names there; gives the sources that went into it, as they were. Packages
 * `outside` are loaded from where they are.
 */
export const bundleInto = async (folder, input, outside = []) => {
  const { rolldown } = await import("rolldown")
  const sources = new Map()
  const bundle = await rolldown({
    input,
    platform: "node",
    // Some packages have only their ESM in one piece.
    resolve: { mainFields: ["module", "main"] },
    external: ["pg-native", "cloudflare:sockets", ...outside],
    plugins: [noting(sources), beside],
    logLevel: "warn",
  })
  await bundle.write({ dir: folder, entryFileNames: "[name].mjs", chunkFileNames: "[hash].mjs" })
  await bundle.close()
  return sources
}
