/** A sign-in link never replaces another sign-in silently, and pages carry no script or style inside. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { visible } from "@stoa/contract"
import { describe, expect, it } from "vitest"

type Link = { readonly kind: "none" } | { readonly kind: "enter" | "other"; readonly token: string }
const pages = new URL("../public/", import.meta.url)
const { readLink } = (await import(new URL("signIn.js", pages).href)) as {
  readonly readLink: (hash: string, present: string | null) => Link
}
const { shown } = (await import(new URL("foreignText.js", pages).href)) as { readonly shown: (text: string) => string }
const read = (name: string) => readFileSync(new URL(name, pages), "utf8")

describe("a sign-in link", () => {
  it("signs in where nobody is signed in, or the same one; otherwise a person has to choose", () => {
    expect(readLink("", null)).toEqual({ kind: "none" })
    expect(readLink("#elsewhere", "stoa_mine")).toEqual({ kind: "none" })
    expect(readLink("#token=", "stoa_mine")).toEqual({ kind: "none" })
    expect(readLink("#token=stoa_a", null)).toEqual({ kind: "enter", token: "stoa_a" })
    expect(readLink("#token=stoa_mine", "stoa_mine")).toEqual({ kind: "enter", token: "stoa_mine" })
    expect(readLink("#token=a%20b", "a b")).toEqual({ kind: "enter", token: "a b" })
    expect(readLink("#token=%zz", null)).toEqual({ kind: "enter", token: "%zz" })
    expect(readLink("#token=stoa_theirs", "stoa_mine")).toEqual({ kind: "other", token: "stoa_theirs" })
  })

  it("the page keeps what it was offered apart until somebody has chosen", () => {
    const script = read("index.js")
    // The one place that replaces the token of this tab, and who calls it: a link for nobody else, a choice, the form.
    expect(script.match(/setItem\(store\.token/g)).toHaveLength(2)
    expect(script).toMatch(/if \(found\.kind === "other"\) \{\s+offered = found\.token/)
  })
})

describe("foreign text", () => {
  it("is shown by the page as by every other face: nothing in it is invisible", () => {
    const signs = Array.from({ length: 0x3000 }, (_, at) => String.fromCodePoint(at)).filter(
      (sign) => !/[\r\n]/.test(sign),
    )
    for (const text of [...signs, "\u{E0041}x", "\ud800", "ab\u202Ecd", "👨‍👩‍👧"]) expect(shown(text)).toBe(visible(text))
    expect(shown("one\r\ntwo\u200b")).toBe("one\ntwo<U+200B>")
    // Whatever the page shows goes through it, but for words of its own.
    expect(read("index.js")).toContain("textContent: shown(text)")
  })
})

describe("pages", () => {
  const html = readdirSync(pages).filter((name) => name.endsWith(".html"))

  it("have no inline script, style or handler, and name only files that are there", () => {
    expect(html.length).toBeGreaterThan(1)
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
