/**
 * The built page: `dist/current` of packages/web names the newest build, and a published package contains one. Its
 * assets are named by their content and never change, so a browser requests each once; they are stored compressed.
 */
// edge: built pages are files, read when they are asked for.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { HttpServerResponse } from "effect/http"
import { htmlPage } from "./html.ts"

const carried = new URL("../../../../pages/app/", import.meta.url)
const builds = new URL("../../../../../web/dist/", import.meta.url)

const textOf = (file: URL): string | undefined => (existsSync(file) ? readFileSync(file, "utf8") : undefined)

const isBuild = (name: string) => /^[0-9a-f]{16}$/.test(name)

/** The newest first: an open page may still request assets of the previous build. */
const folders = (): ReadonlyArray<URL> => {
  if (existsSync(carried)) return [carried]
  const current = textOf(new URL("current", builds))?.trim()
  if (current === undefined || !isBuild(current)) return []
  const others = readdirSync(builds).filter((name) => isBuild(name) && name !== current)
  return [current, ...others].map((name) => new URL(`${name}/`, builds))
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
}

const encodings = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const

/** An asset by its name, in the smallest encoding the browser accepts. */
export const builtAsset = (name: string, accepts: string): HttpServerResponse.HttpServerResponse | undefined => {
  // An asset is named after its source file, which may have a dot in its name.
  const type = types[/^[\w-]+(?:\.[\w-]+)*\.(js|css|svg)$/.exec(name)?.[1] ?? ""]
  const folder = type === undefined ? undefined : folders().find((one) => existsSync(new URL(`assets/${name}`, one)))
  if (type === undefined || folder === undefined) return undefined
  const taken = accepts.split(",").map((one) => one.trim().split(";")[0])
  const packed = encodings.find(
    ([encoding, ending]) => taken.includes(encoding) && existsSync(new URL(`assets/${name}${ending}`, folder)),
  )
  const bytes = readFileSync(new URL(`assets/${name}${packed?.[1] ?? ""}`, folder))
  return HttpServerResponse.uint8Array(bytes, { contentType: type }).pipe(
    HttpServerResponse.setHeaders({
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(packed === undefined ? {} : { "content-encoding": packed[0] }),
    }),
  )
}

/** Shown until the page is built; a published package always has it. */
const waiting = new URL("../../../../../web/public/waiting.html", import.meta.url)

type Cookies = Readonly<Record<string, string>>

/** One of its documents. It contains the person's chosen theme from the start, so that nothing flashes. */
const documentOf = (name: "index" | "link", cookies: Cookies): string | undefined => {
  const text = folders()
    .map((folder) => textOf(new URL(`${name}.html`, folder)))
    .find((one) => one !== undefined)
  const theme = /^(?:light|dark)$/.exec(cookies["stoa_theme"] ?? "")?.[0]
  return theme === undefined ? text : text?.replace("<html ", `<html data-theme="${theme}" `)
}

export const builtPage = (cookies: Cookies): HttpServerResponse.HttpServerResponse =>
  htmlPage(documentOf("index", cookies) ?? readFileSync(waiting, "utf8"))

/** The page behind a signed link: it has readable content without a script, until the script draws the card. */
export const builtLink = (body: string, cookies: Cookies): HttpServerResponse.HttpServerResponse | undefined => {
  const text = documentOf("link", cookies)
  return text === undefined ? undefined : htmlPage(text.replace(/<!-- what the house says[^>]*-->/, () => body))
}
