/** Pages for people: the front page, the API documentation, the error pages, and the guides. None needs a token. */
// edge: pages are files of the checkout, read once.
import { existsSync, readFileSync } from "node:fs"
import { configurationSchema, NoRoute } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { problemResponse } from "../../Problems.ts"
import { builtAsset, builtPage } from "./builtPage.ts"
import { htmlPage } from "./html.ts"

/** In a checkout the pages are read where they are written; a published package contains copies. */
const carried = new URL("../../../../pages/", import.meta.url)
const packed = existsSync(carried)
const web = packed ? carried : new URL("../../../../../web/public/", import.meta.url)
const errorPages = packed ? new URL("errors/", carried) : new URL("../../../../../../docs/errors/", import.meta.url)

const file = (folder: URL, name: string): string => readFileSync(new URL(name, folder), "utf8")

const front = HttpRouter.add(
  "GET",
  "/",
  Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => builtPage(cookies)),
)
const docs = HttpRouter.add(
  "GET",
  "/docs",
  Effect.sync(() => htmlPage(file(web, "docs.html"))),
)

const types: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" }

/** The assets of these pages: scripts and styles are files, so that no page needs an inline one. */
const assets = HttpRouter.add(
  "GET",
  "/assets/:file",
  Effect.gen(function* () {
    const name = (yield* HttpRouter.params)["file"] ?? ""
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const built = builtAsset(name, headers["accept-encoding"] ?? "")
    if (built !== undefined) return built
    const type = types[/^[A-Za-z]+\.(js|css)$/.exec(name)?.[1] ?? ""]
    const found = type === undefined ? undefined : yield* Effect.option(Effect.try(() => file(web, name)))
    return found?._tag === "Some"
      ? HttpServerResponse.text(found.value, { contentType: `${type}; charset=utf-8` })
      : problemResponse(new NoRoute({ method: "GET", path: `/assets/${name}` }))
  }),
)

const errors = HttpRouter.add(
  "GET",
  "/docs/errors/:tag",
  Effect.gen(function* () {
    const tag = (yield* HttpRouter.params)["tag"] ?? ""
    // Only letters are valid, so nothing else of the file system can be requested.
    const page = /^[A-Za-z]+$/.test(tag)
      ? yield* Effect.option(Effect.try(() => file(errorPages, `${tag}.md`)))
      : undefined
    return page?._tag === "Some"
      ? HttpServerResponse.text(page.value, { contentType: "text/markdown; charset=utf-8" })
      : problemResponse(new NoRoute({ method: "GET", path: `/docs/errors/${tag}` }))
  }),
)

const guides = ["user/", "operations/"].map(
  (part) => new URL(part, packed ? carried : new URL("../../../../../../docs/", import.meta.url)),
)

/** The guides for users and operators, as written: the targets of the question marks on the page. */
const guide = HttpRouter.add(
  "GET",
  "/docs/guide/:page",
  Effect.gen(function* () {
    const name = (yield* HttpRouter.params)["page"] ?? ""
    const folder = /^[a-z-]{1,50}$/.test(name)
      ? guides.find((one) => existsSync(new URL(`${name}.md`, one)))
      : undefined
    return folder === undefined
      ? problemResponse(new NoRoute({ method: "GET", path: `/docs/guide/${name}` }))
      : HttpServerResponse.text(file(folder, `${name}.md`), { contentType: "text/markdown; charset=utf-8" })
  }),
)

/** The `$schema` of a configuration file, for editors. */
const schema = HttpRouter.add(
  "GET",
  "/config.schema.json",
  Effect.sync(() => HttpServerResponse.jsonUnsafe(configurationSchema(), { contentType: "application/schema+json" })),
)

export const pages = Layer.mergeAll(front, docs, assets, errors, guide, schema)
