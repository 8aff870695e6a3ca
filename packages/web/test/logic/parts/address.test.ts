/** Where an address that somebody else wrote may lead, tried with every path of the house. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { endpoints } from "../../../../sdk/src/endpoints.ts"
import { kindFor } from "../../../src/cards/kinds/kinds.logic.ts"
import { safeNext } from "../../../src/features/signin/signInLink.logic.ts"
import { isHouseFile, safeHref, screens } from "../../../src/parts/text/address.logic.ts"

const house = "https://house.example"
const file = `/api/v1/files/fil_${"0a".repeat(32)}`
const id = "01a1e6c9-52bd-7000-8184-5317e318d22f"

/** Every path of the API, and what the house serves beside it. */
const paths = [
  ...Object.values(endpoints).flatMap((group) =>
    Object.values(group).map((line) => line.split(" ")[1]!.replaceAll(/:[A-Za-z]+/g, `call_${id}`)),
  ),
  "/api/v1/calls/x?wait=200",
  "/api",
  "/d/token",
  "/mcp",
  "/mcp/stoa",
  "/cards/ship",
  "/assets/x.js",
  "/openapi.json",
  "/config.schema.json",
  "/door?next=/api",
  "/.well-known/x",
  "/s/../api/v1/me",
  "/%61pi/v1/me",
  "/#token=stoa_x",
  "/s/general#token=stoa_x",
  "//house.example/api/v1/me",
  "//evil.example/s",
  `${file}?wait=1`.replace("fil_", ""),
]

it("no path of the API, no signed link and no door of the house is a link, however its address is written", () => {
  expect(paths.length).toBeGreaterThan(100)
  for (const path of paths)
    for (const address of [path, house + path, `HTTPS://HOUSE.example:443${path}`, `http://house.example${path}`])
      expect([address, safeHref(address, house)]).toEqual([address, undefined])
})

it("a result makes the page load a file of the house by its exact address, and nothing else", () => {
  const drawn = (image: string) => kindFor({ id: "c", tool: "t", input: {}, customUI: "image", output: { image } })
  expect(drawn(file)).toBe("image")
  const near = [`${file}?wait=200`, `${file}/`, `${file}#x`, `/${file}`, file.toUpperCase(), `${house}${file}`]
  for (const path of [...paths, ...near, "https://a.example/b.png", "/s/general", "", "data:text/html,x"]) {
    expect([path, isHouseFile(path), drawn(path)]).toEqual([path, false, undefined])
  }
})

it("links lead to other sites, to mail and to pages and files of the house, and nowhere else", () => {
  const good = ["https://a.example/b", "mailto:a@b.example", "/s/general", "/docs/guide/user-cards#own", file]
  for (const href of good) expect(safeHref(href, house)).toBe(href)
  expect(safeHref(`${house}/runs?tab=1`, house)).toBe("/runs?tab=1")
  expect(safeHref(`${house}${file}?wait=200`, house)).toBe(file)
  for (const href of [
    "javascript:alert(1)",
    "//evil.example",
    "/\t/evil.example",
    "/\\evil.example",
    " /a",
    "data:text/html,x",
  ]) {
    expect(safeHref(href, house)).toBeUndefined()
    expect(safeNext(href)).toBe("/")
  }
})

it("the screens that a link may name are those of the page's routes, without the sign-in", () => {
  const routes = readFileSync(new URL("../../../src/routes.ts", import.meta.url), "utf8")
  const named = [...routes.matchAll(/path: "\/([^/"]*)/g)].map(([, first]) => first!)
  expect(new Set(screens)).toEqual(new Set([...named.filter((one) => one !== "door" && one !== ""), "docs"]))
})
