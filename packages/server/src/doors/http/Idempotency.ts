/**
 * A create that carries an Idempotency-Key happens once. Key, effect and answer commit together, so that a retry after a
 * crash finds either nothing or all of it. The answer is kept sealed: it may hold a token.
 */
import { createHash } from "node:crypto"
import { BadInput, Caller, Idempotency, WrongState } from "@stoa/contract"
import { DateTime, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { Secrets } from "../../access/secrets/Secrets.ts"
import { Journal } from "../../store/journal/Journal.ts"

const longestKey = 200

interface Row {
  readonly request: string
  readonly answer: Uint8Array | null
}

export const layerIdempotency = Layer.effect(
  Idempotency,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const journal = yield* Journal
    const secrets = yield* Secrets

    const first = Effect.fnUntraced(function* <E, R>(
      app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
      principal: string,
      key: string,
      request: string,
    ) {
      const label = `answer/${principal}/${key}`
      const createdAt = DateTime.formatIso(yield* DateTime.now)
      // On Postgres a second request with the same key waits here until the first has committed.
      const mine = yield* Effect.orDie(sql`INSERT INTO answers ${sql.insert({ principal, key, request, createdAt })}
        ON CONFLICT (principal, key) DO NOTHING RETURNING key`)
      if (mine.length > 0) {
        const answer = yield* app
        const body = answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array()
        yield* Effect.orDie(sql`UPDATE answers SET answer = ${secrets.seal(label, body)}
          WHERE principal = ${principal} AND key = ${key}`)
        return answer
      }
      const rows = yield* Effect.orDie(
        sql<Row>`SELECT request, answer FROM answers WHERE principal = ${principal} AND key = ${key}`,
      )
      if (rows[0]!.request !== request)
        return yield* new WrongState({
          detail: "This Idempotency-Key was used for another request. Take a new key for a new request.",
        })
      const answer = yield* Effect.try({
        try: () => secrets.unseal(label, rows[0]!.answer!),
        catch: () =>
          new WrongState({ detail: "This Idempotency-Key was answered under another secret key. Take a new one." }),
      })
      return HttpServerResponse.uint8Array(answer, { contentType: "application/json" })
    })

    return Idempotency.of((app) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const key = request.headers["idempotency-key"]
        if (key === undefined) return yield* app
        if (key.trim().length === 0 || key.length > longestKey)
          return yield* new BadInput({
            issues: [{ path: "headers.idempotency-key", message: `has 1 to ${longestKey} characters` }],
          })
        const { principal } = yield* Caller
        const body = yield* Effect.orDie(request.text)
        const digest = createHash("sha256").update(`${request.method} ${request.url}\n${body}`).digest("hex")
        return yield* journal.transact(first(app, principal.id, key, digest))
      }),
    )
  }),
)
