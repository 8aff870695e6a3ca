/** The pages that are served as they are written carry no script or style inside. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const pages = new URL("../public/", import.meta.url)
const read = (name: string) => readFileSync(new URL(name, pages), "utf8")

describe("pages", () => {
  const html = readdirSync(pages).filter((name) => name.endsWith(".html"))

  it("have no inline script, style or handler, and name only files that are there", () => {
    expect(html.length).toBeGreaterThan(0)
    for (const name of html) {
      const text = read(name)
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/)
      expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
      const named = [...text.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, file]) => file!)
      expect(named.length).toBeGreaterThan(1)
      for (const file of named) expect([file, existsSync(new URL(file, pages))]).toEqual([file, true])
    }
  })

  it("scripts make no markup out of text", () => {
    for (const name of readdirSync(pages).filter((one) => one.endsWith(".js")))
      expect(read(name)).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/)
  })
})
