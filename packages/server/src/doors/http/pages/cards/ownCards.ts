/**
 * The owner's own cards: `cards/<name>.js` in the data folder draws the results of tools with `customUI: "<name>"`. The
 * page shows it in a frame that has no origin, no cookie and no network; it gets the call by a message and reports its
 * height.
 */
// edge: cards are files of the data folder, read when they are asked for.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { NoRoute } from "@stoa/contract"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Folder } from "../../../../store/Folder.ts"
import { problemResponse } from "../../../Problems.ts"
import { actingAsBearer } from "../../guards/Authentication.ts"
import { cardScript } from "./cardScript.ts"

const maxCards = 100
const maxBytes = 256 * 1024
const fileName = /^([a-z0-9][a-z0-9-]{0,62})\.js$/

const cardsIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(folder, "cards"))
      .flatMap((name) => fileName.exec(name)?.[1] ?? [])
      .toSorted()
      .slice(0, maxCards)
  } catch {
    // Most houses have none.
    return []
  }
}

/** Their names, for the page to start with. */
export const cardNames = (folder: string): Effect.Effect<ReadonlyArray<string>> => Effect.sync(() => cardsIn(folder))

const style = `html { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas } body { margin: 0 }
#card { display: flow-root; padding: 0.75rem }`

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Only this script and this style run in it; without an origin it has no cookie, and it has no network. */
const policyFor = (script: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
    "sandbox allow-scripts",
  ].join("; ")

const cardPage = (folder: string, name: string): HttpServerResponse.HttpServerResponse | undefined => {
  if (!cardsIn(folder).includes(name)) return undefined
  const file = join(folder, "cards", `${name}.js`)
  if (statSync(file).size > maxBytes) return undefined
  const script = cardScript(name, readFileSync(file, "utf8"))
  // No `meta` and no `link`, not even to be copied.
  return HttpServerResponse.html(`<!doctype html><html lang="en"><head><title>${name}</title><style>${style}</style></head>
<body><div id="card"></div><script type="module">${script}</script></body></html>`).pipe(
    HttpServerResponse.setHeaders({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policyFor(script),
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-dns-prefetch-control": "off",
    }),
  )
}

/** Only for signed-in callers: what a card shows of an owner's work is not for strangers. */
export const ownCards = Layer.unwrap(
  Effect.gen(function* () {
    const { path } = yield* Folder
    const act = yield* actingAsBearer
    const look = Effect.gen(function* () {
      const name = (yield* HttpRouter.params)["name"] ?? ""
      const found = yield* Effect.option(Effect.try(() => cardPage(path, name)))
      const page = found._tag === "Some" ? found.value : undefined
      return page ?? problemResponse(new NoRoute({ method: "GET", path: `/cards/${name}` }))
    })
    return HttpRouter.add(
      "GET",
      "/cards/:name",
      Effect.catch(act(look), (error) => Effect.succeed(problemResponse(error))),
    )
  }),
)
