// `npm run docs`: writes the snippets and generated pages that `npm run check` compares.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { files, home, read } from "./checks/kit.ts"
import { generated } from "./docs/generated.ts"
import { refreshed } from "./docs/snippets.ts"

const write = (path: string, was: string, now: string) => {
  if (was === now) return
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), now)
  console.log(`wrote ${path}`)
}

const all = await files(home)
for (const page of await generated(home))
  write(page.path, all.includes(page.path) ? read(home, page.path) : "", page.text)
for (const path of (await files(home)).filter((it) => it.endsWith(".md"))) {
  const was = read(home, path)
  write(path, was, refreshed(home, path, was).text)
}
