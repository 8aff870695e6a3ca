// How programs are bundled: for bundle.mjs, and for programs of tests that are started often.
import { existsSync } from "node:fs"
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

/** Bundles these programs into a folder, by their names there; gives the files that went into it. */
export const bundleInto = async (folder, input) => {
  const { rolldown } = await import("rolldown")
  const bundle = await rolldown({
    input,
    platform: "node",
    // Some packages have only their ESM in one piece.
    resolve: { mainFields: ["module", "main"] },
    external: ["pg-native", "cloudflare:sockets"],
    plugins: [beside],
    logLevel: "warn",
  })
  const { output } = await bundle.write({ dir: folder, entryFileNames: "[name].mjs", chunkFileNames: "[hash].mjs" })
  await bundle.close()
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))
}
