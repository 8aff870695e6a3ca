/** What was said in a chat session is there after kill -9, and so is which one is gone on with. */
import { assert, it } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import { ask } from "../house.ts"
import { homes, kill, start, token } from "../killedHouse.ts"
import { rpcAt } from "./engramKit.ts"

const wallet = "0x00000000000000000000000000000000000000aa"

for (const [store, home] of homes)
  it.live(
    `S2-82 X-62 resume after a restart shows the same messages, Hecate's and Moros', on ${store}`,
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const here = yield* home
          const before = yield* start(here)
          const admin = connect({ url: before.url, token })
          yield* ask(() => admin.principals.change("admin", { wallet }))
          const sessions = yield* ask(async () => {
            const made = []
            for (const agent of ["hecate", "moros"]) {
              const { id } = await admin.chatSessions.add({ agent })
              for (const text of ["one", "two"]) await admin.chatSessions.post(id, { text })
              made.push(id)
            }
            return made
          })
          yield* kill(here, before.child)
          const after = yield* start(here)
          const again = connect({ url: after.url, token })
          for (const id of sessions) {
            const { items } = yield* ask(() => again.chatSessions.messages(id, {}))
            assert.deepStrictEqual(
              items.map(({ text }) => text),
              ["one", "two"],
            )
            const session = yield* ask(() => again.chatSessions.get(id))
            assert.deepStrictEqual([session.current, session.messageCount, session.title], [true, 2, "one"])
          }
          const { result } = yield* rpcAt(`${after.url}/mcp/jsonrpc`, token, "tools/call", {
            name: "hecate_resume_session",
            arguments: { wallet_address: wallet, session_id: sessions[0] },
          })
          const { session } = JSON.parse(result!.content[0]!.text) as {
            readonly session: { readonly messages: ReadonlyArray<{ readonly content: string }> }
          }
          assert.deepStrictEqual(
            session.messages.map((message) => message.content),
            ["one", "two"],
          )
          yield* kill(here, after.child)
        }),
      ),
    120_000,
  )
