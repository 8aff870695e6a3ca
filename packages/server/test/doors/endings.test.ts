/**
 * What ends with a right ends at once: whatever stays open under a token, however the token ends, and whatever is shown by a
 * rule that is taken away. Nothing that happens afterwards is seen, and the stream is closed.
 */
import { request as dial } from "node:http"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { pause } from "../../../../test/pause.ts"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Files, largestFile } from "../../src/store/Files.ts"
import { lastBackup } from "../../src/store/backup/LastBackup.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { admin, callsHouse, callTool, request, stores } from "../calls/callsKit.ts"
import { ask, Guest } from "../house.ts"
import { envelope, initialized, newRequest, oldRequest, opened } from "../mcp/mcpKit.ts"
import { type Frame, fresh, listen, someone, type Someone } from "../spaces/spacesGuests.ts"

const life = { seconds: 90 }

/** Somebody in a room with another, with a token that ends by itself, and with everything open that can be. */
const everythingOpen = Effect.gen(function* () {
  const { as, url } = yield* Guest
  const { transact } = yield* Journal
  const [pam, jim] = [yield* someone("agent"), yield* someone()]
  const expiresAt = DateTime.add(yield* DateTime.now, life)
  const issued = yield* Effect.orDie(transact((yield* Tokens).issue({ principal: pam.principal.id, expiresAt })))
  const me: Someone = { ...pam, token: issued.token, client: as(issued.token) }
  const grant = { principal: pam.id, resource: "hosts/*", actions: ["write"] }
  assert.strictEqual((yield* request(yield* admin, "POST", "/grants", grant)).status, 201)
  const room = yield* ask(() => jim.client.spaces.add({ name: fresh("room"), kind: "private", members: [pam.id] }))

  const [host, name] = [fresh("host"), fresh("fn")]
  const tool = { name, description: "Does it.", inputSchema: { type: "object" } }
  assert.strictEqual((yield* request(me, "PUT", `/hosts/${host}`, { tools: [tool] })).status, 200)

  const feed = yield* listen(me)
  const ofSpace = yield* listen(me, { path: `/spaces/${room.id}/events` })
  const line = yield* listen(me, { path: `/hosts/${host}/calls?instance=process-of-the-test` })
  assert.strictEqual(line.status, 200)
  for (let frame = yield* line.next; frame.event !== "ready"; frame = yield* line.next)
    assert.notStrictEqual(frame.event, "close", JSON.stringify(frame))
  const uri = `stoa://spaces/${room.id}`
  const at = `${url}/mcp/stoa`
  const subscription = yield* ask(() =>
    opened(
      at,
      me.token,
      undefined,
      "subscriptions/listen",
      { notifications: { resourceSubscriptions: [uri] }, _meta: envelope() },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
    ),
  )
  yield* ask(() => subscription.next())
  const session = yield* ask(() => initialized(at, me.token))
  const standing = yield* ask(() => opened.get(at, me.token, { "mcp-session-id": session }))
  yield* ask(() => oldRequest(at, me.token, "resources/subscribe", { uri }, session))
  const waiting = yield* ask(() =>
    newRequest(at, me.token, "tools/call", {
      name: "wait_for_messages",
      arguments: { space: room.id, seconds: 50 },
    }),
  ).pipe(Effect.forkChild)
  // It waits once it is written down.
  while ((yield* ask(() => jim.client.spaces.get(room.id))).lastSeq > 0) yield* ask(pause)
  return { me, jim, room, tool: name, token: issued.id, feed, ofSpace, line, subscription, standing, waiting }
})

/** What still comes on a stream until it is closed. */
const rest = (stream: { readonly frames: Queue.Dequeue<Frame, "ended"> }) =>
  Effect.gen(function* () {
    const frames: Array<Frame> = []
    for (;;) {
      const next = yield* Effect.exit(Queue.take(stream.frames))
      if (Exit.isFailure(next)) return frames
      frames.push(next.value)
    }
  })
/** The same of MCP's. */
const restOf = (stream: { readonly next: () => Promise<unknown> }) =>
  ask(async () => {
    const frames: Array<unknown> = []
    for (;;) {
      const frame = await stream.next().catch(() => undefined)
      if (frame === undefined) return frames
      frames.push(frame)
    }
  })

const ways = {
  revoked: Effect.fnUntraced(function* ({ token }: { readonly token: string; readonly me: Someone }) {
    const { admin: boss } = yield* Guest
    yield* ask(() => boss.tokens.revoke(token as never))
  }),
  retired: Effect.fnUntraced(function* ({ me }: { readonly me: Someone }) {
    const { admin: boss } = yield* Guest
    yield* ask(() => boss.principals.retire(me.id))
  }),
  expired: () => TestClock.adjust({ seconds: 91 }),
} as const

