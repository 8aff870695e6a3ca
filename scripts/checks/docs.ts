// The docs say what the code does: snippets equal the regions they name, links lead somewhere, files that a page names are
// there, generated pages are fresh.
import { existsSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { generated } from "../docs/generated.ts"
import { refreshed } from "../docs/snippets.ts"
import { type Check, files, read } from "./kit.ts"

/** Links of a page to files beside it: not those of the web, of the page itself, or inside code. */
const links = (text: string): ReadonlyArray<string> =>
  [
    ...text
      .replace(/^(```|~~~)[\s\S]*?^\1/gm, "")
      .replace(/`[^`\n]*`/g, "")
      .matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g),
  ]
    .flatMap(([, to]) => to ?? [])
    .filter((to) => !/^([a-z][a-z+.-]*:|#|\/)/i.test(to))

const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-")

const anchors = (text: string) => [...text.matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => slug(heading ?? ""))

const broken = (root: string, page: string, text: string): ReadonlyArray<string> =>
  links(text).flatMap((to) => {
    const [path = "", anchor] = to.split("#")
    const target = normalize(join(dirname(page), decodeURIComponent(path)))
    if (!existsSync(join(root, target))) return [`${page}: link to ${to}, which does not exist`]
    if (anchor === undefined || !target.endsWith(".md") || anchors(read(root, target)).includes(anchor)) return []
    return [`${page}: link to ${to}, but ${target} has no such heading`]
  })

/** Sources that a page names in back-ticks, by the end of their path; what a page has its reader write is in `.mjs`. */
const absent = (page: string, text: string, all: ReadonlyArray<string>): ReadonlyArray<string> =>
  [
    ...new Set(
      [...text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name]) => name!),
    ),
  ]
    .filter((name) => !all.some((path) => `/${path}`.endsWith(`/${name.replace(/^(\.\.?\/)+/, "")}`)))
    .map((name) => `${page}: names ${name}, and there is no such file`)

export const docs: Check = async (root) => {
  const all = await files(root)
  const pages = all.filter((path) => path.endsWith(".md") && /^(docs|examples)\/|^[^/]+$/.test(path))
  const faults: Array<string> = []
  let snippets = 0
  for (const page of pages) {
    const text = read(root, page)
    const fresh = refreshed(root, page, text)
    snippets += fresh.snippets
    faults.push(...fresh.faults, ...broken(root, page, text))
  }
  for (const page of all.filter((path) => path.endsWith(".md"))) faults.push(...absent(page, read(root, page), all))
  for (const page of await generated(root))
    if (!existsSync(join(root, page.path)) || read(root, page.path) !== page.text)
      faults.push(`${page.path}: not what ${page.from} generates; run \`npm run docs\``)
  return { looked: pages.length, unit: `pages, ${snippets} snippets`, faults }
}
