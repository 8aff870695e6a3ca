/** Live probes of the box: what a program reaches without a network, through links, and after its end. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { findBubblewrap } from "../../src/programs/isolation.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended, inState, until } from "../runs/runsKit.ts"
import { fresh, someone } from "../spaces/spacesGuests.ts"
import { programmed, teamHouse } from "./teamKit.ts"

const here = fileURLToPath(new URL(".", import.meta.url))
const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url))
const bwrap = findBubblewrap(process.getuid?.() === 0)

const shell = (script: string) => ({ program: "command", command: ["/bin/sh", "-c", script] })

interface Result {
  readonly protocolVersion?: string
  readonly structuredContent?: Readonly<Record<string, unknown>>
}
interface Heard {
  readonly id?: string | number
  readonly result?: Result
  readonly error?: { readonly code: number; readonly message: string }
}
interface Logged {
  readonly tool?: string
  readonly tools?: ReadonlyArray<string>
  readonly result?: Result
}

/** A folder of the machine, open to whoever the program runs as. */
const openFolder = Effect.gen(function* () {
  const { folder } = yield* Guest
  const path = join(dirname(folder), fresh("open"))
  mkdirSync(path)
  chmodSync(path, 0o777)
  return path
})

/** What a program said to whoever wrote to it. */
const told = Effect.fnUntraced(function* (thinker: object, toolsets: ReadonlyArray<"stoa" | "team"> = ["stoa"]) {
  const ada = yield* someone()
  const bot = yield* programmed({ thinker, toolsets })
  const space = yield* dm(ada, bot)
  yield* ask(() => ada.client.spaces.post(space.id, { text: "look" }))
  const [row] = yield* ended(bot)
  assert.deepInclude(row!, { state: "completed", failure: null })
  const { items } = yield* ask(() => ada.client.spaces.messages(space.id))
  return { bot, said: items.at(-1)!.text.split("\n") }
})

const bridge = "/run/stoa/node --no-warnings /run/stoa/bridge/main.ts"
const lines = (...messages: ReadonlyArray<object>) =>
  messages.map((message) => `'${JSON.stringify({ jsonrpc: "2.0", ...message })}'`).join(" ")
const hello = {
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "sh", version: "1" } },
}

