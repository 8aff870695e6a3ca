/**
 * One form of a message's id: what a tool returns is accepted by every tool and door that takes one, in both forms, and
 * equals what events and lists say with the names of that tool's face.
 */
import { assert, layer } from "@effect/vitest"
import type { ToolsetName } from "@stoa/contract"
import { Effect } from "effect"
import { ask, Guest, house } from "../house.ts"
import { room, stores } from "../runs/runsKit.ts"
import { call as request, fresh, listen, someone, type Someone } from "../spaces/spacesGuests.ts"
import { inbox, outside, use } from "../team/teamKit.ts"

const bare = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const whole = (id: string) => (bare.test(id) ? `msg_${id}` : id)
const forms = (id: string) => [whole(id), whole(id).slice("msg_".length)]

const agent = Effect.fnUntraced(function* (toolset: ToolsetName) {
  const { admin } = yield* Guest
  const bot = yield* someone("agent", fresh(toolset))
  yield* ask(() => admin.principals.change(bot.id, { toolsets: [toolset] }))
  return bot
})

for (const store of stores)
  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`ids of messages on ${store}`, (it) => {
    it.effect(
      "X-48 S0-08 S0-11 S0-21 S1-45 S1-47 S3-24 what any tool returns is accepted at every door, in both forms",
      () =>
        Effect.gen(function* () {
          const ada = yield* someone()
          const [office, gateway, stoa] = [yield* agent("office"), yield* agent("gateway"), yield* agent("stoa")]
          const lead = yield* outside()
          const worker = yield* outside(lead)
          const space = yield* room("private", ada, office, gateway, stoa)
          const others = [ada, office, gateway, stoa]
          const text = "hello"
          const field = (name: string) => (output: Readonly<Record<string, unknown>>) => String(output[name])
          const newest = (list: string, name: string) => (output: Readonly<Record<string, unknown>>) =>
            String((output[list] as ReadonlyArray<Readonly<Record<string, unknown>>>).at(-1)![name])
          yield* ask(() => ada.client.spaces.post(space.id, { text }))
          yield* use(gateway, "enter_space", { spaceId: space.id })
          /** Every tool that returns the id of a message of this space. */
          const makers: ReadonlyArray<readonly [Someone, string, object, (output: never) => string]> = [
            [office, "send_message", { channelId: space.id, text }, field("messageId")],
            [gateway, "send_message", { text }, field("messageId")],
            [gateway, "enter_space", { spaceId: space.id }, newest("history", "id")],
            [gateway, "read_messages", {}, newest("messages", "id")],
            [stoa, "post_message", { space: space.id, text }, field("id")],
            [stoa, "read_messages", { space: space.id }, newest("items", "id")],
            [stoa, "search_messages", { query: text }, newest("items", "id")],
          ]
          for (const [who, tool, input, idOf] of makers) {
            const returned = idOf((yield* use(who, tool, input as never)) as never)
            for (const id of forms(returned)) {
              const at = `${tool} of ${who.name} returned ${returned}, given as ${id}`
              assert.deepStrictEqual(
                yield* use(office, "react_to_message", { messageId: id, emoji: "👍" }),
                { success: true },
                at,
              )
              assert.deepInclude(
                yield* use(gateway, "send_reply", { text, replyToMessageId: id }),
                { success: true },
                at,
              )
              const posted = yield* use(stoa, "post_message", { space: space.id, text, replyTo: id })
              assert.strictEqual(posted["replyTo"], whole(id), at)
              assert.notProperty(yield* use(stoa, "react", { message: id, emoji: "🎉" }), "message", at)
              const doors: ReadonlyArray<readonly [string, string, object?]> = [
                ["GET", `/messages/${id}`],
                ["GET", `/messages/${id}/history`],
                ["PUT", `/messages/${id}/reactions/%F0%9F%91%8C`],
                ["DELETE", `/messages/${id}/reactions/%F0%9F%91%8C`],
                ["PUT", `/messages/${id}/pin`],
                ["DELETE", `/messages/${id}/pin`],
                ["POST", `/spaces/${space.id}/messages`, { text, replyTo: id }],
              ]
              for (const [method, path, body] of doors)
                assert.include(
                  [200, 201, 204],
                  (yield* request(ada, method, path, body)).status,
                  `${method} ${path}: ${at}`,
                )
            }
          }
          // Its author edits and deletes it by either form.
          for (const form of [0, 1]) {
            const { messageId } = yield* use(office, "send_message", { channelId: space.id, text })
            const id = forms(String(messageId))[form]!
            assert.strictEqual((yield* request(office, "PATCH", `/messages/${id}`, { text: "bye" })).status, 200)
            assert.strictEqual((yield* request(office, "DELETE", `/messages/${id}`)).status, 204)
          }
          for (const id of ["msg_1", "x", "spc_01a1e6c9-52bd-7000-8184-5317e318d22f"])
            assert.strictEqual((yield* request(ada, "GET", `/messages/${id}`)).status, 400, id)
          assert.lengthOf(others, 4)
          // A team's mail, by its sender and by its recipient.
          const asked = yield* use(lead, "send_message", { recipient: worker.name, text })
          const [got] = yield* inbox(worker)
          assert.strictEqual(got!["message_id"], asked["message_id"])
          for (const reply_to of forms(String(asked["message_id"])))
            assert.deepInclude(yield* use(worker, "send_message", { recipient: lead.name, text, reply_to }), {
              waiting_for_reply: false,
            })
          assert.deepStrictEqual(
            (yield* inbox(lead)).map(({ reply_to }) => reply_to),
            [asked["message_id"], asked["message_id"]],
          )
        }),
    )

    it.effect(
      "X-45 X-48 S0-11 S0-23 events and lists with the names of a face have the ids that its tools return",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const ada = yield* someone()
          const [office, gateway, stoa] = [yield* agent("office"), yield* agent("gateway"), yield* agent("stoa")]
          const space = yield* room("private", ada, office, gateway, stoa)
          yield* use(gateway, "enter_space", { spaceId: space.id })
          const faces: ReadonlyArray<readonly [string, Someone, string, object, string]> = [
            ["?names=office", office, "send_message", { channelId: space.id, text: "hello" }, "messageId"],
            ["?names=gateway", gateway, "send_message", { text: "hello" }, "messageId"],
            ["", stoa, "post_message", { space: space.id, text: "hello" }, "id"],
          ]
          for (const [names, who, tool, input, field] of faces) {
            const stream = yield* listen(ada, { path: `/spaces/${space.id}/events${names}` })
            const returned = String((yield* use(who, tool, input as never))[field])
            yield* request(ada, "PUT", `/messages/${returned}/reactions/%F0%9F%91%8C`)
            yield* request(who, "PATCH", `/messages/${returned}`, { text: "bye" })
            yield* request(ada, "PUT", `/messages/${returned}/pin`)
            yield* request(ada, "DELETE", `/messages/${returned}/reactions/%F0%9F%91%8C`)
            const reply = yield* request(ada, "POST", `/spaces/${space.id}/messages`, {
              text: "yes",
              replyTo: returned,
            })
            assert.strictEqual(reply.status, 201)
            yield* request(who, "DELETE", `/messages/${returned}`)
            type Said = { readonly id: string; readonly replyTo: string | null } | string
            const seen: Array<Said> = []
            while (seen.length < 7) {
              const { data } = yield* stream.next
              const { message } = data!["body"] as { readonly message?: Said }
              if (message !== undefined) seen.push(message)
            }
            assert.deepStrictEqual(
              seen.map((one) => (typeof one === "string" ? one : (one.replyTo ?? one.id))),
              Array.from(seen, () => returned),
              names,
            )
            const list = yield* request(ada, "GET", `/spaces/${space.id}/messages${names}`)
            const { items } = list.body as { readonly items: ReadonlyArray<{ id: string; replyTo: string | null }> }
            const last = items.at(-1)!
            assert.strictEqual(last.replyTo, returned)
            const one = yield* request(ada, "GET", `/messages/${last.id}${names}`)
            assert.deepStrictEqual(one.body, last)
          }
          // Whoever follows without a face's names sees one form, too.
          const plain = yield* ask(() => admin.spaces.messages(space.id))
          for (const { id } of plain.items) assert.match(id, /^msg_/)
        }).pipe(Effect.scoped),
    )
  })
