/** Rules of records, over every face that reaches them: HTTP, import, MCP, and a toolset's tool called over HTTP. */
import { assert, layer } from "@effect/vitest"
import type { MemoryId, PrincipalId } from "@stoa/contract"
import type { Stoa, StoaError } from "@stoa/sdk"
import { Effect } from "effect"
import { Memories } from "../../src/memory/Memories.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house } from "../house.ts"
import { content, create, holder, type Holder, rpcAt } from "./engramKit.ts"

/** What a face answers where it refuses; undefined if it did it. */
type Face = (who: Holder) => Effect.Effect<string | undefined, unknown, Guest>

const over =
  (question: (stoa: Stoa) => Promise<unknown>): Face =>
  ({ stoa }) =>
    ask(() =>
      question(stoa).then(
        () => undefined,
        (error: StoaError) => [error.status, error.message, ...error.issues.map(({ message }) => message)].join(" "),
      ),
    )

const mcp =
  (tool: string, args: object, path = "/mcp/jsonrpc"): Face =>
  ({ token }) =>
    Effect.gen(function* () {
      const { url } = yield* Guest
      const { error, result } = yield* rpcAt(`${url}${path}`, token, "tools/call", { name: tool, arguments: args })
      if (error !== undefined) return error.message
      return result!.isError === true ? result!.content[0]!.text : undefined
    })

const called =
  (tool: string, input: Readonly<Record<string, string>>): Face =>
  ({ stoa }) =>
    ask(async () => {
      const call = await stoa.tools.call(tool, { input })
      return "error" in call && call.error !== null ? JSON.stringify(call.error) : undefined
    })

const someone = Effect.fnUntraced(function* (name: string) {
  const { admin } = yield* Guest
  const who = yield* holder(name)
  yield* ask(() => admin.principals.change(who.id, { toolsets: ["engrams", "stoa"] }))
  return who
})

const refused = Effect.fnUntraced(function* (
  who: Holder,
  faces: Readonly<Record<string, Face>>,
  words: ReadonlyArray<string>,
) {
  const faults: Array<string> = []
  for (const [name, face] of Object.entries(faces)) {
    const told = yield* face(who)
    if (told === undefined) faults.push(`${name}: was done`)
    else if (words.some((word) => !told.includes(word))) faults.push(`${name}: ${told}`)
  }
  assert.deepStrictEqual(faults, [])
})

