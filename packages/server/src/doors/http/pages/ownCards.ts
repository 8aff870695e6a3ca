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
import { Folder } from "../../../store/Folder.ts"
import { problemResponse } from "../../Problems.ts"
import { actingAsBearer } from "../guards/Authentication.ts"

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

/**
 * What a card gets: `stoa.card(draw)`. `draw` is called with the call and the element to draw in, at each message from
 * the page.
 */
const prelude = `globalThis.stoa = {
  card(draw) {
    const root = document.getElementById("card")
    const tell = () => parent.postMessage({ height: Math.ceil(root.getBoundingClientRect().height) }, "*")
    addEventListener("message", (event) => {
      if (event.source !== parent) return
      document.documentElement.style.colorScheme = event.data.theme
      root.replaceChildren()
      draw(event.data.call, root)
      tell()
    })
    new ResizeObserver(tell).observe(root)
    parent.postMessage({ ready: true }, "*")
  },
}`

const style = `html { font: 14px/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas } body { margin: 0 }
#card { display: flow-root; padding: 0.75rem }`

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Only these two scripts and this style run in it; without an origin it has no cookie, and it has no network. */
const policyFor = (scripts: ReadonlyArray<string>): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map(hashOf).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join("; ")

const cardPage = (folder: string, name: string): HttpServerResponse.HttpServerResponse | undefined => {
  if (!cardsIn(folder).includes(name)) return undefined
  const file = join(folder, "cards", `${name}.js`)
  if (statSync(file).size > maxBytes) return undefined
  // Inside a script string the escape means the same; unescaped, an HTML parser would end the script there.
  const own = readFileSync(file, "utf8").replaceAll(/<(?=\/script|!--)/gi, "\\x3c")
  return HttpServerResponse.html(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title>
<meta name="color-scheme" content="light dark"><style>${style}</style></head>
<body><div id="card"></div><script>${prelude}</script><script type="module">${own}</script></body></html>`).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": policyFor([prelude, own]),
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
