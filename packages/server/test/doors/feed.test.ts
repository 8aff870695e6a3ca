/** The feed: only what one may see, in order, without gaps or repeats, over any break. */
import { type IncomingMessage, request } from "node:http"
import { connect as dial } from "node:net"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { faces, kinds, nameOn, type PrincipalId } from "@stoa/contract"
import { Cause, DateTime, Effect, Fiber, Queue, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Feed } from "../../src/doors/Feed.ts"
import { Deltas } from "../../src/store/journal/signals/Deltas.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { parseFrame } from "../frames.ts"
import { pause } from "../../../../test/pause.ts"
import { ask, Guest, house } from "../house.ts"

const ended = Cause.fail("ended" as const)

interface Frame {
  readonly id?: number
  readonly event?: string
  readonly data?: Record<string, unknown> & { readonly cursor?: number; readonly body?: Record<string, unknown> }
  readonly comment?: string
}

const parse = (text: string): Frame => parseFrame(text)

/** Opens a stream and gives its frames one by one; the queue ends with the stream. */
const open = Effect.fnUntraced(function* (
  options: { readonly token?: string; readonly after?: number; readonly path?: string } = {},
) {
  const { adminToken, url } = yield* Guest
  const frames = yield* Queue.unbounded<Frame, "ended">()
  const headers: Record<string, string> = { authorization: `Bearer ${options.token ?? adminToken}` }
  if (options.after !== undefined) headers["last-event-id"] = String(options.after)
  const answer = yield* Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      request(new URL(options.path ?? "/api/v1/events", url), { headers }, (made) => resume(Effect.succeed(made))).end()
    }),
    (made) => Effect.sync(() => made.destroy()),
  )
  let text = ""
  answer.setEncoding("utf8")
  answer.on("data", (chunk: string) => {
    const parts = (text + chunk).split("\n\n")
    text = parts.pop()!
    for (const part of parts) Queue.offerUnsafe(frames, parse(part))
  })
  answer.on("close", () => Queue.failCauseUnsafe(frames, ended))
  const next: Effect.Effect<Frame, "ended"> = Queue.take(frames)
  const events: Effect.Effect<Frame, "ended"> = Effect.repeat(next, { until: (frame) => frame.comment === undefined })
  assert.strictEqual((yield* next).comment, "stoa")
  return { answer, next: events, any: next }
})

let made = 0
const someone = Effect.fnUntraced(function* (over: object = {}) {
  const { admin } = yield* Guest
  const principal = yield* ask(() => admin.principals.add({ kind: "agent", name: `listener ${++made}`, ...over }))
  const token = yield* ask(() => admin.tokens.add({ principal: principal.id }))
  return { principal, token }
})
const act = Effect.fnUntraced(function* () {
  const { admin } = yield* Guest
  return yield* ask(() => admin.principals.add({ kind: "service", name: `act ${++made}` }))
})

