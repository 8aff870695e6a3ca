/** The doors of the house, composed: operations for an operator, the HTTP API, the feed and MCP. */
import { Effect, Exit, Layer, Option, type Redacted, Stream } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { acceptFinding, doctorReport } from "./operations/Doctor.ts"
import { Acting } from "./doors/Acting.ts"
import { Feed } from "./doors/Feed.ts"
import { layerAuthentication } from "./doors/http/guards/Authentication.ts"
import { guard } from "./doors/http/guard.ts"
import { routes } from "./doors/http/Routes.ts"
import { UsedStates } from "./access/secrets/UsedStates.ts"
import { layerHouseDesk } from "./doors/mcp/desk/houseDesk.ts"
import { MCPDoor } from "./doors/mcp/MCPDoor.ts"
import { NodeServer } from "./doors/node/NodeServer.ts"
import { Upkeep } from "./doors/Upkeep.ts"
import { HouseAddress } from "./calls/waiting/HouseAddress.ts"
import { Configuration } from "./configuration/Configuration.ts"
import { makeFigures } from "./operations/Figures.ts"
import { Settings } from "./Settings.ts"
import { Backup } from "./store/backup/Backup.ts"
import { Disk } from "./store/database/disk/Disk.ts"
import { causedBy } from "./store/journal/Correlation.ts"
import { Journal } from "./store/journal/Journal.ts"

export const version = "0.1.0"

/** The house's own keys: from a setting, or created once and stored in the folder. */
export interface Keys {
  readonly secret: Redacted.Redacted
  readonly admin: Redacted.Redacted
  /** The created admin token has not been shown yet. It is shown once. */
  readonly adminIsNew: boolean
}

const upkeep = (keys: Keys) =>
  Layer.effect(
    Upkeep,
    Effect.gen(function* () {
      const backup = yield* Backup
      const configuration = yield* Configuration
      const disk = yield* Disk
      const server = yield* NodeServer
      const context = yield* Effect.context<Effect.Services<typeof doctorReport>>()
      const figures = yield* makeFigures(version)
      const journal = yield* Journal
      const { publicUrl } = yield* Settings
      const address = yield* HouseAddress
      yield* address.tell(
        Option.getOrElse(publicUrl, () => server.url),
        server.url,
      )
      const here = yield* address.known
      return Upkeep.of({
        version,
        address: () => here,
        ready: () => (server.draining() ? "draining" : "ok"),
        diskFull: disk.isFull,
        reload: configuration.apply,
        doctor: Effect.provideContext(doctorReport, context),
        accept: (check) => Effect.provideContext(acceptFinding(check), context),
        // If a copy fails midway, the connection breaks: the client must not take the copy for complete. Recorded either
        // way, because most of it may have been read.
        backup: ({ cause, withKey }) => {
          const recorded = (complete: boolean) =>
            causedBy(cause, journal.transact(journal.append({ kind: "house.backed-up", body: { withKey, complete } })))
          return Stream.orDie(backup.stream(withKey ? { secretKey: keys.secret } : {})).pipe(
            Stream.onEnd(recorded(true)),
            Stream.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : recorded(false))),
          )
        },
        figures: (query, listening) => Effect.provideContext(figures(query, listening), context),
      })
    }),
  )

const server = Layer.unwrap(Effect.map(Settings, ({ host, port }) => NodeServer.layer({ host, port })))

const guarding = Effect.gen(function* () {
  const settings = yield* Settings
  const { draining, port } = yield* NodeServer
  const publicUrl = Option.match(settings.publicUrl, { onNone: () => undefined, onSome: (url) => new URL(url) })
  return { host: settings.host, port, publicUrl, draining }
})

/** Handles its path before the router, and is ready before the first request. */
const mcp = (keys: Keys) =>
  Layer.unwrap(
    Effect.gen(function* () {
      return MCPDoor.layer({ guard: yield* guarding, version, key: keys.secret })
    }),
  ).pipe(Layer.provide(Layer.merge(layerHouseDesk, UsedStates.layer)))

/**
 * Signed links, and names in other scripts, are longer than the default limit of a path parameter. Paths are compared
 * exactly: neither case nor slashes are normalised.
 */
const layerRouter = Layer.provide(
  HttpRouter.layer,
  Layer.succeed(HttpRouter.RouterConfig, { maxParamLength: 2000, caseSensitive: true, ignoreDuplicateSlashes: false }),
)

const serving = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const guarded = guard(yield* guarding)(router.asHttpEffect())
    yield* (yield* HttpServer.HttpServer).serve(guarded)
  }),
)

export const doors = (keys: Keys) =>
  Layer.unwrap(
    Effect.map(Settings, (settings) =>
      serving.pipe(
        Layer.provide(routes.pipe(Layer.provideMerge(layerRouter))),
        Layer.provide(layerAuthentication),
        Layer.provideMerge(Layer.mergeAll(Feed.layer, upkeep(keys), mcp(keys))),
        Layer.provideMerge(Acting.layer(settings.anonymous)),
        Layer.provide(HttpServer.layerServices),
        Layer.provideMerge(server),
      ),
    ),
  )
