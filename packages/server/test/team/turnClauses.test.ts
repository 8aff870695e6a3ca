/** Seed 003 clause by clause, on real processes: connections, states, waits that end, sessions, approvals, pauses, budgets. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { toolNames } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, Guest } from "../house.ts"
import { config, dm, ended, inState, runsOf, setRules, thinker, until } from "../runs/runsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { answersOf, crew, logOf, outside, programmed, setProgram, teamHouse, turnsOf, use } from "./teamKit.ts"

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Once a stand-in has come to where it hangs. */
const hanging = Effect.fnUntraced(function* (agent: { readonly name: string }) {
  for (;;) {
    const log = yield* logOf(agent)
    if (log.some(({ hangs }) => hangs)) return log
    yield* Effect.sleep(20)
  }
})

layer(teamHouse({ store: "sqlite", config, env: { STOA_SLOTS: "3" } }), { excludeTestServices: true, timeout: 90_000 })(
  "turns, clause by clause",
  (it) => {
    it.effect(
      "S3-02 S3-03 S3-09 S3-61 X-17 G-29 with every slot held each program has its own connection, and every tool returns at once",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const sql = yield* SqlClient.SqlClient
          const bots = [yield* programmed({ toolsets: ["team"] }), yield* programmed(), yield* programmed()]
          yield* setProgram(
            bots.map(({ name }) => ({
              when: { agent: name },
              list: true as const,
              call: [{ tool: "whoami" }],
              hang: true as const,
            })),
          )
          // They hold every slot: whatever comes, others get them back.
          yield* Effect.addFinalizer(() =>
            Effect.forEach(bots, ({ id }) => Effect.ignore(ask(() => admin.agents.stop(id, {})))),
          )
          for (const { id } of bots) yield* ask(() => admin.agents.trigger(id, { text: "go" }))
          for (const bot of bots) yield* hanging(bot)
          const live = (yield* Effect.forEach(bots, logOf)).flat().flatMap(({ pid }) => pid ?? [])
          assert.deepStrictEqual(live.map(isAlive), [true, true, true])
          const connected = yield* sql`SELECT id FROM tokens WHERE run IS NOT NULL AND revoked_at IS NULL`
          assert.strictEqual(connected.length, live.length)
          const arrived = yield* sql<{ actor: string }>`SELECT actor FROM journal WHERE kind = 'client.connected'`
          assert.deepStrictEqual(
            bots.map(({ id }) => arrived.filter(({ actor }) => actor === id).length),
            [1, 1, 1],
          )
          for (const bot of bots) assert.strictEqual((yield* answersOf(bot, "whoami"))[0]!["name"], bot.name)
          // Nobody can run now; outside programs of a tree use every tool there is.
          const root = yield* outside()
          const [one, two] = [yield* outside(root), yield* outside(root)]
          const sleeper = yield* programmed({ toolsets: ["team"], parent: one.name })
          const name = fresh("new")
          const inputs: Readonly<Record<string, () => object>> = {
            send_message: () => ({ recipient: sleeper.name, text: "wake up" }),
            broadcast: () => ({ text: "who?", gather: "all" }),
            check_inbox: () => ({}),
            spawn_agent: () => ({ name: fresh(name), instructions: "Work." }),
            inspect_agent: () => ({ name: sleeper.name }),
            complete: () => ({ result: "so far" }),
            list_team: () => ({}),
            whoami: () => ({}),
            stop_agent: () => ({ name: sleeper.name }),
            merge_work: () => ({ name: sleeper.name }),
            apply_work: () => ({ name: sleeper.name, commit: "0".repeat(40), diff: "x" }),
          }
          const took: Array<readonly [string, number]> = []
          for (const tool of toolNames.team.filter((one) => one in inputs)) {
            const times: Array<number> = []
            // A machine that does something else for a moment says nothing about a tool.
            for (let tries = 0; tries < 3 && !times.some((ms) => ms < 250); tries++) {
              const began = performance.now()
              yield* use(one, tool, inputs[tool]!() as never)
              times.push(performance.now() - began)
            }
            took.push([tool, Math.min(...times)])
          }
          assert.deepStrictEqual(
            took.filter(([, ms]) => ms >= 250),
            [],
          )
          assert.strictEqual((yield* runsOf(sleeper)).filter(({ state }) => state === "running").length, 0)
          assert.isString((yield* use(two, "whoami"))["name"])
          // Who comes now waits for a slot, and is not refused.
          const late = yield* programmed({ thinker: { command: ["/bin/true"] } })
          yield* ask(() => admin.agents.trigger(late.id, { text: "go" }))
          yield* inState(late, "queued")
          for (const bot of bots) yield* ask(() => admin.agents.stop(bot.id, {}))
          assert.strictEqual((yield* ended(late))[0]!.state, "completed")
          while (live.some(isAlive)) yield* Effect.sleep(20)
          // A turn that was cut is closed after its program has ended.
          const valid = sql`SELECT id FROM tokens WHERE run IS NOT NULL AND revoked_at IS NULL`
          while ((yield* valid).length > 0) yield* Effect.sleep(20)
        }),
    )

    it.effect(
      "S3-14 S3-15 the reply comes without check_inbox, and the prompt says how: at once, next message, no polling",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { lead, say, team } = yield* crew(1)
          yield* ask(() =>
            admin.grants.add({
              principal: lead.id,
              resource: "tools/check_inbox",
              actions: ["execute"],
              effect: "deny",
            }),
          )
          yield* setProgram([
            { when: { agent: lead.name, text: "Reply from" }, say: "good" },
            {
              when: { agent: lead.name },
              list: true,
              call: [{ tool: "send_message", input: { recipient: team[0]!.name, text: "a" } }],
            },
            { when: { agent: team[0]!.name }, say: "the answer" },
          ])
          yield* say("begin")
          const [run] = yield* ended(lead)
          assert.notInclude((yield* logOf(lead)).find(({ tools }) => tools !== undefined)!.tools!, "check_inbox")
          assert.match((yield* turnsOf(lead))[1]!, /^Reply from .*\nthe answer$/)
          const { items } = yield* ask(() => admin.runs.messages(run!.id))
          const system = JSON.stringify(items)
          for (const statement of [
            "Tool calls return immediately with a status.",
            "Replies to sync messages arrive as your next message",
            "Do not loop or poll waiting for replies.",
          ])
            assert.include(system, statement)
        }),
    )

    it.effect(
      "S3-20 whoever is waited for and is killed, is removed or gives no answer ends the wait, with a reason",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { lead, say, team } = yield* crew(3)
          const [killed, removed, silent] = team as [(typeof team)[0], (typeof team)[0], (typeof team)[0]]
          // One that the house does not start has no run whose end could tell of it.
          const guest = yield* outside(lead)
          yield* ask(() => admin.agents.change(removed.id, { gate: "held" }))
          yield* setProgram([
            { when: { agent: lead.name, text: "No reply" }, say: "noted" },
            {
              when: { agent: lead.name },
              call: [...team, guest].map(({ name }) => ({
                tool: "send_message",
                input: { recipient: name, text: "a", ...(name === removed.name ? { timeout_seconds: 900 } : {}) },
              })),
            },
            { when: { agent: killed.name }, hang: true },
            { when: { agent: silent.name } },
          ])
          yield* say("begin")
          const log = yield* hanging(killed)
          yield* inState(lead, "waiting_reply")
          // A wait has no end of its own, unless the message says one.
          const waits = yield* (yield* SqlClient.SqlClient)<{
            principal: string
            openedAt: string
            deadlineAt: string | null
          }>`SELECT p.principal, w.opened_at, w.deadline_at FROM waits w JOIN wait_parties p ON p.wait = w.id
            WHERE w.agent = ${lead.id}`
          assert.sameDeepMembers(
            waits.map(({ deadlineAt, openedAt, principal }) => [
              principal,
              deadlineAt === null ? null : Date.parse(deadlineAt) - Date.parse(openedAt),
            ]),
            [
              [killed.id, null],
              [removed.id, 900_000],
              [silent.id, null],
              [guest.id, null],
            ],
          )
          process.kill(log.find(({ pid }) => pid !== undefined)!.pid!, "SIGKILL")
          yield* until(Effect.map(inState(removed, "queued"), () => true))
          yield* ask(() => admin.agents.stop(removed.id, { remove: true }))
          yield* ask(() => admin.agents.stop(guest.id, { remove: true }))
          yield* ended(lead)
          const told = (yield* turnsOf(lead)).slice(1).join("\n\n")
          for (const { name } of [killed, removed, guest])
            assert.match(
              told,
              new RegExp(`No reply from ${name} \\(to message .*\\):\nIt failed, was stopped, or has left`),
            )
          assert.match(
            told,
            new RegExp(`No reply from ${silent.name} \\(to message .*\\):\nIt ended its turn without an answer`),
          )
          assert.deepStrictEqual(
            yield* (yield* SqlClient.SqlClient)`SELECT id FROM waits WHERE agent = ${lead.id} AND state = 'open'`,
            [],
          )
          // Each ended with its event. The watchdog, which would have ended them some time later, had nothing to repair.
          assert.deepStrictEqual(yield* (yield* SqlClient.SqlClient)`SELECT name FROM repairs`, [])
        }),
    )

    it.effect(
      "S3-47 S3-48 a child is idle, busy and waiting in turn, as its parent sees it; others are not inspected",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const root = yield* outside()
          const [child, other] = [yield* programmed({ toolsets: ["team"], parent: root.name }), yield* outside(root)]
          const look = Effect.map(use(root, "inspect_agent", { name: child.name }), (seen) => seen["state"])
          yield* setProgram([
            { when: { agent: child.name, text: "hang" }, hang: true },
            { when: { agent: child.name, text: "Reply from" }, say: "done" },
            {
              when: { agent: child.name },
              call: [{ tool: "send_message", input: { recipient: root.name, text: "And?" } }],
            },
          ])
          assert.strictEqual(yield* look, "idle")
          yield* use(root, "send_message", { recipient: child.name, text: "hang", sync: false })
          yield* hanging(child)
          assert.strictEqual(yield* look, "busy")
          yield* use(root, "stop_agent", { name: child.name })
          yield* ended(child)
          yield* use(root, "send_message", { recipient: child.name, text: "ask me", sync: false })
          yield* inState(child, "waiting_reply")
          const seen = yield* use(root, "inspect_agent", { name: child.name })
          assert.strictEqual(seen["state"], "waiting")
          assert.deepStrictEqual(
            (seen["recent_messages"] as ReadonlyArray<{ text: string }>).map(({ text }) => text),
            ["hang", "ask me", "And?"],
          )
          yield* use(root, "send_message", { recipient: child.name, text: "Then." })
          yield* ended(child, 2)
          assert.strictEqual(yield* look, "idle")
          // The reply is among what was written to it, though it went to a turn and not to the inbox.
          const then = yield* use(root, "inspect_agent", { name: child.name })
          assert.deepInclude((then["recent_messages"] as ReadonlyArray<object>).at(-1)!, {
            from: root.name,
            to: child.name,
            text: "Then.",
          })
          for (const [who, name] of [
            [other, child.name],
            [other, root.name],
          ] as const)
            assert.match(String((yield* use(who, "inspect_agent", { name }))["message"]), /only your own children/)
          yield* ask(() => admin.agents.stop(child.id, { remove: true }))
        }),
    )

    it.effect(
      "S3-22 S3-07 the second turn resumes the program's own session, and no prompt of the program can hang it",
      () =>
        Effect.gen(function* () {
          const { admin, configFile } = yield* Guest
          const bin = join(dirname(configFile), fresh("bin"))
          mkdirSync(bin)
          // A stand-in for Claude Code that remembers by its session, and gives each turn a new one that goes on with it.
          writeFileSync(
            join(bin, "claude"),
            `#!/bin/sh
echo "$@" >> ${bin}/lines
mail=$(cat)
resumed=$(echo "$@" | sed -n 's/.*--resume \\([^ ]*\\).*/\\1/p')
session=ses-$(($(ls ${bin} | wc -l)))
earlier=$(echo $(cat ${bin}/$resumed 2>/dev/null))
(echo $earlier; echo "$mail" | tail -1) > ${bin}/$session
printf '{"type":"result","session_id":"%s","result":"before: %s","is_error":false}\\n' "$session" "$earlier"
`,
          )
          chmodSync(join(bin, "claude"), 0o755)
          const ada = yield* someone()
          const bot = yield* programmed()
          const thinkerOf = { kind: "program", program: "claude", env: { PATH: `${bin}:/usr/bin:/bin` } } as const
          yield* ask(() => admin.agents.change(bot.id, { thinker: thinkerOf }))
          const space = yield* dm(ada, bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "the word is heron" }))
          yield* ended(bot)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "which word?" }))
          yield* ended(bot, 2)
          const { items } = yield* ask(() => ada.client.spaces.messages(space.id))
          assert.strictEqual(items.at(-1)!.text, "before: the word is heron")
          yield* ask(() => ada.client.spaces.post(space.id, { text: "and now?" }))
          yield* ended(bot, 3)
          const newest = (yield* ask(() => ada.client.spaces.messages(space.id))).items.at(-1)!
          assert.strictEqual(newest.text, "before: the word is heron which word?")
          const [first, second, third] = readFileSync(join(bin, "lines"), "utf8")
            .trim()
            .split(/\n(?=-p)/)
          assert.notInclude(first!, "--resume")
          const resumed = [second, third].map((line) => /--resume (ses-\d+)/.exec(line!)?.[1])
          const { session } = (yield* ask(() => admin.agents.inspect(bot.id))).agent
          assert.match(session!, /^ses-\d+$/)
          assert.strictEqual(new Set([...resumed, session]).size, 3, String(resumed))
          // Print mode, our tools allowed beforehand, no other servers: nothing waits for a person at a terminal.
          for (const flag of ["-p", "--strict-mcp-config", "--allowedTools mcp__stoa"]) assert.include(first!, flag)
        }),
    )

    it.effect("X-16 the same approval: a program is told in its next turn, a model gets it as the tool's result", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const tool = fresh("grave").replaceAll("-", "_")
        yield* ask(() =>
          admin.tools.add({
            name: tool,
            description: "Does something grave.",
            inputSchema: { type: "object" },
            executionType: "internal",
            execution: { output: { sealed: "yes" } },
            requiresApproval: true,
          }),
        )
        const ada = yield* someone()
        const [bot, mind] = [yield* programmed(), yield* thinker()]
        yield* setProgram([
          { when: { agent: bot.name, text: "Result of" }, say: "I know." },
          { when: { agent: bot.name }, call: [{ tool }], say: "I wait." },
        ])
        yield* setRules([
          { when: { agent: mind.name, step: 1 }, call: [{ tool, input: {} }] },
          { when: { agent: mind.name, tool, outcome: "done" }, say: "I know." },
        ])
        for (const one of [bot, mind]) {
          const space = yield* dm(ada, one)
          yield* ask(() => ada.client.spaces.post(space.id, { text: "do it" }))
          yield* inState(one, "waiting_tool")
          const open = (yield* ask(() => admin.decisions.list({ state: "open" }))).items.find(
            ({ call }) => call?.tool === tool,
          )!
          yield* ask(() => admin.decisions.answer(open.id, { verdict: "approve" }))
          const [run] = yield* ended(one)
          assert.deepInclude(run!, { state: "completed", step: 2 })
        }
        const [pending] = yield* answersOf(bot, tool)
        assert.deepInclude(pending!, { state: "waiting" })
        assert.match((yield* turnsOf(bot))[1]!, new RegExp(`^Result of ${tool} \\(call .*\\):\n.*sealed.*yes`))
        // One turn a process: the first was over when the answer came.
        assert.strictEqual(new Set((yield* logOf(bot)).flatMap(({ pid }) => pid ?? [])).size, 2)
      }),
    )

    it.effect("a pause of an agent cuts the running turn of who works for it, and its calls are refused", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const root = yield* outside()
        const middle = yield* outside(root)
        const child = yield* programmed({ toolsets: ["team"], parent: middle.name })
        yield* setProgram([{ when: { agent: child.name }, child: true, hang: true }])
        yield* use(middle, "send_message", { recipient: child.name, text: "go", sync: false })
        const pids = (yield* hanging(child)).flatMap(({ child: made, pid }) => [made ?? [], pid ?? []].flat())
        yield* ask(() => admin.pauses.set({ subject: `agents/${root.name}`, reason: "enough" }))
        const [run] = yield* ended(child)
        assert.deepInclude(run!, { state: "canceled", stop: "paused" })
        while (pids.some(isAlive)) yield* Effect.sleep(20)
        const refused = yield* Effect.flip(ask(() => middle.client.tools.call("whoami", { input: {} })))
        assert.match((refused as Error).message, /paused/)
        // Mail comes in, and starts nothing until the pause is lifted.
        yield* setProgram([{ when: { agent: child.name }, say: "on again" }])
        yield* ask(() => admin.agents.say(child.id, { text: "still there?" }))
        yield* inState(child, "queued")
        yield* ask(() => admin.pauses.lift(`agents/${root.name}`))
        assert.strictEqual((yield* ended(child, 2))[1]!.state, "completed")
      }),
    )
  },
)