const scoped = <A, E, R>(effect: Effect.Effect<A, E, R | Scope.Scope>) => Effect.scoped(effect)

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`feed on ${store}`, (it) => {
    it.effect("shows an event as it is committed: id, name and the whole of it", () =>
      scoped(
        Effect.gen(function* () {
          const stream = yield* open()
          assert.match(stream.answer.headers["content-type"]!, /^text\/event-stream/)
          const principal = yield* act()
          const frame = yield* stream.next
          assert.strictEqual(frame.event, "principal.added")
          assert.strictEqual(frame.id, frame.data!.cursor)
          assert.includeMembers(Object.keys(frame.data!), ["cursor", "kind", "at", "space", "actor", "body"])
          assert.strictEqual(frame.data!.body!["principal"], principal.id)
        }),
      ),
    )

    it.effect("resumes after Last-Event-ID without gap or repeat, while others write", () =>
      scoped(
        Effect.gen(function* () {
          const journal = yield* Journal
          const from = yield* journal.end
          const writing = yield* Effect.forEach(Array.from({ length: 60 }), act, { concurrency: 4 }).pipe(
            Effect.forkChild,
          )
          const seen: Array<number> = []
          // Breaks the stream every seven events and goes on where it stood.
          while (seen.length < 60) {
            yield* scoped(
              Effect.gen(function* () {
                const stream = yield* open({ after: seen.at(-1) ?? from })
                for (let taken = 0; taken < 7 && seen.length < 60; taken++) seen.push((yield* stream.next).id!)
              }),
            )
          }
          yield* Fiber.join(writing)
          const truth = yield* journal.read({ after: from, limit: 1000 })
          assert.deepStrictEqual(
            seen,
            truth.slice(0, 60).map((event) => event.cursor as number),
          )
        }),
      ),
    )

    it.effect("shows a principal what concerns it and nothing else; admins see all", () =>
      scoped(
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const pam = yield* someone()
          const hers = yield* open({ token: pam.token.token })
          const all = yield* open()
          yield* act()
          yield* ask(() => admin.secrets.set("hidden", { value: "long enough" }))
          yield* ask(() => admin.tokens.add({ principal: pam.principal.id, label: "second" }))
          const frame = yield* hers.next
          assert.deepStrictEqual([frame.event, frame.data!.body!["principal"]], ["token.issued", pam.principal.id])
          const names = [yield* all.next, yield* all.next, yield* all.next].map((one) => one.event)
          assert.deepStrictEqual(names, ["principal.added", "secret.set", "token.issued"])
          // The past is filtered like the present.
          const past = yield* open({ token: pam.token.token, after: 0 })
          const first = yield* past.next
          assert.strictEqual(first.data!.body!["principal"], pam.principal.id)
        }),
      ),
    )

    it.effect(
      "ends the stream of a revoked token, of a retired principal, and of one whose rights changed, each with a reason",
      () =>
        scoped(
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const reason = Effect.fnUntraced(function* (
              change: (pam: Effect.Success<ReturnType<typeof someone>>) => Promise<unknown>,
            ) {
              const pam = yield* someone()
              const stream = yield* open({ token: pam.token.token })
              yield* ask(() => change(pam))
              const last = yield* Effect.repeat(stream.next, { until: (frame) => frame.event === "close" })
              assert.strictEqual(yield* Effect.flip(stream.any), "ended")
              return String(last.data!["reason"])
            })
            assert.match(yield* reason((pam) => admin.tokens.revoke(pam.token.id)), /no longer works/)
            assert.match(yield* reason((pam) => admin.principals.retire(pam.principal.id)), /no longer works/)
            assert.match(
              yield* reason((pam) => admin.principals.change(pam.principal.id, { roles: ["admin"] })),
              /rights/,
            )
          }),
        ),
    )

    it.effect("a stream goes on when somebody lends its reader a right: nobody can close another's feed", () =>
      scoped(
        Effect.gen(function* () {
          const { admin, as } = yield* Guest
          const [pam, jim] = [yield* someone(), yield* someone()]
          const stream = yield* open({ token: pam.token.token })
          const loan = { to: pam.principal.id, resource: "tools/x", actions: ["execute" as const], reason: "here" }
          yield* ask(() => as(jim.token.token).delegations.add(loan))
          assert.strictEqual((yield* stream.next).event, "delegation.added")
          yield* ask(() => admin.tokens.add({ principal: pam.principal.id }))
          assert.strictEqual((yield* stream.next).event, "token.issued")
        }),
      ),
    )

    it.effect("tells a reader whose place is no longer kept to reload, and goes on from now", () =>
      scoped(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const journal = yield* Journal
          const end = yield* journal.end
          const before = yield* journal.floor
          yield* sql`UPDATE journal_floor SET cursor = ${end}`
          const stream = yield* open({ after: 1 })
          const frame = yield* stream.next
          assert.deepStrictEqual([frame.event, frame.id], ["reload", end])
          const principal = yield* act()
          assert.strictEqual((yield* stream.next).data!.body!["principal"], principal.id)
          yield* sql`UPDATE journal_floor SET cursor = ${before}`
        }),
      ),
    )

    it.effect("shows deltas on the same stream, without an id and without replay", () =>
      scoped(
        Effect.gen(function* () {
          const deltas = yield* Deltas
          const { admin } = yield* Guest
          const stream = yield* open()
          const pam = yield* someone()
          const other = yield* open({ token: pam.token.token })
          const me = yield* ask(() => admin.principals.me())
          const delta = {
            kind: "typing" as const,
            at: yield* DateTime.now,
            space: null,
            actor: me.id as PrincipalId,
            body: {},
          }
          yield* Effect.repeat(stream.next, { until: (frame) => frame.event === "token.issued" })
          yield* deltas.emit(delta)
          const frame = yield* stream.next
          assert.deepStrictEqual([frame.event, frame.id, frame.data!["kind"]], ["typing", undefined, "typing"])
          yield* ask(() => admin.tokens.add({ principal: pam.principal.id }))
          assert.strictEqual((yield* other.next).event, "token.issued")
        }),
      ),
    )

    it.effect("a slow reader is bounded and told to reload; the others lose nothing", () =>
      scoped(
        Effect.gen(function* () {
          const { adminToken, url } = yield* Guest
          const journal = yield* Journal
          const { hostname, port } = new URL(url)
          const socket = dial(Number(port), hostname)
          yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
          socket.write(
            `GET /api/v1/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${adminToken}\r\n\r\n`,
          )
          yield* Effect.callback<void>((resume) => void socket.once("data", () => resume(Effect.void)))
          socket.pause()
          const quick = yield* open()
          const payload = "x".repeat(200_000)
          const big = journal.transact(
            journal.append({
              kind: "timer.fired",
              body: { timer: "tmr_00000000-0000-4000-8000-000000000000" as never, purpose: "load", payload },
            }),
          )
          const feed = yield* Feed
          const before = feed.subscribers()
          // Far more than the socket's buffers and the bound together hold.
          for (let sent = 0; sent < 80 && feed.subscribers() >= before; sent++) {
            yield* big
            assert.strictEqual((yield* quick.next).event, "timer.fired")
          }
          assert.strictEqual(feed.subscribers(), before - 1)
          let rest = ""
          yield* Effect.callback<void>((resume) => {
            socket.on("data", (chunk) => {
              rest = (rest + chunk.toString("utf8")).slice(-500)
              if (rest.includes("event: reload")) resume(Effect.void)
            })
            socket.resume()
          })
          assert.match(rest, /event: reload/)
        }),
      ),
    )
  })

