/** What only turns of a whole team show: gathering, rings, polling, failures that keep the mail, gates, and the awaited who die. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databases } from "../../../../test/long.ts"
import { ask, Guest } from "../house.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ended, inState, runsOf, until } from "../runs/runsKit.ts"
import { answersOf, crew, logOf, setProgram, teamHouse, turnsOf } from "./teamKit.ts"

for (const store of databases)
  layer(teamHouse({ store, env: { STOA_SLOTS: "2" } }), { excludeTestServices: true, timeout: 90_000 })(
    `turns of a team on ${store}`,
    (it) => {
      it.effect("G-01 S3-33 a broadcast that gathers gets all replies together, as one next turn", () =>
        Effect.gen(function* () {
          const { lead, say, team } = yield* crew(3)
          const [one, two, three] = team as [(typeof team)[0], (typeof team)[0], (typeof team)[0]]
          yield* setProgram([
            { when: { agent: lead.name, text: "Reply from" }, say: "good" },
            {
              when: { agent: lead.name },
              call: [{ tool: "send_message", input: { recipient: one.name, text: "Ask the others." } }],
            },
            {
              when: { agent: one.name, text: "Reply from" },
              call: [{ tool: "complete", input: { result: "They all said yes." } }],
            },
            { when: { agent: one.name }, call: [{ tool: "broadcast", input: { text: "Yes?", gather: "all" } }] },
            {
              when: { agent: two.name },
              call: [{ tool: "send_message", input: { recipient: one.name, text: "yes" } }],
            },
            // What it prints is its answer.
            { when: { agent: three.name }, say: "yes too" },
          ])
          yield* say("begin")
          yield* ended(lead)
          assert.deepInclude((yield* answersOf(one, "broadcast"))[0]!, { recipient_count: 2, waiting_for_reply: true })
          const second = (yield* turnsOf(one))[1]!
          for (const { name } of [two, three]) assert.include(second, `Reply from ${name} (to message `)
          assert.strictEqual((yield* turnsOf(one)).length, 2)
          assert.match((yield* turnsOf(lead))[1]!, /They all said yes\.$/)
        }),
      )

      it.effect(
        "S3-30 S3-17 replies to a broadcast come as one turn each, said or printed, once; a later question stays one",
        () =>
          Effect.gen(function* () {
            const { lead, say, team } = yield* crew(4)
            const [one, two, three, four] = team as Array<(typeof team)[0]> & Record<0 | 1 | 2 | 3, (typeof team)[0]>
            const to = (recipient: string, text: string, more: object = {}) => ({
              tool: "send_message",
              input: { recipient, text, ...more },
            })
            yield* setProgram([
              { when: { agent: one.name, text: "Why do you ask" }, say: "to know" },
              { when: { agent: one.name, text: "begin" }, call: [{ tool: "broadcast", input: { text: "Yes?" } }] },
              { when: { agent: two.name }, call: [to(one.name, "yes")], say: "I have answered." },
              { when: { agent: three.name, text: "Yes\\?" }, say: "yes too" },
              {
                when: { agent: four.name, text: "Yes\\?" },
                call: [to(lead.name, "hm", { sync: false })],
                say: "and me",
              },
              // It has not answered in its turn with a tool; in a later turn, it has a question of its own.
              { when: { agent: three.name, text: "go on" }, call: [to(one.name, "Why do you ask?")] },
              { when: { agent: lead.name, text: "begin" }, call: [to(one.name, "begin", { sync: false })] },
              { when: { agent: lead.name, text: "next" }, call: [to(three.name, "go on", { sync: false })] },
            ])
            yield* say("begin")
            yield* ended(one, 4)
            const [sent] = yield* answersOf(one, "broadcast")
            const turns = yield* turnsOf(one)
            assert.sameMembers(
              turns.slice(1),
              [
                [two, "yes"],
                [three, "yes too"],
                [four, "and me"],
              ].map(
                ([who, said]) =>
                  `Reply from ${(who as typeof two).name} (to message ${String(sent!["message_id"])}):\n${said as string}`,
              ),
            )
            yield* say("next")
            yield* ended(three, 2)
            assert.deepInclude((yield* answersOf(three, "send_message"))[0]!, { waiting_for_reply: true })
            assert.match((yield* turnsOf(one))[4]!, /^Message from /)
            assert.match((yield* turnsOf(three))[2]!, /^Reply from .*\nto know$/)
          }),
      )

      it.effect("S3-27 S3-37 who asks the human is answered by USER, and the human hears what came of it", () =>
        Effect.gen(function* () {
          const { heard, lead, say } = yield* crew(0)
          yield* setProgram([
            { when: { agent: lead.name, text: "Reply from USER" }, say: "It is done." },
            {
              when: { agent: lead.name },
              call: [{ tool: "send_message", input: { recipient: "USER", text: "Shall I?" } }],
              say: "I have asked.",
            },
          ])
          yield* say("begin")
          yield* inState(lead, "waiting_reply")
          yield* say("Yes.")
          yield* ended(lead)
          const [sent] = yield* answersOf(lead, "send_message")
          assert.strictEqual(
            (yield* turnsOf(lead))[1],
            `Reply from USER (to message ${String(sent!["message_id"])}):\nYes.`,
          )
          assert.deepStrictEqual(yield* heard, ["begin", "Shall I?", "Yes.", "It is done."])
        }),
      )

      it.effect("S3-11 a sync request that would close a ring is refused and names it; all of it completes", () =>
        Effect.gen(function* () {
          const { lead, say, team } = yield* crew(2)
          const [one, two] = team as [(typeof team)[0], (typeof team)[0]]
          yield* setProgram([
            { when: { agent: lead.name, text: "Reply from" }, say: "good" },
            { when: { agent: lead.name }, call: [{ tool: "send_message", input: { recipient: one.name, text: "a" } }] },
            { when: { agent: one.name, text: "Reply from" }, say: "one is done" },
            { when: { agent: one.name }, call: [{ tool: "send_message", input: { recipient: two.name, text: "b" } }] },
            {
              when: { agent: two.name },
              call: [{ tool: "send_message", input: { recipient: lead.name, text: "c", sync: true } }],
              say: "two is done",
            },
          ])
          yield* say("begin")
          yield* ended(lead)
          const refused = (yield* answersOf(two, "send_message"))[0]!
          assert.match(JSON.stringify(refused), new RegExp(`${lead.name}, who waits for ${one.name}.*waits for you`))
          // Both had printed their answers.
          assert.match((yield* turnsOf(one))[1]!, /two is done$/)
          assert.match((yield* turnsOf(lead))[1]!, /one is done$/)
        }),
      )

      it.effect(
        "S3-16 empty looks into the inbox while a reply is awaited are answered with a hint, then refused",
        () =>
          Effect.gen(function* () {
            const { lead, say, team } = yield* crew(1)
            const look = { tool: "check_inbox" }
            yield* setProgram([
              { when: { agent: lead.name, text: "Reply from" }, say: "good" },
              {
                when: { agent: lead.name },
                call: [
                  { tool: "send_message", input: { recipient: team[0]!.name, text: "a" } },
                  look,
                  look,
                  look,
                  look,
                ],
              },
              { when: { agent: team[0]!.name }, say: "answer" },
            ])
            yield* say("begin")
            yield* ended(lead)
            const looks = yield* answersOf(lead, "check_inbox")
            for (const one of looks.slice(0, 3)) assert.match(String(one["hint"]), /End your turn now/)
            assert.match(JSON.stringify(looks[3]), /looked 4 times/)
            const slow = (yield* logOf(lead)).filter(({ ms = 0 }) => ms > 5000)
            assert.deepStrictEqual(slow, [])
          }),
      )

      it.effect(
        "S3-62 S3-66 a turn that fails ends the wait, keeps its mail, tells the parent, wakes nobody; a retry has the same mail",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { lead, say, team } = yield* crew(1)
            const worker = team[0]!
            yield* setProgram([
              { when: { agent: lead.name, text: "No reply|failed" }, call: [{ tool: "check_inbox" }], say: "too bad" },
              {
                when: { agent: lead.name },
                call: [{ tool: "send_message", input: { recipient: worker.name, text: "a" } }],
              },
              { when: { agent: worker.name }, fail: "no disk" },
            ])
            yield* say("begin")
            yield* ended(lead)
            const told = (yield* turnsOf(lead)).slice(1).join("\n")
            assert.match(told, new RegExp(`No reply from ${worker.name} \\(to message .*\\):\nIt failed`))
            const seen = JSON.stringify(yield* answersOf(lead, "check_inbox")) + told
            assert.match(seen, new RegExp(`The turn of ${worker.name} failed: .*no disk`))
            const failed = (yield* runsOf(worker))[0]!
            assert.strictEqual(failed.state, "failed")
            // Nothing follows it by itself.
            yield* (yield* Readers).receipt("runs")
            assert.lengthOf(yield* runsOf(worker), 1)
            assert.strictEqual((yield* ask(() => admin.agents.inspect(worker.name))).agent.inbox, 1)
            yield* setProgram([{ say: "now it works" }])
            yield* ask(() => admin.runs.retry(failed.id, {}))
            assert.strictEqual((yield* ended(worker, 2))[1]!.state, "completed")
            const turns = yield* turnsOf(worker)
            assert.strictEqual(turns[1], turns[0])
          }),
      )

      it.effect("S3-28 S3-67 mail sent mid-turn wakes it again; without auto-wake it lies in the inbox", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { lead, say, team } = yield* crew(1)
          const worker = team[0]!
          const tell = (text: string) => ({
            tool: "send_message",
            input: { recipient: worker.name, text, sync: false },
          })
          yield* setProgram([
            { when: { agent: lead.name }, call: [tell("first"), tell("second")], say: "told" },
            { when: { agent: worker.name }, say: "ok" },
          ])
          yield* say("begin")
          yield* ended(lead)
          const all = yield* until(
            Effect.map(turnsOf(worker), (turns) => (turns.join().includes("second") ? turns.join("\n") : undefined)),
          )
          assert.match(all, /first/)
          yield* until(
            Effect.map(runsOf(worker), (rows) => (rows.every(({ state }) => state === "completed") ? true : undefined)),
          )
          const before = (yield* runsOf(worker)).length
          yield* ask(() => admin.agents.change(worker.id, { autoWake: false }))
          yield* say("begin")
          yield* ended(lead, 2)
          assert.strictEqual((yield* runsOf(worker)).length, before)
          assert.strictEqual((yield* ask(() => admin.agents.inspect(worker.name))).agent.inbox, 2)
        }),
      )

      it.effect(
        "S3-54 S3-67 what comes in a turn, when it is busy, starts none beside it, and is told after it, a hundred at a time",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { lead, say } = yield* crew(0)
            yield* setProgram([
              { when: { agent: lead.name, text: "begin" }, hang: true },
              { when: { agent: lead.name }, say: "ok" },
            ])
            yield* say("begin")
            yield* until(Effect.map(logOf(lead), (log) => (log.some(({ hangs }) => hangs) ? true : undefined)))
            const texts = Array.from({ length: 101 }, (_, at) => `mail number ${at}.`)
            yield* Effect.forEach(texts, say, { concurrency: "unbounded" })
            yield* (yield* Readers).receipt("runs")
            const [turn, ...beside] = yield* runsOf(lead)
            assert.deepStrictEqual([turn!.state, beside], ["running", []])
            const { agent } = yield* ask(() => admin.agents.inspect(lead.name))
            assert.deepStrictEqual([agent.inbox, agent.state], [101, "busy"])
            yield* ask(() => admin.runs.cancel(turn!.id))
            assert.lengthOf(yield* ended(lead, 3), 3)
            const told = (yield* turnsOf(lead)).slice(1).map((text) => text.match(/mail number \d+\./g) ?? [])
            assert.deepStrictEqual(
              told.map((mail) => mail.length),
              [100, 1],
            )
            assert.sameMembers(told.flat(), texts)
          }),
      )

      it.effect(
        "G-14 S3-49 S3-54 a held agent waits for a permit, for one run; whoever waits for it is waiting meanwhile",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const { lead, say, team } = yield* crew(1)
            const worker = team[0]!
            yield* ask(() => admin.agents.change(worker.id, { gate: "held" }))
            yield* setProgram([
              { when: { agent: lead.name, text: "Reply from" }, say: "good" },
              {
                when: { agent: lead.name },
                call: [{ tool: "send_message", input: { recipient: worker.name, text: "a" } }],
              },
              { when: { agent: worker.name }, say: "answer" },
            ])
            yield* say("begin")
            yield* inState(lead, "waiting_reply")
            const stateOf = (name: string) =>
              Effect.map(
                ask(() => admin.agents.inspect(name)),
                ({ agent }) => agent.state,
              )
            assert.strictEqual(yield* stateOf(lead.name), "waiting")
            // Whoever only has work before it neither works nor waits.
            assert.strictEqual(yield* stateOf(worker.name), "idle")
            const { items } = yield* ask(() => admin.agents.tree())
            assert.strictEqual(items.find(({ id }) => id === lead.id)!.state, "waiting")
            assert.strictEqual((yield* runsOf(worker))[0]!.state, "queued")
            yield* ask(() => admin.agents.change(worker.id, { gate: "permitted" }))
            yield* ended(lead)
            assert.strictEqual(yield* stateOf(lead.name), "idle")
            assert.strictEqual((yield* ask(() => admin.agents.get(worker.name))).gate, "held")
          }),
      )

      it.effect("S3-49 X-19 whoever ends its turn without an open sync request is idle, not waiting", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { lead, say, team } = yield* crew(1)
          const worker = team[0]!
          yield* ask(() => admin.agents.change(worker.id, { gate: "held" }))
          const input = { recipient: worker.name, text: "No hurry.", sync: false }
          yield* setProgram([{ when: { agent: lead.name }, call: [{ tool: "send_message", input }] }])
          yield* say("begin")
          const run = yield* until(
            Effect.map(runsOf(lead), (rows) =>
              rows.find(({ state }) => state === "completed" || state === "waiting_reply"),
            ),
          )
          assert.deepInclude(run, { state: "completed", step: 1 })
          assert.deepInclude((yield* answersOf(lead, "send_message"))[0]!, { waiting_for_reply: false })
          assert.strictEqual((yield* runsOf(worker))[0]!.state, "queued")
          assert.strictEqual((yield* ask(() => admin.agents.inspect(lead.name))).agent.state, "idle")
        }),
      )
    },
  )