describe.skipIf(bwrap === undefined)("what a program in a box reaches", () => {
  layer(teamHouse({ store: "sqlite", env: { STOA_PROGRAMS: "isolated" } }), {
    excludeTestServices: true,
    timeout: 60_000,
  })((it) => {
    it.effect("S3-51 S3-70 the system is read-only, nothing else is written to, and the network is off", () =>
      Effect.gen(function* () {
        const { url } = yield* Guest
        const open = yield* openFolder
        const { port } = new URL(url)
        const dial = `if bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null; then echo dialled; else echo cut; fi`
        const probe = `echo x 2>/dev/null > /usr/made || echo ro; echo x 2>/dev/null > /etc/made || echo ro;
          echo x 2>/dev/null > ${open}/made || echo absent; echo x > inside && echo written; ls /proc | grep -c '^[0-9]';
          ${dial}`
        const cut = (yield* told(shell(probe))).said
        assert.deepStrictEqual([...cut.slice(0, 4), cut.at(-1)], ["ro", "ro", "absent", "written", "cut"])
        // It sees the processes of its box alone.
        assert.isBelow(Number(cut[4]), 10)
        assert.deepStrictEqual(readdirSync(open), [])
        assert.strictEqual((yield* told({ ...shell(dial), network: true })).said.at(-1), "dialled")
      }),
    )

    it.effect("S3-71 a link is read-only or read-write; two share a folder with different rights", () =>
      Effect.gen(function* () {
        const { admin, folder } = yield* Guest
        const [seen, shared] = [yield* openFolder, yield* openFolder]
        writeFileSync(join(seen, "text"), "read me")
        const links = [{ path: seen }, { path: shared, write: true }]
        const writer = shell(`cat ${seen}/text; echo; echo no 2>/dev/null > ${seen}/made || echo refused;
          rm -f ${seen}/text 2>/dev/null || echo kept; echo yes > ${shared}/made && echo written`)
        assert.deepStrictEqual((yield* told({ ...writer, links })).said, ["read me", "refused", "kept", "written"])
        assert.strictEqual(readFileSync(join(shared, "made"), "utf8"), "yes\n")
        // Another reads what the first wrote, and cannot change it, not by remounting either.
        const reader = shell(`cat ${shared}/made; echo no 2>/dev/null > ${shared}/made || echo refused;
          mount -o remount,rw,bind ${shared} 2>/dev/null || echo bound; ln -s ${seen} way; cat way/text 2>/dev/null || echo gone`)
        const second = yield* told({ ...reader, links: [{ path: shared }] })
        assert.deepStrictEqual(second.said, ["yes", "refused", "bound", "gone"])
        // No link shows the house's own data, or a folder that has it.
        for (const path of [folder, dirname(folder), join(folder, "workspaces")]) {
          const bot = yield* programmed({ thinker: { ...shell("true"), links: [{ path }] } })
          yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
          assert.match((yield* ended(bot))[0]!.failure!, /leads to the house's own data/)
        }
      }),
    )

    it.effect("S3-70 it dies with its turn, and whatever it started in a session of its own", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const mark = `86399.${String(process.pid).padStart(7, "0")}`
        const bot = yield* programmed({ thinker: shell(`setsid sleep ${mark} & touch begun; sleep ${mark}`) })
        const { folder } = yield* Guest
        yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
        const { id } = yield* inState(bot, "running")
        const sleeping = () =>
          readdirSync("/proc").filter((pid) => {
            try {
              const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
              return args[0]!.endsWith("sleep") && args[1] === mark
            } catch {
              return false
            }
          })
        while (!existsSync(join(folder, "workspaces", bot.id.slice(4), "begun")) || sleeping().length < 2)
          yield* Effect.sleep(20)
        yield* ask(() => admin.runs.cancel(id))
        while (sleeping().length > 0) yield* Effect.sleep(20)
      }),
    )

    it.effect("S3-05 a program reads its own configuration in the box, and cannot change it or put another there", () =>
      Effect.gen(function* () {
        const script = `test -r "$STOA_MCP_CONFIG" && echo read; echo '{}' 2>/dev/null > "$STOA_MCP_CONFIG" || echo refused;
          rm -f "$STOA_MCP_CONFIG" 2>/dev/null || echo kept; chmod 666 "$STOA_MCP_CONFIG" 2>/dev/null || echo closed;
          touch "$(dirname "$STOA_MCP_CONFIG")/more" 2>/dev/null || echo "no more"; grep -o '"mcpServers"' "$STOA_MCP_CONFIG"`
        assert.deepStrictEqual((yield* told(shell(script))).said, [
          "read",
          "refused",
          "kept",
          "closed",
          "no more",
          '"mcpServers"',
        ])
      }),
    )

    it.effect("S3-72 S3-77 the house is there by a socket: lines of JSON, the id echoed, an error with its code", () =>
      Effect.gen(function* () {
        const script = `printf '%s\\n' 'no json' ${lines(
          hello,
          { method: "notifications/initialized" },
          { id: 7, method: "tools/call", params: { name: "whoami", arguments: {} } },
          { id: "x", method: "no/such" },
        )} | ${bridge}`
        const { bot, said } = yield* told(shell(script))
        const heard = said.map((line) => JSON.parse(line) as Heard)
        const byId = (id: unknown) => heard.find((one) => one.id === id)
        assert.strictEqual(byId("first")?.result?.protocolVersion, "2025-06-18")
        assert.strictEqual(byId(7)?.result?.structuredContent?.["name"], bot.name)
        assert.strictEqual(byId("x")?.error?.code, -32601)
        assert.isString(byId("x")?.error?.message)
        // What is no JSON has an error of its own; what wants no answer has none.
        assert.deepStrictEqual(
          heard.map((one) => one.error?.code ?? 0).toSorted((a, b) => a - b),
          [-32700, -32601, 0, 0],
        )
      }),
    )

    it.effect("the socket lets the turn's own token in and no other, and is gone with the turn", () =>
      Effect.gen(function* () {
        const { adminToken, folder, url } = yield* Guest
        const dialled = (headers: string, whole = false) => `/run/stoa/node -e '
          require("node:http").get({ socketPath: process.env.STOA_SOCKET, path: "/api/v1/whoami", headers: ${headers} },
            (answer) => { ${whole ? "answer.pipe(process.stdout)" : "console.log(answer.statusCode); answer.resume()"} })'`
        const script = [
          dialled("{ host: process.env.STOA_URL.slice(7) }"),
          dialled(`{ authorization: "Bearer ${adminToken}" }`, true),
          "echo",
          dialled(`{ authorization: "Bearer " + process.env.STOA_TOKEN }`),
          `stat -c %a "$STOA_SOCKET"`,
          // Nor is its identity its own to change (S3-05 in its box).
          `echo x 2>/dev/null > "$STOA_MCP_CONFIG" || echo kept`,
          `mv "$STOA_MCP_CONFIG" other 2>/dev/null || echo kept`,
          `rm -f "$STOA_SOCKET" 2>/dev/null || echo kept`,
        ].join("; ")
        const { bot, said } = yield* told(shell(script))
        assert.isTrue(url.startsWith("http://"))
        assert.strictEqual(said[0], "401")
        assert.deepInclude(JSON.parse(said[1]!), { status: 401, tag: "Unauthenticated", reason: "refused" })
        assert.notStrictEqual(said[2], "401")
        assert.deepStrictEqual(said.slice(3), ["600", "kept", "kept", "kept"])
        assert.deepStrictEqual(readdirSync(join(folder, "turns")), [])
        // An auditor sees that it came with a token of somebody else.
        const { admin } = yield* Guest
        const tried = { action: "authenticate", result: "denied", rule: "not the token of this turn" } as const
        const listed = ask(() => admin.audit.list({ principal: bot.id, result: "denied" }))
        const denied = yield* until(Effect.map(listed, ({ items }) => items[0]))
        assert.deepInclude(denied, tried)
      }),
    )

    it.effect("S3-01 S3-05 a stock MCP client works without a network, by the configuration it was given", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const open = yield* openFolder
        const rules = join(open, "program.json")
        const forged = { tool: "whoami", input: { agent_id: "prn_other", name: "somebody" } }
        writeFileSync(
          rules,
          JSON.stringify({ rules: [{ list: true, call: [{ tool: "whoami" }, forged], say: "done" }] }),
        )
        const links = [
          { path: dirname(process.execPath) },
          { path: modules },
          { path: join(here, "standIn.mjs") },
          { path: open, write: true },
        ]
        const command = [process.execPath, join(here, "standIn.mjs"), rules]
        const bot = yield* programmed({ toolsets: ["team"], thinker: { program: "command", command, links } })
        yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
        const [row] = yield* ended(bot)
        assert.deepInclude(row!, { state: "completed", failure: null })
        const log = readFileSync(`${rules}.log`, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Logged)
        assert.include(log.find(({ tools }) => tools !== undefined)!.tools!, "send_message")
        const [mine, claimed] = log.filter((one) => one.tool === "whoami")
        assert.strictEqual(mine!.result?.structuredContent?.["name"], bot.name)
        // A name in the arguments is none of the tool's: refused, or without effect.
        assert.notInclude(JSON.stringify(claimed), `"name":"somebody"`)
      }),
    )

    it.effect("what a program keeps at home is there in its next turn, and in no other's", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const open = yield* openFolder
        const links = [{ path: open, write: true }]
        const script = `cat ~/kept >> ${open}/seen 2>/dev/null; echo "$STOA_AGENT" > ~/kept; ls /root /home >/dev/null 2>&1 && echo seen`
        const [one, two] = [
          yield* programmed({ thinker: { ...shell(script), links } }),
          yield* programmed({ thinker: { ...shell(script), links } }),
        ]
        for (const [bot, turn] of [
          [one, 1],
          [two, 1],
          [one, 2],
        ] as const) {
          yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
          yield* until(Effect.map(ended(bot, turn), (rows) => (rows.length >= turn ? true : undefined)))
        }
        assert.strictEqual(readFileSync(join(open, "seen"), "utf8"), `${one.name}\n`)
      }),
    )
  })
})
