import { Api, Caller, Start } from "@stoa/contract"
import { DateTime, Effect, Redacted } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Tokens } from "../../../../access/identity/Tokens.ts"
import { Limits } from "../../../../access/limits/Limits.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Demo } from "../../../../demo/Demo.ts"
import { Decisions } from "../../../../decisions/Decisions.ts"
import { Spaces } from "../../../../spaces/Spaces.ts"
import { Folder } from "../../../../store/Folder.ts"
import { currentCause } from "../../../../store/journal/Correlation.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { Acting } from "../../../Acting.ts"
import { Upkeep } from "../../../Upkeep.ts"
import { cardNames } from "../../pages/cards/ownCards.ts"
import { senderOf, withRefusalHeaders } from "../../guards/Authentication.ts"
import { noSession, sessionCookie, sessionIn } from "../../guards/sessionCookie.ts"

const withCookie = (cookie: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "set-cookie", cookie)),
  )

export const sessionHandlers = HttpApiBuilder.group(
  Api,
  "session",
  Effect.fn(function* (handlers) {
    const acting = yield* Acting
    const tokens = yield* Tokens
    const upkeep = yield* Upkeep
    const limits = yield* Limits
    const { transact } = yield* Journal
    return handlers.handleAll({
      open: Effect.fnUntraced(function* ({ payload, request }) {
        const { address } = senderOf(request)
        // Ignores an existing session: only the given token counts.
        const sender = { authorization: `Bearer ${payload.token}`, address }
        const caller = yield* withRefusalHeaders(acting.identify(sender))
        const { correlationId } = yield* currentCause
        const opened = Effect.andThen(limits.take(caller, "sessions"), transact(tokens.openSession(caller)))
        const { expiresAt, token } = yield* withRefusalHeaders(acting.as(caller, correlationId, opened))
        // wall clock: a session ends at a moment.
        const left = DateTime.toEpochMillis(expiresAt) - DateTime.toEpochMillis(yield* DateTime.now)
        yield* withCookie(sessionCookie(Redacted.value(token), Math.floor(left / 1000), upkeep.address()))
      }),
      look: Effect.fnUntraced(function* ({ request }) {
        const session = sessionIn(request, upkeep.address())
        const caller = yield* withRefusalHeaders(
          Effect.catchTag(acting.identify({ ...senderOf(request), session }), "Unauthenticated", () =>
            Effect.as(session === undefined ? Effect.void : withCookie(noSession(upkeep.address())), undefined),
          ),
        )
        if (caller === undefined) return { principal: null }
        const { correlationId } = yield* currentCause
        return yield* withRefusalHeaders(
          acting.as(caller, correlationId, Effect.succeed({ principal: caller.principal })),
        )
      }),
      close: Effect.fnUntraced(function* ({ request }) {
        const session = sessionIn(request, upkeep.address())
        yield* withCookie(noSession(upkeep.address()))
        if (session === undefined) return
        const { address } = senderOf(request)
        const caller = yield* withRefusalHeaders(
          Effect.catchTag(acting.identify({ authorization: undefined, session, address }), "Unauthenticated", () =>
            Effect.succeed(undefined),
          ),
        )
        if (caller === undefined || caller.token === null) return
        const { correlationId } = yield* currentCause
        const ended = transact(Effect.ignore(tokens.revoke(caller.token)))
        yield* withRefusalHeaders(acting.as(caller, correlationId, ended))
      }),
    })
  }),
)

export const pageHandlers = HttpApiBuilder.group(
  Api,
  "page",
  Effect.fn(function* (handlers) {
    const journal = yield* Journal
    const grants = yield* Grants
    const spaces = yield* Spaces
    const decisions = yield* Decisions
    const upkeep = yield* Upkeep
    const demo = yield* Demo
    const { path: folder } = yield* Folder
    return handlers.handle("start", () =>
      Effect.gen(function* () {
        const { context, principal: me } = yield* Caller
        // Read first: what happens meanwhile is in the lists, on the feed, or on both.
        const cursor = yield* journal.end
        const limit = 100
        const seen = yield* spaces.list(yield* grants.viewer("spaces"), { limit })
        const open = yield* decisions.list(yield* grants.viewer("decisions"), { state: "open", limit })
        const house = { name: "Stoa", version: upkeep.version, address: upkeep.address(), demo: yield* demo.space }
        const cards = yield* cardNames(folder)
        return new Start({ me, context, house, spaces: seen.items, decisions: open.items, cards, cursor })
      }),
    )
  }),
)
