// A snippet in a page is a fenced block below `<!-- from path#region -->`. It equals the lines between `// #region region`
// and `// #endregion` of that file (which compiles and runs), less their common indent; without `#region`, the whole file.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const marker = /<!-- from (\S+?)(?:#([\w-]+))? -->\n+(`{3,})(\w*)\n([\s\S]*?)^\3$/gm
const anyMarker = /<!-- from /g

const dedent = (lines: ReadonlyArray<string>): string => {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const least = Math.min(...indents)
  return lines
    .map((line) => line.slice(least))
    .join("\n")
    .trim()
}

const regionOf = (text: string, region: string | undefined): string | undefined => {
  if (region === undefined) return text.trim()
  const lines = text.split("\n")
  const start = lines.findIndex((line) => new RegExp(`#region ${region}\\s*(-->|\\*/)?$`).test(line))
  const length = lines.slice(start + 1).findIndex((line) => line.includes("#endregion"))
  return start < 0 || length <= 0 ? undefined : dedent(lines.slice(start + 1, start + 1 + length))
}

/** The page as it should be, and what is wrong with it as it is. */
export const refreshed = (root: string, page: string, text: string) => {
  const faults: Array<string> = []
  let snippets = 0
  const fresh = text.replace(
    marker,
    (whole, path: string, region: string | undefined, fence: string, lang: string, body: string) => {
      snippets++
      const name = region === undefined ? path : `${path}#${region}`
      const file = join(root, path)
      const now = existsSync(file) ? regionOf(readFileSync(file, "utf8"), region) : undefined
      if (now === undefined) faults.push(`${page}: ${name} does not exist`)
      else if (now !== body.trim()) faults.push(`${page}: snippet differs from ${name}; run \`npm run docs\``)
      return now === undefined ? whole : `<!-- from ${name} -->\n\n${fence}${lang}\n${now}\n${fence}`
    },
  )
  // A marker that is not followed by a block would otherwise be a snippet nobody compares.
  const markers = (text.match(anyMarker) ?? []).length
  if (markers !== snippets)
    faults.push(`${page}: ${markers} \`<!-- from … -->\` marks but ${snippets} code blocks below them`)
  return { text: fresh, snippets, faults }
}
