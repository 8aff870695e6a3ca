/** People and agents for tests of spaces, each with a client of its own, and their streams. */
import { type IncomingMessage, request } from "node:http"
import { assert } from "@effect/vitest"
import type { Principal, PrincipalKind } from "@stoa/contract"
import type { Stoa, StoaError } from "@stoa/sdk"
import { Cause, Effect, Queue } from "effect"
import { Principals } from "../../src/access/identity/Principals.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { parseFrame } from "../frames.ts"
import { ask, Guest } from "../house.ts"

export interface Someone {
  readonly id: string
  readonly name: string
  readonly token: string
  readonly client: Stoa
  /** As the rooms know it. */
  readonly principal: Principal
}

let made = 0
export const fresh = (word: string): string => `${word}-${++made}`

export const someone = Effect.fnUntraced(function* (kind: PrincipalKind = "person", given?: string) {
  const { as } = yield* Guest
  const { transact } = yield* Journal
  const principals = yield* Principals
  const tokens = yield* Tokens
  const name = given ?? fresh(kind)
  const wanted = { kind, name, ...(kind === "service" ? { roles: ["member" as const] } : {}) }
  const principal = yield* Effect.orDie(transact(principals.add(wanted)))
  const { token } = yield* Effect.orDie(transact(tokens.issue({ principal: principal.id })))
  return { id: principal.id, name, token, client: as(token), principal } satisfies Someone
})

/** As the doors know it by its token. */
export const callerOf = ({ token }: Someone) =>
  Effect.flatMap(Tokens, (tokens) => Effect.orDie(tokens.authenticate(token)))

export const refused = <A>(question: () => Promise<A>) =>
  Effect.flip(ask(question) as Effect.Effect<A, StoaError>).pipe(Effect.orDie)

export const statusOf = <A>(question: () => Promise<A>) => Effect.map(refused(question), (error) => error.status)

export const call = Effect.fnUntraced(function* (
  who: Someone,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
) {
  const { raw } = yield* Guest
  const answer = yield* ask(() =>
    raw(`/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${who.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  const text = yield* ask(() => answer.text())
  return { status: answer.status, body: (text === "" ? undefined : JSON.parse(text)) as Record<string, unknown> }
})

export interface Frame {
  readonly id?: number
  readonly event?: string
  readonly data?: Record<string, unknown> & { readonly space?: string | null; readonly body?: Record<string, never> }
  readonly comment?: string
}

const parse = (text: string): Frame => parseFrame(text)

const ended = Cause.fail("ended" as const)

/** Opens a stream and hands each frame on as it arrives; heartbeats and the opening are not frames. */
export const listen = Effect.fnUntraced(function* (
  who: { readonly token: string },
  options: { readonly after?: number; readonly path?: string } = {},
  hear: (frame: Frame) => void = () => {},
) {
  const { url } = yield* Guest
  const frames = yield* Queue.unbounded<Frame, "ended">()
  const headers: Record<string, string> = { authorization: `Bearer ${who.token}` }
  if (options.after !== undefined) headers["last-event-id"] = String(options.after)
  const answer = yield* Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      const asked = request(new URL(`/api/v1${options.path ?? "/events"}`, url), { headers, agent: false }, (made) =>
        resume(Effect.succeed(made)),
      )
      asked.on("error", (cause) => resume(Effect.die(cause)))
      asked.end()
    }),
    (made) => Effect.sync(() => made.destroy()),
  )
  let text = ""
  answer.setEncoding("utf8")
  answer.on("data", (chunk: string) => {
    const parts = (text + chunk).split("\n\n")
    text = parts.pop()!
    for (const frame of parts.map(parse)) {
      if (frame.comment === undefined) hear(frame)
      if (frame.comment !== "heartbeat") Queue.offerUnsafe(frames, frame)
    }
  })
  answer.on("close", () => Queue.failCauseUnsafe(frames, ended))
  answer.on("error", () => {})
  if (answer.statusCode === 200) assert.strictEqual((yield* Queue.take(frames)).comment, "stoa")
  return { status: answer.statusCode!, next: Effect.orDie(Queue.take(frames)), frames }
})