layer(house({ store: "sqlite" }))("time on the feed", (it) => {
  it.effect("an expired token's stream ends, with the next frame or the next heartbeat", () =>
    scoped(
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const pam = yield* someone()
        const now = yield* DateTime.now
        const expiresAt = DateTime.formatIso(DateTime.add(now, { seconds: 90 }))
        const token = yield* ask(() => admin.tokens.add({ principal: pam.principal.id, expiresAt }))
        const stream = yield* open({ token: token.token })
        yield* TestClock.adjust("2 minutes")
        const last = yield* Effect.repeat(stream.next, { until: (frame) => frame.event === "close" })
        assert.match(String(last.data!["reason"]), /no longer works|rights/)
        assert.strictEqual(yield* Effect.flip(stream.any), "ended")
      }),
    ),
  )

  it.effect("S0-70 a heartbeat comes within 30 seconds, and a closed stream is forgotten", () =>
    Effect.gen(function* () {
      const feed = yield* Feed
      yield* scoped(
        Effect.gen(function* () {
          const stream = yield* open()
          assert.strictEqual(feed.subscribers(), 1)
          // The last beat may still be under way, and sleeps from when it has ended.
          const first = yield* Effect.forkChild(stream.any)
          while (first.pollUnsafe() === undefined) {
            yield* TestClock.adjust("30 seconds")
            yield* Effect.promise(pause)
          }
          assert.strictEqual((yield* Fiber.join(first)).comment, "heartbeat")
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual((yield* stream.any).comment, "heartbeat")
        }),
      )
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => feed.subscribers() === 0 }))
      assert.strictEqual(feed.subscribers(), 0)
    }),
  )
})

describe("names", () => {
  plain("X-45 each event has one name of ours, and a face renames at most", () => {
    for (const face of Object.keys(faces) as Array<keyof typeof faces>)
      for (const kind of Object.keys(kinds)) assert.isString(nameOn(face, kind))
    assert.strictEqual(nameOn("skills", "access.denied"), "identity.access-denied")
    assert.strictEqual(nameOn(undefined, "access.denied"), "access.denied")
    assert.strictEqual(nameOn("office", "access.denied"), "access.denied")
    // A delta may share the name of the event that says it for good: somebody types, a run has begun.
    for (const names of Object.values(faces)) {
      const stored = Object.entries(names).flatMap(([kind, name]) => (kind in kinds ? [name] : []))
      assert.strictEqual(new Set(stored).size, stored.length)
    }
  })
})
