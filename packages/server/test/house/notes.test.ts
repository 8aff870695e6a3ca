/** What is configured and names something that does not exist yet: warned about where it is configured, and by the doctor. */
import { writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"

const logged: Array<string> = []
const nowhere = "no-such-program-on-this-machine"

const base = { description: "Does it.", inputSchema: {} }
const weather = (name: string, secret: string) => ({
  ...base,
  name,
  executionType: "gateway",
  execution: { url: "https://api.example.com/", headers: { authorization: `Bearer \${secret.${secret}}` } },
})
const asAgent = (name: string, agent: string) => ({
  ...base,
  name,
  executionType: "gateway",
  execution: { agentConfig: { agent } },
})
const file = {
  env: ["NOBODY_SETS_THIS"],
  people: [{ name: "Ada" }],
  tools: [
    weather("weather", "WEATHER"),
    {
      ...base,
      name: "hook",
      executionType: "external",
      execution: { webhookUrl: "https://hooks.example.com/${env.NOBODY_SETS_THIS}", signingSecret: "SIGNING" },
    },
    asAgent("find", "findr"),
    asAgent("person", "Ada"),
    asAgent("works", "coder"),
  ],
  mcpServers: {
    notes: { command: nowhere, env: { KEY: "${secret.NOTES}", HOME: "${env.HOME}" } },
    crm: { url: "http://127.0.0.1:9/mcp", headers: { authorization: "${secret.CRM}" } },
  },
  agents: [
    {
      name: "coder",
      thinker: { kind: "program", program: "command", command: [`/${nowhere}`], env: { K: "${secret.K}" } },
    },
    { name: "there", thinker: { kind: "program", program: "command", command: ["sh"] } },
    { name: "inside", thinker: { kind: "program", program: "command", command: ["./bin/of-its-workspace"] } },
  ],
  models: { fast: { provider: "openai", model: "x", apiKey: "${secret.FAST}" } },
}
const ofSecret = (whose: string, name: string) =>
  `${whose} needs the secret "${name}", which is not set; an admin has to set it.`
const noAgent = (tool: string, agent: string) =>
  `The tool "${tool}" works as the agent "${agent}", which does not exist; an admin has to add that agent, or correct agentConfig.agent.`
const told = {
  tools: [
    noAgent("find", "findr"),
    ofSecret('The tool "hook"', "SIGNING"),
    'The tool "hook" needs the environment variable NOBODY_SETS_THIS, which is not set; set it where the house is started.',
    noAgent("person", "Ada"),
    ofSecret('The tool "weather"', "WEATHER"),
  ],
  servers: [
    ofSecret('The MCP server "crm"', "CRM"),
    ofSecret('The MCP server "notes"', "NOTES"),
    'The MCP server "notes" may not read the environment variable HOME; an operator can list it under "env" in the configuration file.',
    `The MCP server "notes" is the program "${nowhere}", which is not on this machine; install it, or correct its command.`,
  ],
  programs: [
    ofSecret('The agent "coder"', "K"),
    `The agent "coder" is the program "/${nowhere}", which is not on this machine; install it, or change its thinker.`,
  ],
  models: ['The model fast: The secret "FAST" is not set. An operator has to set it.'],
}

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store, logged: (line) => logged.push(line) }), { excludeTestServices: true, timeout: 30_000 })(
    `what is named and not there, on ${store}`,
    (it) => {
      const doctor = Effect.gen(function* () {
        const { admin } = yield* Guest
        const { findings } = yield* ask(() => admin.house.doctor())
        return new Map(findings.map((one) => [one.check, one]))
      })

      it.effect("of the file: told by reload, by the log and by the doctor, until it is there", () =>
        Effect.gen(function* () {
          const { admin, configFile } = yield* Guest
          for (const check of Object.keys(told)) assert.strictEqual((yield* doctor).get(check)?.state, "ok", check)
          writeFileSync(configFile, JSON.stringify({ ...roomy, ...file }))
          const { warnings } = yield* ask(() => admin.house.reload())
          assert.deepStrictEqual(warnings, Object.values(told).flat())
          for (const warning of warnings) assert.include(logged, `${configFile}: ${warning}`)
          const found = yield* doctor
          for (const [check, notes] of Object.entries(told))
            assert.deepInclude(found.get(check), { state: "warn", detail: notes.join(" ") })
          // A server that cannot be reached has its own need on the page; it is not said twice.
          const { needs } = yield* ask(() => admin.house.figures({}))
          const subjects = needs.filter(({ kind }) => kind === "finding").map(({ subject }) => subject)
          assert.includeMembers(subjects, ["tools", "programs", "models"])
          assert.notInclude(subjects, "servers")

          for (const name of ["WEATHER", "SIGNING", "NOTES", "CRM", "K", "FAST"])
            yield* ask(() => admin.secrets.set(name, { value: "long enough to be one" }))
          yield* ask(() => admin.principals.add({ kind: "agent", name: "findr" }))
          const left = (yield* ask(() => admin.house.reload())).warnings
          assert.deepStrictEqual(left, [
            told.tools[2]!,
            told.tools[3]!,
            told.servers[2]!,
            told.servers[3]!,
            told.programs[1]!,
          ])
          writeFileSync(configFile, JSON.stringify(roomy))
          assert.deepStrictEqual((yield* ask(() => admin.house.reload())).warnings, [])
          for (const check of Object.keys(told)) assert.strictEqual((yield* doctor).get(check)?.state, "ok", check)
        }),
      )

      it.effect(
        "a model that is removed while an agent has it: told by reload and doctor, and by the run that fails",
        () =>
          Effect.gen(function* () {
            const { admin, configFile } = yield* Guest
            const models = { swift: { provider: "openai-compatible", model: "x", baseUrl: "http://127.0.0.1:9/v1" } }
            writeFileSync(configFile, JSON.stringify({ ...roomy, models }))
            yield* ask(() => admin.house.reload())
            const { id } = yield* ask(() => admin.principals.add({ kind: "agent", name: "Toby" }))
            yield* ask(() => admin.agents.change(id, { model: ["swift"] }))
            assert.deepStrictEqual((yield* ask(() => admin.house.reload())).warnings, [])
            writeFileSync(configFile, JSON.stringify(roomy))
            const gone =
              'The agent "Toby" thinks with the model "swift", which the configuration file does not declare; give it another, or declare it.'
            assert.deepStrictEqual((yield* ask(() => admin.house.reload())).warnings, [gone])
            assert.deepInclude((yield* doctor).get("models"), { state: "warn", detail: gone })
            const { run } = yield* ask(() => admin.agents.trigger(id, { text: "go" }))
            const ended = yield* ask(() => admin.runs.get(run)).pipe(
              Effect.repeat({ until: ({ state }) => state === "failed" }),
            )
            assert.strictEqual(
              ended.failure,
              'There is no model "swift". An operator declares it under "models" in the configuration file, or gives the agent another one.',
            )
            yield* ask(() => admin.principals.retire(id))
            assert.deepStrictEqual((yield* ask(() => admin.house.reload())).warnings, [])
            assert.deepInclude((yield* doctor).get("models"), { state: "ok" })
          }),
      )

      it.effect("of one that is added, changed or looked at: told in the answer, to those who may change it", () =>
        Effect.gen(function* () {
          const { admin, as, configFile } = yield* Guest
          const added = yield* ask(() => admin.tools.add(weather("tides", "TIDES")))
          assert.deepStrictEqual(added.notes, [ofSecret('The tool "tides"', "TIDES")])
          const changed = yield* ask(() => admin.tools.change("tides", asAgent("tides", "nobody here")))
          assert.deepStrictEqual(changed.notes, [noAgent("tides", "nobody here")])
          assert.deepStrictEqual((yield* ask(() => admin.tools.get("tides"))).notes, changed.notes)
          const member = yield* ask(() => admin.principals.add({ kind: "person", name: "Mem" }))
          const { token: theirs } = yield* ask(() => admin.tokens.add({ principal: member.id }))
          assert.notProperty(yield* ask(() => as(theirs).tools.get("tides")), "notes")
          const listed = yield* ask(() => admin.tools.list({ set: "configured" }))
          assert.isTrue(listed.items.every(({ notes }) => notes === undefined))
          yield* ask(() => admin.principals.retire(member.id))
          assert.deepInclude((yield* doctor).get("tools"), { state: "warn", detail: noAgent("tides", "nobody here") })
          yield* ask(() => admin.tools.remove("tides"))

          const bot = yield* ask(() => admin.principals.add({ kind: "agent", name: "bot" }))
          const thinker = { kind: "program", program: "command", command: [nowhere] } as const
          const missing = `The agent "bot" is the program "${nowhere}", which is not on this machine; install it, or change its thinker.`
          assert.deepStrictEqual((yield* ask(() => admin.agents.change(bot.id, { thinker }))).notes, [missing])
          const { token } = yield* ask(() => admin.tokens.add({ principal: bot.id }))
          assert.notProperty(yield* ask(() => as(token).agents.get(bot.id)), "notes")
          yield* ask(() => admin.principals.retire(bot.id))

          writeFileSync(configFile, JSON.stringify({ ...roomy, models: file.models }))
          yield* ask(() => admin.secrets.remove("FAST")).pipe(Effect.ignore)
          yield* ask(() => admin.house.reload())
          const mind = yield* ask(() => admin.principals.add({ kind: "agent", name: "mind" }))
          assert.notProperty(yield* ask(() => admin.agents.get("mind")), "notes")
          const thinks = yield* ask(() => admin.agents.change("mind", { model: "fast" }))
          assert.deepStrictEqual(thinks.notes, told.models)
          assert.deepStrictEqual((yield* ask(() => admin.agents.get("mind"))).notes, told.models)
          yield* ask(() => admin.secrets.set("FAST", { value: "long enough to be one" }))
          assert.notProperty(yield* ask(() => admin.agents.get("mind")), "notes")
          writeFileSync(configFile, JSON.stringify(roomy))
          yield* ask(() => admin.house.reload())
          assert.deepStrictEqual((yield* ask(() => admin.agents.get("mind"))).notes, [
            'The agent "mind" thinks with the model "fast", which the configuration file does not declare; give it another, or declare it.',
          ])
          yield* ask(() => admin.principals.retire(mind.id))
          assert.strictEqual((yield* doctor).get("programs")?.state, "ok")
        }),
      )
    },
  )
