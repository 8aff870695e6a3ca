/** What suites that kill houses share: agents that work in three steps, and a look at all they did: nothing lost, nothing twice, nothing stuck. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../../tools/test/egress/egressLoopback.ts"
import { send, token } from "../../killedHouse.ts"

/** Three steps with four calls: one outside, one in the store, two that change nothing. */
export const rules = [
  { when: { step: 1 }, call: [{ tool: "note", input: { word: "{{message}}" } }, { tool: "whoami" }] },
  { when: { step: 2 }, call: [{ tool: "post_message", input: { space: "log", text: "{{message}}" } }] },
  { when: { step: 3 }, call: [{ tool: "list_spaces" }], waitMs: 5 },
]
const callsARun = 4

/** A service outside, which notes what it is sent. */
export const notebook = Effect.gen(function* () {
  const seen: Array<string> = []
  const service = yield* http((_, response, body) => {
    seen.push((JSON.parse(body) as { readonly word: string }).word)
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
  return { url: service.url, seen }
})

/** Agents that work by the rules, each with a DM of the admin's. */
export const furnish = Effect.fnUntraced(function* (house: string, service: string, names: ReadonlyArray<string>) {
  const post = (path: string, body: unknown) => send(house, token, "POST", path, body)
  yield* post("/tools", {
    name: "note",
    description: "Notes a word.",
    inputSchema: { type: "object", properties: { word: { type: "string" } } },
    executionType: "gateway",
    execution: { url: `${service}/note`, method: "POST", body: { word: "{{input.word}}" } },
  })
  for (const name of names) {
    yield* post("/principals", { kind: "agent", name })
    yield* send(house, token, "PATCH", `/agents/${name}`, { model: "demo" })
    const made = yield* post("/spaces", { name: `with-${name}`, kind: "dm", members: [name] })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  }
  yield* post("/spaces", { name: "log", kind: "public", members: names })
})

/** The ids of the messages that were acknowledged; a house that dies meanwhile acknowledges nothing. */
export const tellAll = Effect.fnUntraced(function* (house: string, names: ReadonlyArray<string>, text: string) {
  const accepted: Array<string> = []
  for (const name of names) {
    const said = yield* Effect.option(
      Effect.tryPromise(() => Effect.runPromise(send(house, token, "POST", `/spaces/with-${name}/messages`, { text }))),
    )
    if (said._tag === "Some" && said.value.status === 201) accepted.push(said.value.body["id"] as string)
  }
  return accepted
})

/** Nothing is stuck: all of them end. A house that is cut off from its database says nothing of them. */
export const allEnded = Effect.fnUntraced(function* (house: string) {
  for (;;) {
    const { body, status } = yield* send(house, token, "GET", "/runs?state=live&limit=1")
    if (status === 200 && (body["items"] as ReadonlyArray<unknown>).length === 0) return
    yield* Effect.sleep(50)
  }
})

/** `some`: acknowledged messages, if others may have arrived unacknowledged. */
export const checkHistory = Effect.fnUntraced(function* (
  accepted: ReadonlyArray<string>,
  seen: ReadonlyArray<string>,
  some = false,
) {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* sql<{ id: string; state: string; stop: string; failure: string | null; step: number }>`
    SELECT id, state, stop, failure, step FROM runs`
  assert.deepStrictEqual(
    runs.filter(({ stop }) => stop !== "end_turn").map(({ failure, state, stop }) => ({ failure, state, stop })),
    [],
    "every run came to its end",
  )
  const woken = (yield* sql<{ message: string }>`SELECT message FROM triggers`).map(({ message }) => message)
  if (some) assert.includeMembers(woken, [...accepted])
  else assert.sameMembers(woken, [...accepted], "every acknowledged message woke its agent, once")
  assert.strictEqual(new Set(woken).size, woken.length)
  const ends = yield* sql<{ n: number }>`SELECT count(*) AS n FROM journal WHERE kind = 'run.ended'`
  assert.strictEqual(ends[0]!.n, runs.length, "each ended once")
  const steps = yield* sql<{ run: string; number: number }>`SELECT run, number FROM steps ORDER BY run, number`
  for (const { id, step } of runs)
    assert.deepStrictEqual(
      steps.filter(({ run }) => run === id).map(({ number }) => number),
      Array.from({ length: step }, (_, at) => at + 1),
    )
  const calls = yield* sql<{ run: string; step: number; place: number; state: string }>`
    SELECT run, step, place, state FROM calls WHERE run IS NOT NULL`
  const places = calls.map(({ place, run, step }) => `${run} ${step} ${place}`)
  assert.strictEqual(new Set(places).size, places.length)
  assert.strictEqual(calls.length, runs.length * callsARun)
  assert.isTrue(calls.every(({ state }) => state === "done" || state === "failed"))
  // What went outside went at most once a run; what is in our rows exactly once.
  assert.strictEqual(new Set(seen).size, seen.length, "no tool acted twice")
  const posts = yield* sql<{ text: string }>`SELECT m.text FROM messages m JOIN spaces s ON s.id = m.space
    WHERE s.name = 'log'`
  assert.strictEqual(posts.length, runs.length)
  assert.strictEqual(new Set(posts.map(({ text }) => text)).size, posts.length)
})
