/** Turns of programs, on real processes: a person writes, the program answers by a tool or by what it prints. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { databases } from "../../../../test/long.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended, inState, runsOf, until } from "../runs/runsKit.ts"
import { someone, statusOf } from "../spaces/spacesGuests.ts"
import { answersOf, logOf, programmed, setProgram, teamHouse, turnsOf } from "./teamKit.ts"

const texts = (page: { readonly items: ReadonlyArray<{ readonly text: string }> }) => page.items.map(({ text }) => text)
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

for (const store of databases)
  layer(teamHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(`turns of programs on ${store}`, (it) => {
    it.effect("a person writes, the program reads its mail, calls a tool of the house and is done", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* programmed()
        const space = yield* dm(ada, bot)
        yield* setProgram([
          {
            list: true,
            call: [{ tool: "whoami" }, { tool: "post_message", input: { space: space.id, text: "Hello, Ada." } }],
            say: "I have said hello.",
          },
        ])
        const asked = yield* ask(() => ada.client.spaces.post(space.id, { text: "hello there" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", stop: "end_turn", step: 1 })
        assert.deepStrictEqual(texts(yield* ask(() => ada.client.spaces.messages(space.id))), [
          "hello there",
          "Hello, Ada.",
        ])
        assert.deepStrictEqual(yield* turnsOf(bot), [
          `Message from ${ada.name} (message ${asked.id.slice(4)}):\nhello there`,
        ])
        assert.strictEqual((yield* answersOf(bot, "whoami"))[0]!["name"], bot.name)
        // Its calls are its run's, at their places; its words are the step's.
        const sql = yield* SqlClient.SqlClient
        const calls = yield* sql`SELECT tool, step, place, state FROM calls WHERE run = ${row!.id} ORDER BY place`
        assert.deepStrictEqual(calls, [
          { tool: "whoami", step: 1, place: 1, state: "done" },
          { tool: "post_message", step: 1, place: 2, state: "done" },
        ])
        const steps = yield* ask(() => admin.runs.steps(row!.id))
        assert.deepStrictEqual(
          steps.items.map(({ finish, model, state, text }) => [state, model, text, finish]),
          [["said", "program:command", "I have said hello.", "stop, unisolated"]],
        )
        // Whoever looks at the run sees them as those of a model are seen.
        assert.deepStrictEqual(
          steps.items[0]!.calls.map(({ input, place, state, tool }) => [place, tool, input, state]),
          [
            [1, "whoami", {}, "done"],
            [2, "post_message", { space: space.id, text: "Hello, Ada." }, "done"],
          ],
        )
        const tools = (yield* logOf(bot)).flatMap((entry) => entry.tools ?? [])
        assert.include(tools, "post_message")
        assert.notInclude(tools, "read_file")
        assert.notInclude(tools, "write_file")
      }),
    )

    it.effect("its environment is small, its token is dead after the turn, and nobody reads it in what was said", () =>
      Effect.gen(function* () {
        const { folder } = yield* Guest
        const ada = yield* someone()
        const bot = yield* programmed()
        const space = yield* dm(ada, bot)
        yield* setProgram([{ leak: true }])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
        const [row] = yield* ended(bot)
        assert.strictEqual(row!.state, "completed")
        const [entry] = yield* logOf(bot)
        const { env = [] } = entry!
        for (const name of ["STOA_MCP_CONFIG", "STOA_TOKEN", "STOA_URL", "STOA_AGENT", "PATH"])
          assert.include(env, name)
        const known =
          /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|SSL_\w+|NODE_EXTRA_CA_CERTS|STOA_(MCP_CONFIG|TOKEN|URL|AGENT|INSTRUCTIONS)|PWD|SHLVL|_|OLDPWD)$/
        assert.deepStrictEqual(
          env.filter((name) => !known.test(name)),
          [],
        )
        const sql = yield* SqlClient.SqlClient
        const tokens = yield* sql`SELECT id FROM tokens WHERE run = ${row!.id} AND revoked_at IS NULL`
        assert.deepStrictEqual(tokens, [])
        const step = yield* sql<{ content: string }>`SELECT content FROM steps WHERE run = ${row!.id}`
        assert.notMatch(step[0]!.content, /stoa_/)
        assert.isFalse(existsSync(join(folder, "turns", `${row!.id}.1`)))
      }),
    )

    it.effect("what it prints is its answer, where it has sent none", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bot = yield* programmed()
        const space = yield* dm(ada, bot)
        yield* setProgram([{ say: "It is noon.\n" }])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "what time is it?" }))
        yield* ended(bot)
        assert.deepStrictEqual(texts(yield* ask(() => ada.client.spaces.messages(space.id))), [
          "what time is it?",
          "It is noon.",
        ])
      }),
    )

    it.effect("S3-62 a crash and a hang fail that turn only, free the slot and leave no process behind", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bot = yield* programmed({ thinker: { turnSeconds: 3 } })
        const space = yield* dm(ada, bot)
        yield* setProgram([
          { when: { agent: bot.name, text: "crash" }, fail: "out of cheese" },
          { when: { agent: bot.name, text: "hang" }, child: true, hang: true },
          { when: { agent: bot.name, text: "much" }, print: 9 * 1024 * 1024 },
          { say: "fine" },
        ])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "crash, please" }))
        const [crashed] = yield* ended(bot)
        assert.deepInclude(crashed!, { state: "failed", stop: "error" })
        assert.match(crashed!.failure!, /exit code 3: out of cheese/)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "hang, please" }))
        const hung = (yield* ended(bot, 2))[1]!
        assert.match(hung.failure!, /did not end its turn within 3 seconds/)
        const pids = (yield* logOf(bot)).flatMap(({ child, pid }) => [child, pid]).filter((pid) => pid !== undefined)
        assert.deepStrictEqual(pids.filter(isAlive), [])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "print much" }))
        assert.match((yield* ended(bot, 3))[2]!.failure!, /more than 8 MiB/)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "again" }))
        assert.strictEqual((yield* ended(bot, 4))[3]!.state, "completed")
        const sql = yield* SqlClient.SqlClient
        const states = yield* sql`SELECT s.state, s.finish FROM steps s JOIN runs r ON r.id = s.run
          WHERE r.agent = ${bot.id} ORDER BY s.run`
        assert.deepStrictEqual(states, [
          { state: "cut", finish: "failed" },
          { state: "cut", finish: "failed" },
          { state: "cut", finish: "failed" },
          { state: "said", finish: "stop, unisolated" },
        ])
      }),
    )

    it.effect("a run that is cancelled ends its program, and the token with it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* programmed()
        const space = yield* dm(ada, bot)
        yield* setProgram([{ child: true, hang: true }])
        yield* ask(() => ada.client.spaces.post(space.id, { text: "hello" }))
        const row = yield* inState(bot, "running")
        const log = yield* Effect.gen(function* () {
          for (;;) {
            const seen = yield* logOf(bot)
            if (seen.some(({ hangs }) => hangs)) return seen
            yield* Effect.sleep(20)
          }
        })
        yield* ask(() => admin.runs.cancel(row.id))
        const sql = yield* SqlClient.SqlClient
        yield* until(
          Effect.map(sql<{ state: string }>`SELECT state FROM steps WHERE run = ${row.id}`, (steps) =>
            steps[0]?.state === "cut" ? true : undefined,
          ),
        )
        const pids = log.flatMap(({ child, pid }) => [child, pid]).filter((pid) => pid !== undefined)
        assert.deepStrictEqual(pids.filter(isAlive), [])
        const tokens = yield* sql`SELECT id FROM tokens WHERE run = ${row.id} AND revoked_at IS NULL`
        assert.deepStrictEqual(tokens, [])
        assert.strictEqual((yield* runsOf(bot))[0]!.state, "canceled")
      }),
    )

    it.effect("only who rules the house names a program", () =>
      Effect.gen(function* () {
        const ada = yield* someone()
        const bot = yield* someone("agent")
        const thinker = { kind: "program", program: "command", command: ["/bin/true"] } as const
        assert.strictEqual(yield* statusOf(() => ada.client.agents.change(bot.id, { thinker })), 403)
        assert.strictEqual(yield* statusOf(() => bot.client.agents.change(bot.id, { thinker })), 403)
        // How it is started is shown to nobody else: a key may stand in its environment.
        const { admin } = yield* Guest
        const whole = { ...thinker, env: { KEY: "sk-1234" }, links: [{ path: "/srv/private" }] }
        assert.deepStrictEqual((yield* ask(() => admin.agents.change(bot.id, { thinker: whole }))).thinker, whole)
        assert.deepStrictEqual((yield* ask(() => admin.agents.get(bot.id))).thinker, whole)
        for (const who of [ada, bot])
          assert.deepStrictEqual((yield* ask(() => who.client.agents.get(bot.id))).thinker, {
            ...thinker,
            command: ["true"],
          })
      }),
    )
  })
