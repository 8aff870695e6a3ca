// The README of a folder says under **May use** what its files may import, and the files import nothing else. A name in
// back-ticks is a package, or a file or folder whose path begins at any folder above; "every room", "all rooms" and "the
// rooms below" are the rooms of the server (the floors say which are below); "types of `x`" is for type imports only, and
// what follows "; `a.ts` also" for that file only. A package holds for the folders below too, unless their line begins with
// "nothing". `effect`, Node, the package's own name and the folder itself go without saying. Tests and scripts may import
// any source and package: they name only the kits (what tests share) of other folders, except those of `test/` and those
// directly in a folder above. A name that leads nowhere, or that nothing in the folder imports, is a fault as well.
import { isBuiltin } from "node:module"
import { dirname, join, normalize } from "node:path/posix"
import { type Check, files, foldersAbove, isSource, isTest, read } from "./kit.ts"

interface Name {
  readonly text: string
  /** The places it can mean: packages, files and folders. */
  readonly places: ReadonlyArray<string>
  readonly typesOnly: boolean
  /** The files and folders that alone may use it; all, if there are none. */
  readonly only: ReadonlyArray<string>
}
interface Page {
  readonly folder: string
  readonly names: ReadonlyArray<Name>
  readonly rooms: boolean
  readonly inherits: boolean
}
interface Import {
  readonly from: string
  readonly to: string
  readonly typesOnly: boolean
}

const isUnder = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`)
const isPath = (place: string): boolean => place.startsWith("./")

const above = (folder: string): ReadonlyArray<string> => (folder === "." ? ["."] : [folder, ...above(dirname(folder))])

const room = /^\.\/packages\/server\/src\/([^/]+)\//
const isRoom = (to: string): boolean => {
  const [, name] = room.exec(to) ?? []
  return name !== undefined && !foldersAbove.includes(name)
}

const source = /^packages\/[^/]+\/src\//
/** What a test or script imports without a word. */
const isOpen = (folder: string, to: string): boolean =>
  !isPath(to) || source.test(to.slice(2)) || isUnder(to, "./test") || isUnder(`./${folder}`, dirname(to))

const imported = /^(?:import|export)\s+(type\s)?(?:[\w$*{},\s]+?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm

const importsOf = (path: string, text: string): ReadonlyArray<Import> =>
  [...text.matchAll(imported)].map(([, type, first, second]) => {
    const to = first ?? second ?? ""
    return {
      from: `./${path}`,
      to: to.startsWith(".") ? `./${normalize(join(dirname(path), to))}` : to,
      typesOnly: type !== undefined,
    }
  })

const said = /^ *- \*\*May use\*\*: (.*)$/m
const aName = /(types of )?`([^`]+)`/g
const anExtra = /^((?:\s*(?:,|and)?\s*`[^`]+`)+) also /
const manyRooms = /\b(?:every room|all rooms|the rooms below)\b/

/** The places that a name of a page can mean. */
type Find = (folder: string, name: string) => ReadonlyArray<string>

const namesOf = (folder: string, line: string, find: Find): ReadonlyArray<Name> =>
  line.split(";").flatMap((part) => {
    const [extra = "", subjects = ""] = anExtra.exec(part) ?? []
    const only = [...subjects.matchAll(aName)].flatMap(([, , subject = ""]) => {
      const found = find(folder, subject)
      return found.length > 0 ? found : [subject]
    })
    return [...part.slice(extra.length).matchAll(aName)].map(([, types, text = ""]) => ({
      text,
      places: find(folder, text),
      typesOnly: types !== undefined,
      only,
    }))
  })

const permits =
  (one: Import, inherited: boolean) =>
  (name: Name): boolean =>
    (one.typesOnly || !name.typesOnly) &&
    (name.only.length === 0 || name.only.some((place) => isUnder(one.from, place))) &&
    name.places.some((place) => isUnder(one.to, place) && !(inherited && (isPath(place) || name.only.length > 0)))

export const imports: Check = async (root) => {
  const all = await files(root)
  const known = new Set(all.flatMap((path) => [path, ...above(dirname(path))]).map((path) => `./${path}`))
  const packages = new Set(
    all
      .filter((path) => path.endsWith("package.json"))
      .map((path) => JSON.parse(read(root, path)) as Record<string, unknown>)
      .flatMap((it) => [
        String(it["name"]),
        ...["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"].flatMap((field) =>
          Object.keys(it[field] ?? {}),
        ),
      ]),
  )
  const find: Find = (folder, name) => {
    const bases = /^\.\.?\//.test(name) ? [folder] : above(folder)
    const paths = bases
      .map((base) => `./${normalize(join(base, name)).replace(/\/$/, "")}`)
      .flatMap((path) => [path, `${path}.ts`, `${path}.tsx`])
      .filter((path) => known.has(path))
    return isBuiltin(name) || [...packages].some((one) => isUnder(one, name)) ? [name, ...paths] : paths
  }
  const pages = new Map<string, Page>()
  for (const path of all.filter((one) => one.endsWith("/README.md"))) {
    const [, line] = said.exec(read(root, path)) ?? []
    const folder = dirname(path)
    if (line !== undefined)
      pages.set(folder, {
        folder,
        names: namesOf(folder, line, find),
        rooms: manyRooms.test(line),
        inherits: !line.startsWith("nothing"),
      })
  }

  const sources = all.filter((path) => isSource(path) && !(source.test(path) && isTest(path)))
  const used = new Set<Name>()
  const looked = new Set<Page>()
  const faults: Array<string> = []
  for (const path of sources) {
    const [page, ...higher] = above(dirname(path)).flatMap((folder) => pages.get(folder) ?? [])
    if (page === undefined) continue
    looked.add(page)
    const own = `@stoa/${path.split("/")[1]}`
    for (const one of importsOf(path, read(root, path))) {
      for (const each of [page, ...higher]) for (const name of each.names.filter(permits(one, false))) used.add(name)
      const free = ["effect", own, `./${page.folder}`].some((place) => isUnder(one.to, place)) || isBuiltin(one.to)
      const allowed =
        free ||
        (!source.test(path) && isOpen(page.folder, one.to)) ||
        (page.rooms && isRoom(one.to)) ||
        page.names.some(permits(one, false)) ||
        (page.inherits && higher.some((each) => each.names.some(permits(one, true))))
      if (!allowed)
        faults.push(`${path}: imports ${one.to.replace("./", "")}, which ${page.folder}/README.md does not allow`)
    }
  }
  for (const page of looked)
    for (const name of page.names) {
      if (name.places.length === 0) faults.push(`${page.folder}/README.md: may use ${name.text}, which is nowhere`)
      else if (!used.has(name))
        faults.push(`${page.folder}/README.md: may use ${name.text}, but nothing in the folder imports it`)
    }
  return { looked: looked.size, unit: "READMEs", faults }
}