const recordId = (id: string) => id.replace("eng_", "mem_")
const begin = (who: Holder) => who.done("hecate_new_session", { wallet_address: who.wallet })
const record = ({ stoa }: Holder, id: string) => ask(() => stoa.memory.get(id))
const exportedLine = ({ stoa }: Holder, id: string) =>
  Effect.map(
    ask(() => stoa.memory.export({ limit: 100 })),
    ({ items }) => {
      const {
        at: _at,
        by: _by,
        call: _call,
        message: _message,
        seal: _seal,
        version: _version,
        ...line
      } = items.find((one) => one.id === id && one.current === true)!
      return line
    },
  )

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`faces of records on ${store}`, (it) => {
    /** Everything that would change or delete a record whose room alone does that. */
    const changes = Effect.fnUntraced(function* (who: Holder, id: string) {
      const { key, kind } = yield* record(who, id)
      const line = yield* exportedLine(who, id)
      const put = { namespace: "engrams", kind, key, content: "{}" } as const
      return {
        "HTTP content": over((stoa) => stoa.memory.change(id, { content: "{}" })),
        "HTTP tags": over((stoa) => stoa.memory.change(id, { tags: ["x"] })),
        "HTTP media type": over((stoa) => stoa.memory.change(id, { mediaType: "text/markdown" })),
        "HTTP public": over((stoa) => stoa.memory.change(id, { public: true })),
        "HTTP pin and more": over((stoa) => stoa.memory.change(id, { pinned: true, content: "{}" })),
        "HTTP put": over((stoa) => stoa.memory.put(put)),
        "HTTP put of a new one": over((stoa) => stoa.memory.put({ ...put, key: "by.hand" })),
        "HTTP put without a key": over((stoa) => stoa.memory.put({ namespace: "engrams", kind, content: "{}" })),
        "HTTP revert": over((stoa) => stoa.memory.revert(id, { version: 1 })),
        "HTTP delete": over((stoa) => stoa.memory.remove(id, {})),
        "HTTP delete for good": over((stoa) => stoa.memory.remove(id, { permanent: "true" })),
        "import by id": over((stoa) => stoa.memory.import({ lines: [{ ...line, content: "{}" }] as never })),
        "import by key": over((stoa) => stoa.memory.import({ lines: [put] })),
        "MCP engram_update": mcp("engram_update", { id, content: "{}" }),
        "MCP engram_delete": mcp("engram_delete", { id }),
        "MCP forget": mcp("forget", { id }, "/mcp/stoa"),
        "tool engram_update": called("engram_update", { id, content: "{}" }),
        "tool engram_delete": called("engram_delete", { id }),
        "tool forget": called("forget", { id }),
        "HTTP end": over((stoa) => stoa.memory.change(id, { expiresAt: "2020-01-01T00:00:00.000Z" })),
      }
    })

    it.effect("S2-40 X-62 a chat session is changed and deleted through its room alone, whichever face tries", () =>
      Effect.gen(function* () {
        const who = yield* someone("sessions")
        const { engram_id, session_id } = yield* begin(who)
        yield* ask(() => who.stoa.chatSessions.post(session_id, { text: "Hello there" }))
        const id = recordId(engram_id)
        const before = yield* record(who, id)
        yield* refused(who, yield* changes(who, id), ["chat session", "/api/v1/chat-sessions", "delete_session"])
        assert.deepStrictEqual(yield* record(who, id), before)
        assert.lengthOf((yield* ask(() => who.stoa.memory.list({ namespace: "engrams" }))).items, 2)
        // Somebody else with the right to write is told the same.
        const other = yield* someone("writers")
        yield* ask(() => who.stoa.memory.share(id, other.id, { right: "write" }))
        yield* ask(() => other.stoa.memory.answer(id, { taken: true }))
        yield* refused(other, { shared: over((stoa) => stoa.memory.change(id, { content: "{}" })) }, ["chat session"])
        // The same again is no change, and a pin is its owner's, by every face (S2-45).
        const { content: text } = before
        yield* ask(() => who.stoa.memory.change(id, { content: text }))
        const line = yield* exportedLine(who, id)
        assert.deepStrictEqual(yield* ask(() => who.stoa.memory.import({ lines: [line] as never })), {
          written: 0,
          unchanged: 1,
        })
        yield* who.done("moros_pin_engram", { id: engram_id })
        yield* ask(() => who.stoa.memory.change(id, { pinned: false }))
        // Its own room does all of it.
        yield* ask(() => who.stoa.chatSessions.change(session_id, { title: "Renamed", pinned: true }))
        yield* ask(() => who.stoa.chatSessions.change(session_id, { pinned: false }))
        yield* who.done("hecate_delete_session", { wallet_address: who.wallet, session_id })
        assert.lengthOf((yield* ask(() => who.stoa.memory.list({ namespace: "engrams" }))).items, 0)
      }),
    )

    it.effect("S2-56 a setting of an agent is changed by what sets it alone, whichever face tries", () =>
      Effect.gen(function* () {
        const who = yield* someone("settings")
        const { session_id: first } = yield* begin(who)
        yield* begin(who)
        const { items } = yield* ask(() => who.stoa.memory.list({ namespace: "engrams", kind: "setting" }))
        const { id } = items[0]!
        yield* refused(who, yield* changes(who, id), ["setting", "set_model", "/api/v1/chat-sessions"])
        assert.deepStrictEqual(yield* record(who, id), items[0]!)
        yield* ask(() => who.stoa.chatSessions.change(first, { current: true }))
        assert.strictEqual((yield* record(who, id)).content, first)
      }),
    )

    it.effect(
      "kinds with these names are anybody's in other namespaces, and a session that was deleted comes back",
      () =>
        Effect.gen(function* () {
          const who = yield* someone("elsewhere")
          for (const kind of ["conversation", "setting"]) {
            const { id } = yield* ask(() => who.stoa.memory.put({ kind, key: "k", content: "one" }))
            yield* ask(() => who.stoa.memory.change(id, { content: "two" }))
            yield* ask(() => who.stoa.memory.revert(id, { version: 1 }))
            yield* ask(() => who.stoa.memory.remove(id, {}))
          }
          // Earlier versions of the house let an owner delete the record: it can still be restored.
          const { engram_id, session_id } = yield* begin(who)
          const { transact } = yield* Journal
          const memories = yield* Memories
          const id = recordId(engram_id) as MemoryId
          yield* transact(memories.remove({ id: who.id as PrincipalId, room: "sessions" }, id, false))
          yield* ask(() => who.stoa.memory.restore(id))
          assert.strictEqual((yield* ask(() => who.stoa.chatSessions.get(session_id))).memory, id)
        }),
    )

    it.effect("S2-12 the type of an engram cannot change, whichever face tries", () =>
      Effect.gen(function* () {
        const who = yield* someone("types")
        const key = "user.profile.mood"
        const made = yield* create(who, key, { engram_type: "strategy" })
        const before = yield* record(who, recordId(made.id))
        const put = { namespace: "engrams", kind: "persona", key, content: "1" } as const
        const said = { wallet_address: who.wallet, key, content: "x" }
        const profile = { wallet_address: who.wallet, field: "mood", content: "1" }
        yield* refused(
          who,
          {
            "HTTP put": over((stoa) => stoa.memory.put(put)),
            "HTTP put of another word": over((stoa) => stoa.memory.put({ ...put, kind: "note" })),
            import: over((stoa) => stoa.memory.import({ lines: [put] })),
            "MCP hecate_remember": mcp("hecate_remember", { ...said, engram_type: "persona" }),
            "MCP hecate_remember, no type": mcp("hecate_remember", said),
            "MCP moros_remember": mcp("moros_remember", said),
            "MCP user_profile_update": mcp("user_profile_update", profile),
            "tool hecate_remember": called("hecate_remember", said),
            "tool user_profile_update": called("user_profile_update", profile),
          },
          [key, "strategy", "cannot change"],
        )
        assert.deepStrictEqual(yield* record(who, recordId(made.id)), before)
        // Who wants a new one only is told that there is one, and who expects another version, which there is.
        const name = { wallet_address: who.wallet, engram_type: "persona", key, content: "1" }
        yield* refused(who, { "MCP engram_create": mcp("engram_create", name) }, [key])
        yield* refused(who, { "HTTP put": over((stoa) => stoa.memory.put({ ...put, expectedVersion: 7 })) }, [
          "409",
          "version",
        ])
        // One of another word, which is no engram to the tools, is not filled by them either.
        yield* ask(() => who.stoa.memory.put({ namespace: "engrams", kind: "note", key: "n", content: "plain" }))
        yield* refused(who, { remember: mcp("hecate_remember", { ...said, key: "n" }) }, ["note", "cannot change"])
        // The same kind writes on; elsewhere two kinds may have one key.
        yield* ask(() => who.stoa.memory.put({ ...put, kind: "strategy" }))
        for (const kind of ["note", "fact"]) yield* ask(() => who.stoa.memory.put({ kind, key: "two", content: kind }))
        assert.lengthOf((yield* ask(() => who.stoa.memory.list({ key: "two" }))).items, 2)
      }),
    )

    it.effect("S2-11 S2-47 what says that it is JSON is JSON, whichever face writes it", () =>
      Effect.gen(function* () {
        const who = yield* someone("json")
        const { id: given, key } = yield* create(who, "j", { content: content({ a: 1 }) })
        const id = recordId(given)
        const bad = {
          namespace: "engrams",
          kind: "preference",
          content: "{bad",
          mediaType: "application/json",
        } as const
        const line = yield* exportedLine(who, id)
        const create2 = { wallet_address: who.wallet, engram_type: "persona", key: "new", content: "{bad" }
        yield* refused(
          who,
          {
            "HTTP change": over((stoa) => stoa.memory.change(id, { content: "{bad" })),
            "HTTP put": over((stoa) => stoa.memory.put({ ...bad, key })),
            "HTTP put, its own type": over((stoa) =>
              stoa.memory.put({ namespace: "engrams", kind: "preference", key, content: "{bad" }),
            ),
            "HTTP put of a new one": over((stoa) => stoa.memory.put({ ...bad, key: "new" })),
            "import by id": over((stoa) => stoa.memory.import({ lines: [{ ...line, content: "{bad" }] as never })),
            "import by key": over((stoa) => stoa.memory.import({ lines: [{ ...bad, key: "new" }] })),
            "MCP engram_create": mcp("engram_create", create2),
            "MCP engram_update": mcp("engram_update", { id, content: "{bad" }),
            "MCP user_profile_update": mcp("user_profile_update", {
              wallet_address: who.wallet,
              field: "new",
              content: "{bad",
            }),
            "tool engram_update": called("engram_update", { id, content: "{bad" }),
          },
          ["JSON"],
        )
        const get = Effect.map(who.done("engram_get", { wallet_address: who.wallet, key }), (one) => one.content)
        assert.strictEqual(yield* get, content({ a: 1 }))
        // Text that says it is text is text, and JSON to the tools.
        yield* ask(() => who.stoa.memory.change(id, { content: "plain", mediaType: "text/plain" }))
        assert.strictEqual(yield* get, '"plain"')
        yield* refused(
          who,
          { "HTTP type": over((stoa) => stoa.memory.change(id, { mediaType: "application/json" })) },
          ["JSON"],
        )
        yield* ask(() => who.stoa.memory.revert(id, { version: 1 }))
        assert.strictEqual(yield* get, content({ a: 1 }))
      }),
    )
  })
