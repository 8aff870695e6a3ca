/** Toolset `team` on real processes: a lead, its workers, and what comes back as the next turn. */
import { existsSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest } from "../house.ts"
import { ended, runsOf, stores, until } from "../runs/runsKit.ts"
import { fresh } from "../spaces/spacesGuests.ts"
import { answersOf, crew, logOf, setProgram, teamHouse, turnsOf } from "./teamKit.ts"

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

for (const store of stores)
  layer(teamHouse({ store, env: { STOA_SLOTS: "1" } }), { excludeTestServices: true, timeout: 60_000 })(
    `teams with one slot on ${store}`,
    (it) => {
      it.effect(
        "S3-10 S3-12 S3-13 S3-19 S3-23 a sync message is two turns: sent at once, the reply is the next message",
        () =>
          Effect.gen(function* () {
            const { heard, lead, say, team } = yield* crew(1)
            const worker = team[0]!
            yield* setProgram([
              {
                when: { agent: lead.name, text: "Reply from" },
                call: [{ tool: "check_inbox" }],
                say: "All is well.",
              },
              {
                when: { agent: lead.name },
                call: [
                  { tool: "send_message", input: { recipient: worker.name, text: "How is it?" } },
                  { tool: "send_message", input: { recipient: worker.name, text: 5 } },
                  { tool: "send_message", input: { recipient: worker.name, text: "x", sync: "maybe" } },
                ],
                say: "I asked.",
              },
              {
                when: { agent: worker.name },
                call: [{ tool: "send_message", input: { recipient: lead.name, text: "It is well." } }],
              },
            ])
            yield* say("ask the worker")
            const [run] = yield* ended(lead)
            assert.deepInclude(run!, { state: "completed", step: 2 })
            const [sent, ...wrong] = yield* answersOf(lead, "send_message")
            assert.match(JSON.stringify(wrong[0]), /text/)
            assert.match(JSON.stringify(wrong[1]), /sync/)
            assert.deepStrictEqual(Object.keys(sent!), ["status", "message_id", "waiting_for_reply"])
            assert.deepInclude(sent!, { status: "sent", waiting_for_reply: true })
            assert.match(sent!["message_id"] as string, new RegExp(`^${uuid}$`))
            const turns = yield* turnsOf(lead)
            assert.strictEqual(
              turns[1],
              `Reply from ${worker.name} (to message ${String(sent!["message_id"])}):\nIt is well.`,
            )
            assert.strictEqual(turns.length, 2)
            assert.deepStrictEqual(yield* answersOf(lead, "check_inbox"), [{ messages: [] }])
            assert.deepInclude((yield* answersOf(worker, "send_message"))[0]!, { waiting_for_reply: false })
            assert.deepStrictEqual(yield* heard, ["ask the worker", "All is well."])
            // Two turns, two processes, and the first was gone before the worker's began: there is one slot.
            const pids = (yield* logOf(lead)).flatMap(({ pid }) => pid ?? [])
            assert.strictEqual(new Set(pids).size, 2)
          }),
      )

      it.effect("S3-18 S3-24 S3-34 S3-35 X-12 other mail waits in the inbox while the reply is the next turn", () =>
        Effect.gen(function* () {
          const { lead, say, team } = yield* crew(2)
          const [one, two] = team as [(typeof team)[0], (typeof team)[0]]
          yield* setProgram([
            {
              when: { agent: lead.name, text: "Reply from" },
              call: [{ tool: "check_inbox" }, { tool: "check_inbox" }],
              say: "done",
            },
            {
              when: { agent: lead.name },
              call: [{ tool: "send_message", input: { recipient: one.name, text: "How is it?" } }],
            },
            {
              when: { agent: one.name, text: "Reply from" },
              call: [{ tool: "send_message", input: { recipient: lead.name, text: "It is well." } }],
            },
            {
              when: { agent: one.name },
              call: [{ tool: "send_message", input: { recipient: two.name, text: "Tell the lead." } }],
            },
            {
              when: { agent: two.name },
              call: [
                { tool: "send_message", input: { recipient: lead.name, text: "first", sync: false } },
                { tool: "send_message", input: { recipient: lead.name, text: "second", sync: false } },
                { tool: "send_message", input: { recipient: one.name, text: "told" } },
              ],
            },
          ])
          yield* say("begin")
          yield* ended(lead)
          const turns = yield* turnsOf(lead)
          assert.match(turns[1]!, /^Reply from .*\nIt is well\.\n\n2 other messages are in your inbox/)
          const looks = yield* answersOf(lead, "check_inbox")
          const found = looks[0]!["messages"] as ReadonlyArray<{ from: string; text: string; message_id: string }>
          assert.deepStrictEqual(
            found.map(({ from, text }) => [from, text]),
            [
              [two.name, "first"],
              [two.name, "second"],
            ],
          )
          assert.deepStrictEqual(looks[1], { messages: [] })
          // It is kept which run took them, and when.
          const [run] = yield* runsOf(lead)
          const sql = yield* SqlClient.SqlClient
          for (const { message_id } of found) {
            const [taken] = yield* sql<{ run: string; deliveredAt: string }>`SELECT run, delivered_at FROM triggers
              WHERE message = ${`msg_${message_id}`} AND agent = ${lead.id}`
            assert.strictEqual(taken!.run, run!.id)
            assert.isNotNaN(Date.parse(taken!.deliveredAt))
          }
          assert.deepStrictEqual(
            (yield* answersOf(two, "send_message")).map((sent) => sent["waiting_for_reply"]),
            [false, false, false],
          )
          // What was taken out of the inbox is still in the history.
          const kept = yield* Effect.forEach(found, ({ message_id }) =>
            ask(() => lead.client.messages.get(`msg_${message_id}`)),
          )
          const { items } = yield* ask(() => lead.client.spaces.messages(kept[0]!.space))
          assert.deepStrictEqual(
            items.flatMap(({ id, text }) => (kept.some((one) => one.id === id) ? [text] : [])),
            ["first", "second"],
          )
        }),
      )

      it.effect(
        "S3-43 a child works in the folder of its parent's workspace that it was given, and nowhere outside",
        () =>
          Effect.gen(function* () {
            const { folder } = yield* Guest
            const { lead, say } = yield* crew(0)
            const name = fresh("kid")
            const outside = ["..", "a/../..", folder, "way", "way/in"]
            const spawn = (at: number, workspace_subdir: string) => ({
              tool: "spawn_agent",
              input: { name: `${name}-${at}`, instructions: "Work.", workspace_subdir },
            })
            yield* setProgram([
              { when: { agent: lead.name, text: "look" }, say: "seen" },
              { when: { agent: lead.name }, call: [...outside, "parts/one"].map((inner, at) => spawn(at, inner)) },
              { say: "here" },
            ])
            yield* say("look")
            yield* ended(lead)
            const whereOf = (agent: { readonly name: string }) =>
              Effect.map(logOf(agent), (log) => log.find(({ cwd }) => cwd !== undefined)?.cwd)
            const workspace = (yield* whereOf(lead))!
            symlinkSync(folder, join(workspace, "way"))
            yield* say("begin")
            yield* ended(lead, 2)
            const answers = yield* answersOf(lead, "spawn_agent")
            assert.lengthOf(answers, outside.length + 1)
            for (const [at, inner] of outside.entries())
              assert.match(JSON.stringify(answers[at]), /workspace_subdir/, inner)
            const child = { name: `${name}-${outside.length}` }
            assert.deepInclude(answers.at(-1)!, { status: "created", ...child })
            assert.strictEqual(yield* until(whereOf(child)), join(workspace, "parts", "one"))
            assert.isFalse(existsSync(join(folder, "in")))
          }),
      )

      it.effect(
        "S3-38 S3-39 S3-40 S3-41 S3-69 a child is made at once, starts after its parent's turn, and has mail",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { lead, say } = yield* crew(0)
            const name = fresh("kid")
            yield* setProgram([
              { when: { agent: lead.name, text: "Reply from" }, say: "fine" },
              {
                when: { agent: lead.name },
                call: [
                  { tool: "spawn_agent", input: { name: `${name}-x`, instructions: "Work.", role: "manager" } },
                  { tool: "spawn_agent", input: { name, instructions: "Count to three." } },
                  { tool: "send_message", input: { recipient: name, text: "And tell me." } },
                  { tool: "inspect_agent", input: { name } },
                ],
              },
              {
                when: { agent: name },
                call: [{ tool: "send_message", input: { recipient: lead.name, text: "1 2 3" } }],
              },
            ])
            yield* say("begin")
            yield* ended(lead)
            const [refused, made] = yield* answersOf(lead, "spawn_agent")
            assert.match(JSON.stringify(refused), /role/)
            assert.deepStrictEqual(Object.keys(made!), ["status", "agent_id", "name"])
            assert.deepInclude(made!, { status: "created", name })
            const child = yield* ask(() => admin.agents.get(name))
            assert.strictEqual(child.id, `prn_${String(made!["agent_id"])}`)
            assert.strictEqual(child.role, "worker")
            // What was sent in the same turn comes with it, or next: one is on its way while the other begins.
            const told = yield* until(
              Effect.map(turnsOf({ name }), (turns) => {
                const all = turns.join("\n\n")
                return all.includes("And tell me.") ? all : undefined
              }),
            )
            assert.match(told, /^Message from .*\nCount to three\.\n\n[^]*Message from .*\nAnd tell me\./)
            assert.deepInclude((yield* answersOf(lead, "inspect_agent"))[0]!, { state: "idle" })
            // There is one slot: it begins once its parent's turn is over.
            const sql = yield* SqlClient.SqlClient
            const [turn] = yield* sql<{ over: string; begun: string }>`SELECT s.said_at AS over,
              (SELECT min(started_at) FROM runs WHERE agent = ${child.id}) AS begun
              FROM steps s JOIN runs r ON r.id = s.run WHERE r.agent = ${lead.id} ORDER BY s.began_at LIMIT 1`
            assert.isTrue(turn!.begun >= turn!.over, `${turn!.begun} is before ${turn!.over}`)
            // It works in its parent's workspace.
            const where = (agent: { readonly name: string }) =>
              Effect.map(logOf(agent), (log) => log.find(({ cwd }) => cwd !== undefined)!.cwd)
            assert.strictEqual(yield* where({ name }), yield* where(lead))
            assert.match(yield* until(Effect.map(turnsOf(lead), (turns) => turns[1])), /\n1 2 3$/)
          }),
      )
    },
  )