for (const store of stores)
  layer(callsHouse({ store }), { timeout: 60_000 })(`what ends with a right, on ${store}`, (it) => {
    for (const [way, end] of Object.entries(ways))
      it.effect(`G-09 a token that is ${way} ends feeds, host lines, MCP streams and waits, at once`, () =>
        Effect.gen(function* () {
          const open = yield* everythingOpen
          yield* end(open)
          // Nothing of this is for it any more.
          yield* ask(() => open.jim.client.spaces.post(open.room.id, { text: "afterwards" }))
          yield* callTool(open.jim, open.tool, { wait: 0 })
          for (const [what, stream] of Object.entries({ feed: open.feed, space: open.ofSpace, line: open.line })) {
            const frames = yield* rest(stream)
            assert.notInclude(JSON.stringify(frames), "afterwards", what)
            assert.notInclude(
              frames.map(({ event }) => event),
              "call",
              what,
            )
            assert.strictEqual(frames.at(-1)?.event, "close", what)
          }
          for (const stream of [open.subscription, open.standing])
            assert.notInclude(JSON.stringify(yield* restOf(stream)), "resources/updated")
          const waited = yield* Fiber.join(open.waiting)
          assert.notInclude(waited.text, "afterwards")
        }).pipe(Effect.scoped),
      )

    it.effect(
      "S0-71 a rule that is taken away ends what it showed: feed, space's stream, watch, and a host's line",
      () =>
        Effect.gen(function* () {
          const { admin: boss } = yield* Guest
          const open = yield* everythingOpen
          const other = yield* ask(() =>
            open.jim.client.spaces.add({ name: fresh("other"), kind: "private", members: [open.me.id] }),
          )
          const deny = (resource: string, action: "read" | "write") =>
            ask(() => boss.grants.add({ principal: open.me.id, resource, actions: [action], effect: "deny" }))
          yield* deny(`spaces/${open.room.name}`, "read")
          yield* deny("hosts/*", "write")
          yield* ask(() => open.jim.client.spaces.post(open.room.id, { text: "afterwards" }))
          yield* callTool(open.jim, open.tool, { wait: 0 })
          yield* ask(() => open.jim.client.spaces.post(other.id, { text: "still here" }))
          // The feed goes on, without that space.
          const seen: Array<Frame> = []
          while (!JSON.stringify(seen).includes("still here")) seen.push(yield* open.feed.next)
          assert.notInclude(JSON.stringify(seen), "afterwards")
          const ofSpace = yield* rest(open.ofSpace)
          assert.notInclude(JSON.stringify(ofSpace), "afterwards")
          assert.strictEqual(ofSpace.at(-1)?.event, "close")
          const sent = yield* rest(open.line)
          assert.deepStrictEqual(
            sent.map(({ event }) => event),
            ["close"],
          )
          // It comes back, and is told of what happens then and not of what was said meanwhile.
          yield* ask(() => open.subscription.close())
          yield* ask(() => open.standing.close())
          yield* Fiber.interrupt(open.waiting)
        }).pipe(Effect.scoped),
    )

    it.effect("a backup breaks off when its token ends; that is recorded, and does not count as a backup", () =>
      Effect.gen(function* () {
        const { admin: boss, url } = yield* Guest
        const files = yield* Files
        for (let n = 0; n < 4; n++) yield* Effect.orDie(files.put(Buffer.alloc(largestFile, `${n}`), "x/y"))
        const person = yield* ask(() => boss.principals.add({ kind: "person", name: fresh("boss"), roles: ["admin"] }))
        const issued = yield* ask(() => boss.tokens.add({ principal: person.id }))
        const headers = { authorization: `Bearer ${issued.token}` }
        const whole = yield* Effect.callback<boolean>((resume) => {
          const asked = dial(new URL("/api/v1/backup", url), { method: "POST", headers, agent: false }, (answer) => {
            answer.once("readable", () => {
              // Not read: what is not sent yet waits in the house.
              void boss.tokens.revoke(issued.id).then(() => answer.resume())
            })
            answer.on("error", () => {})
            answer.on("close", () => resume(Effect.succeed(answer.complete)))
          })
          asked.on("error", () => resume(Effect.succeed(false)))
          asked.end()
        })
        assert.isFalse(whole)
        const sql = yield* SqlClient.SqlClient
        const recorded = sql<{
          actor: string
          body: string
        }>`SELECT actor, body FROM journal WHERE kind = 'house.backed-up'`
        let rows = yield* recorded
        for (; rows.length === 0; rows = yield* recorded) yield* Effect.promise(pause)
        assert.deepStrictEqual(
          rows.map(({ actor, body }) => [actor, JSON.parse(body)]),
          [[person.id, { withKey: false, complete: false }]],
        )
        assert.isNull((yield* lastBackup).backupAt)
        yield* (yield* Readers).receipt("audit")
        const { items } = yield* ask(() => boss.audit.list({ principal: person.id }))
        assert.deepStrictEqual(
          items.filter(({ action }) => action === "back up").map(({ result }) => result),
          ["failure"],
        )
      }),
    )
  })
