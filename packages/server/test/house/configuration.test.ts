/** The configuration file: all of it or nothing, owner of what it declares, stranger to the rest. */
import { rmSync, writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import type { StoaError } from "@stoa/sdk"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, Guest, house, made, roomy } from "../house.ts"

const write = Effect.fnUntraced(function* (content: unknown) {
  const { configFile } = yield* Guest
  writeFileSync(
    configFile,
    typeof content === "string" ? content : JSON.stringify({ ...roomy, ...(content as object) }),
  )
})
const reload = Effect.flatMap(Guest, ({ admin }) => ask(() => admin.house.reload()))
const refusal = (question: Effect.Effect<unknown, unknown, Guest>) =>
  Effect.map(Effect.flip(question), (error) => error as StoaError)
const names = Effect.flatMap(Guest, ({ admin }) =>
  Effect.map(
    ask(() => admin.principals.list({ limit: 100 })),
    ({ items }) => items.map((one) => one.name).filter((name) => name !== "admin"),
  ),
)

const limited = (resource: string) => ({ limits: [{ principal: "*", resource, count: 1_000_000, seconds: 60 }] })

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`configuration on ${store}`, (it) => {
    it.effect("declares, changes and retires; says what it did; a second reload does nothing", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* write({ people: [{ name: "Kim" }], agents: [{ name: "pam", toolsets: ["office"] }, { name: "jim" }] })
        const first = yield* reload
        assert.deepStrictEqual([first.added, first.changed, first.retired], [["Kim", "pam", "jim"], [], []])
        assert.deepStrictEqual(yield* names, ["jim", "Kim", "pam"])
        const journal = yield* Journal
        const end = yield* journal.end
        const again = yield* reload
        assert.deepStrictEqual([again.added, again.changed, again.retired, yield* journal.end], [[], [], [], end])
        const before = yield* ask(() => admin.principals.get("pam"))
        yield* write({
          people: [{ name: "Kim" }],
          agents: [{ name: "pam", toolsets: ["team"], roles: ["agent-basic"] }],
        })
        const second = yield* reload
        assert.deepStrictEqual([second.added, second.changed, second.retired], [[], ["pam"], ["jim"]])
        const after = yield* ask(() => admin.principals.get("pam"))
        assert.deepStrictEqual(
          [after.id, after.toolsets, after.roles, after.source],
          [before.id, ["team"], ["agent-basic"], "file"],
        )
        yield* write({})
        assert.deepStrictEqual((yield* reload).retired.toSorted(), ["Kim", "pam"])
      }),
    )

    it.effect(
      "S4-100 an agent of the file that has no role there is agent-standard, also when its roles are taken out",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const rolesWith = Effect.fnUntraced(function* (roles: object) {
            yield* write({ agents: [{ name: "plain", ...roles }] })
            yield* reload
            return (yield* ask(() => admin.principals.get("plain"))).roles
          })
          assert.deepStrictEqual(yield* rolesWith({}), ["agent-standard"])
          assert.deepStrictEqual(yield* rolesWith({ roles: ["agent-basic"] }), ["agent-basic"])
          assert.deepStrictEqual(yield* rolesWith({}), ["agent-standard"])
          yield* write({})
          yield* reload
        }),
    )

    it.effect("spaces and tools of the file are made, followed, read-only elsewhere, and retired with it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const tool = { name: "motto", description: "Says it.", inputSchema: {}, executionType: "internal" as const }
        const people = [{ name: "Ada" }, { name: "Bob" }]
        yield* write({ people, spaces: [{ name: "lobby", kind: "private", members: ["Ada"] }], tools: [tool] })
        const first = yield* reload
        assert.includeMembers([...first.added], ["spaces/lobby", "tools/motto"])
        const lobby = yield* ask(() => admin.spaces.get("lobby"))
        assert.deepStrictEqual(
          lobby.members.map(({ name }) => name),
          ["Ada"],
        )
        const status = (question: () => Promise<unknown>) =>
          Effect.map(Effect.flip(ask(question)), (error) => (error as { status?: number }).status)
        assert.strictEqual(yield* status(() => admin.spaces.change("lobby", { topic: "x" })), 409)
        assert.strictEqual(yield* status(() => admin.spaces.addMember("lobby", "Bob")), 409)
        assert.strictEqual(yield* status(() => admin.tools.remove("motto")), 409)
        assert.deepStrictEqual([(yield* reload).added, (yield* reload).changed], [[], []])
        yield* write({
          people,
          spaces: [{ name: "lobby", kind: "private", topic: "hello", members: ["Bob"] }],
          tools: [{ ...tool, description: "Says it louder." }],
        })
        assert.deepStrictEqual((yield* reload).changed.toSorted(), ["spaces/lobby", "tools/motto"])
        const after = yield* ask(() => admin.spaces.get("lobby"))
        assert.deepStrictEqual(
          [after.id, after.topic, after.members.map(({ name }) => name)],
          [lobby.id, "hello", ["Bob"]],
        )
        assert.strictEqual((yield* ask(() => admin.tools.get("motto"))).description, "Says it louder.")
        yield* ask(() => admin.spaces.add({ name: "mine", kind: "public" }))
        yield* write({ spaces: [{ name: "mine", kind: "public" }] })
        assert.strictEqual(yield* status(() => admin.house.reload()), 409)
        yield* write({})
        assert.includeMembers([...(yield* reload).retired], ["spaces/lobby", "tools/motto", "Ada", "Bob"])
        assert.isNotNull((yield* ask(() => admin.spaces.get("lobby"))).archivedAt)
        assert.strictEqual(yield* status(() => admin.tools.get("motto")), 404)
      }),
    )

    it.effect("a space that left the file comes back with it: the same space, with what was said there", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const shelf = { name: "shelf", kind: "public", topic: "old things", members: ["Ada"] }
        yield* write({ people: [{ name: "Ada" }], spaces: [shelf] })
        assert.include((yield* reload).added, "spaces/shelf")
        const { id } = yield* ask(() => admin.spaces.get("shelf"))
        yield* ask(() => admin.spaces.post("shelf", { text: "kept" }))
        yield* write({ people: [{ name: "Ada" }] })
        assert.deepStrictEqual((yield* reload).retired, ["spaces/shelf"])
        // Retired: the file owns it no more.
        yield* ask(() => admin.spaces.change("shelf", { archived: false }))
        yield* ask(() => admin.spaces.change("shelf", { topic: "changed meanwhile", archived: true }))
        assert.deepStrictEqual((yield* reload).retired, [])
        yield* write({ people: [{ name: "Ada" }], spaces: [shelf] })
        const back = yield* reload
        assert.deepStrictEqual([back.added, back.changed, back.retired], [["spaces/shelf"], [], []])
        const after = yield* ask(() => admin.spaces.get("shelf"))
        assert.deepStrictEqual(
          [after.id, after.archivedAt, after.topic, after.members.map(({ name }) => name)],
          [id, null, "old things", ["Ada"]],
        )
        const said = yield* ask(() => admin.spaces.messages("shelf"))
        assert.deepStrictEqual(
          said.items.map(({ text }) => text),
          ["kept"],
        )
        const again = yield* reload
        assert.deepStrictEqual([again.added, again.changed, again.retired], [[], [], []])
        const owned = yield* refusal(ask(() => admin.spaces.change("shelf", { topic: "x" })))
        assert.strictEqual(owned.tag, "OwnedByFile")
        // Another one's space is not taken, archived or not.
        yield* ask(() => admin.spaces.add({ name: "ours", kind: "public" }))
        yield* ask(() => admin.spaces.change("ours", { archived: true }))
        yield* write({ spaces: [{ name: "ours", kind: "public" }] })
        assert.include((yield* refusal(reload)).message, "spaces: ours: a space made at run time has this name")
        yield* write({})
        yield* reload
      }),
    )

    it.effect("what the file declares is read-only elsewhere: 409 names the file", () =>
      Effect.gen(function* () {
        const { admin, configFile } = yield* Guest
        yield* write({ agents: [{ name: "owned" }], allowLists: { office: { agent: ["do_nothing"] } } })
        yield* reload
        for (const attempt of [
          () => admin.principals.change("owned", { roles: ["admin"] }),
          () => admin.principals.retire("owned"),
          () => admin.allowLists.set("office", "agent", { tools: ["*"] }),
        ]) {
          const error = yield* refusal(ask<unknown>(attempt))
          assert.deepStrictEqual([error.status, error.tag], [409, "OwnedByFile"])
          assert.include(error.message, configFile)
        }
        assert.strictEqual((yield* refusal(ask(() => admin.allowLists.reset("office", "agent")))).tag, "OwnedByFile")
        yield* write({})
        yield* reload
        assert.deepStrictEqual((yield* ask(() => admin.allowLists.get("office", "agent"))).tools, ["*"])
      }),
    )

    it.effect(
      "an allow list that was set at run time is not the file's: the reload is refused, and nothing widens",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const list = ask(() => admin.allowLists.get("office", "agent"))
          const narrow = yield* ask(() => admin.allowLists.set("office", "agent", { tools: ["do_nothing"] }))
          yield* write({ people: [{ name: "Late" }], allowLists: { office: { agent: ["send_message"] } } })
          const error = yield* refusal(reload)
          assert.deepStrictEqual(
            [error.status, error.tag, error.issues[0]?.path],
            [409, "ConfigFaulty", "allowLists.office.agent"],
          )
          // The same words at a start and at a reload, when the house runs.
          assert.include(error.message, 'run "stoa lists reset office agent" while the house runs without that line')
          assert.deepStrictEqual([yield* list, yield* names], [narrow, []])
          yield* write({})
          yield* reload
          assert.deepStrictEqual(yield* list, narrow)
          const reset = made(yield* ask(() => admin.allowLists.reset("office", "agent")))
          assert.deepStrictEqual([reset.tools, reset.source], [["*"], "default"])
        }),
    )

    it.effect("what was made at run time is never touched; a name in both refuses the reload and changes nothing", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const mine = yield* ask(() => admin.principals.add({ kind: "agent", name: "made here" }))
        yield* write({ agents: [{ name: "newcomer" }, { name: "Made Here" }] })
        const error = yield* refusal(reload)
        assert.deepStrictEqual([error.status, error.tag], [409, "ConfigFaulty"])
        assert.include(error.message, "Made Here")
        assert.deepStrictEqual(yield* names, ["made here"])
        yield* write({})
        yield* reload
        assert.strictEqual((yield* ask(() => admin.principals.get("made here"))).id, mine.id)
        yield* ask(() => admin.principals.retire("made here"))
      }),
    )

    it.effect(
      "G-44 S2-07 comments and trailing commas are fine; a fault is named by line or path, and nothing changes",
      () =>
        Effect.gen(function* () {
          yield* write(
            `{ // people of the house\n "people": [{ "name": "Ann", }], ${JSON.stringify(roomy).slice(1, -1)}, /* end */ }`,
          )
          assert.deepStrictEqual((yield* reload).added, ["Ann"])
          const table: ReadonlyArray<readonly [content: unknown, path: string]> = [
            ['{ "people": [\n{ "name" "x" }] }', "line 2"],
            [{ peple: [] }, "peple"],
            [{ agents: [{ name: "ok" }, { name: "bad", roles: ["king"] }] }, "agents.1.roles.0"],
            [{ agents: [{ name: "twice" }, { name: "TWICE" }] }, "agents.1.name"],
            [{ people: [{ name: "both" }], agents: [{ name: "both" }] }, "agents.0.name"],
            [{ allowLists: { engrams: { agent: ["engram_get", "engram_fly"] } } }, "allowLists.engrams.agent.1"],
            [
              { policies: [{ principal: "role:king", resource: "*", actions: ["read"], effect: "deny" }] },
              "policies.0.principal",
            ],
            [{ limits: [{ principal: "*", resource: "http", count: 0, seconds: 1 }] }, "limits.0.count"],
            ...["htpp", "requests", "tools", "tool/wipe", "calls/memory", "h*x"].map(
              (resource) => [limited(resource), "limits.0.resource"] as const,
            ),
            [{ spaces: [{ name: "x", kind: "cellar" }] }, "spaces.0.kind"],
            [
              {
                spaces: [
                  { name: "x", kind: "public" },
                  { name: "X", kind: "public" },
                ],
              },
              "spaces.1.name",
            ],
            [{ spaces: [{ name: "x", kind: "private", members: ["nobody"] }] }, "spaces: x"],
            [
              { tools: [{ name: "t", description: "d", inputSchema: {}, executionType: "waiting" }] },
              "tools.0.executionType",
            ],
            [
              {
                tools: [
                  {
                    name: "t",
                    description: "d",
                    inputSchema: {},
                    executionType: "gateway",
                    execution: { url: "http://{{input.host}}/" },
                  },
                ],
              },
              "tools.0.execution.url",
            ],
            [{ models: { demo: {} } }, "models.demo.provider"],
            [{ env: ["FINE", "STOA_SECRET_KEY"] }, "env.1"],
            [{ env: ["DATABASE_URL"] }, "env.0"],
            [{ env: ["NODE_OPTIONS"] }, "env.0"],
            [{ env: ["A B"] }, "env.0"],
            [{ egress: { allow: ["http://inside.test/"] } }, "egress.allow.0"],
            [{ egress: { hosts: ["*"] } }, "egress.hosts.0"],
            [{ egress: { open: true } }, "egress.open"],
            // Addresses that no setting opens, in any spelling.
            ...[
              "169.254.169.254",
              "169.254.169.254:80",
              "169.254.7.7",
              "2852039166",
              "0xa9fea9fe",
              "[fe80::1]",
            ].flatMap((host) => [
              [{ egress: { allow: ["search.lan", host] } }, "egress.allow.1"] as const,
              [{ egress: { hosts: [host] } }, "egress.hosts.0"] as const,
            ]),
            [{ egress: { allow: ["[::ffff:169.254.169.254]:80"] } }, "egress.allow.0"],
            [{ egress: { allow: ["[fd00:ec2::254]"] } }, "egress.allow.0"],
            // Keys that a parser would drop.
            ['{ "people": [{ "name": "Eve" }],\n "people": [{ "name": "Ann" }] }', "people"],
            ['{ "people": [{ "name": "Eve", "name": "Ann" }] }', "people.0.name"],
            ['{ "egress": { "allow": [], "\\u0061llow": ["search.lan"] } }', "egress.allow"],
            ['{ "people": [{ "name": "Ann" }], "__proto__": { "agents": [{ "name": "Eve" }] } }', "__proto__"],
            ['{ "people": [{ "name": "Ann", "__proto__": { "roles": ["admin"] } }] }', "people.0.__proto__"],
          ]
          for (const [content, path] of table) {
            yield* write(content)
            const error = yield* refusal(reload)
            assert.deepStrictEqual([error.status, error.tag], [409, "ConfigFaulty"])
            assert.include(
              error.issues.map((issue) => issue.path),
              path,
              JSON.stringify(error.issues),
            )
            assert.deepStrictEqual(yield* names, ["Ann"])
          }
          const modelled = { models: { plain: { provider: "scripted", rules: "rules.json" } } }
          const hints: ReadonlyArray<readonly [content: unknown, path: string, words: string]> = [
            [{ peple: [] }, "peple", 'did you mean "people"?'],
            [{ agents: [{ name: "pam", modle: "demo" }] }, "agents.0.modle", 'did you mean "model"?'],
            [
              {
                tools: [
                  {
                    name: "t",
                    description: "d",
                    inputSchema: {},
                    executionType: "gateway",
                    execution: { urll: "https://tides.test/" },
                  },
                ],
              },
              "tools.0.execution",
              "a gateway tool needs one of url, agentConfig, provider, operation here; it has urll",
            ],
            [{ agents: [{ name: "pam", toolset: ["office"] }] }, "agents.0.toolset", 'did you mean "toolsets"?'],
            [{ mcpServers: { notes: { comand: "node" } } }, "mcpServers.notes.comand", 'did you mean "command"?'],
            [{ egress: { open: true } }, "egress.open", "there are: allow, hosts, maxRedirects"],
            [
              { egress: { allow: ["169.254.169.254"] } },
              "egress.allow.0",
              '"169.254.169.254" is a metadata address, which tools never reach; take it out of the list',
            ],
            [
              '{ "people": [],\n\n "people": [] }',
              "people",
              "is written on line 1 and again on line 3; only one counts, so keep one",
            ],
            [
              { allowLists: { engrams: { agent: ["engram_gt"] } } },
              "allowLists.engrams.agent.0",
              'did you mean "engram_get"?',
            ],
            [{ ...modelled, agents: [{ name: "pam", model: "plan" }] }, "agents.0.model", 'did you mean "plain"?'],
            [
              { ...modelled, agents: [{ name: "pam", model: ["opus"] }] },
              "agents.0.model",
              'there is no model "opus" under models; there are: plain',
            ],
            [{ agents: [{ name: "pam", model: "opus" }] }, "agents.0.model", "there are: none, declare it there"],
            ['{\n"__proto__": {} }', "__proto__", "cannot be a key (line 2); take it out"],
          ]
          for (const [content, path, words] of hints) {
            yield* write(content)
            const { issues, message } = yield* refusal(reload)
            assert.notMatch(message, /[.?]\.$/)
            assert.include(issues.find((issue) => issue.path === path)?.message ?? JSON.stringify(issues), words)
          }
          yield* write({})
          yield* reload
        }),
    )

    it.effect("a file that is gone refuses rather than retires everybody", () =>
      Effect.gen(function* () {
        const { configFile } = yield* Guest
        const tool = { name: "alone", description: "Says it.", inputSchema: {}, executionType: "internal" }
        yield* write({ people: [{ name: "Bo" }], tools: [tool], spaces: [{ name: "attic", kind: "public" }] })
        yield* reload
        rmSync(configFile)
        const error = yield* refusal(reload)
        assert.strictEqual(error.tag, "ConfigFaulty")
        assert.include(
          error.message,
          "there is no such file, but the house still has what it declared (people and agents: 1, tools: 1, spaces: 1, rules: 1)",
        )
        assert.deepStrictEqual(yield* names, ["Bo"])
        // A tool of the file is enough, without any principal.
        yield* write({ tools: [tool] })
        yield* reload
        rmSync(configFile)
        assert.include((yield* refusal(reload)).message, "what it declared (tools: 1, rules: 1)")
        yield* write({})
        yield* reload
      }),
    )

    it.effect("a file of rules alone that is gone is refused too: nothing that it denied is allowed", () =>
      Effect.gen(function* () {
        const { admin, configFile } = yield* Guest
        const policies = [{ principal: "*", resource: "tools/wipe", actions: ["execute"], effect: "deny" }]
        for (const [content, declared] of [
          [JSON.stringify({ policies }), "rules: 1"],
          [JSON.stringify({ env: ["HOME"] }), "rules: 1"],
          [JSON.stringify({ allowLists: { office: { agent: ["do_nothing"] } } }), "allow lists: 1"],
        ] as const) {
          yield* write(content)
          yield* reload
          rmSync(configFile)
          const error = yield* refusal(reload)
          assert.deepStrictEqual([error.status, error.tag], [409, "ConfigFaulty"])
          assert.include(error.message, `what it declared (${declared})`)
        }
        assert.deepStrictEqual((yield* ask(() => admin.allowLists.get("office", "agent"))).tools, ["do_nothing"])
        yield* write({})
        const { warnings } = yield* reload
        assert.deepStrictEqual(warnings, [
          "allowLists.office.agent is no longer declared: its default counts again (*)",
        ])
        assert.deepStrictEqual((yield* reload).warnings, [])
      }),
    )

    it.effect("policies are in force at the next judgement, deny over allow, and go with the file", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        yield* write({
          agents: [{ name: "worker" }],
          policies: [{ principal: "worker", resource: "tools/shell", actions: ["execute"], effect: "ask" }],
        })
        yield* reload
        const judge = ask(() => admin.grants.judge({ principal: "worker", action: "execute", resource: "tools/shell" }))
        assert.deepStrictEqual(yield* judge, { verdict: "ask", rule: "policy:0" })
        yield* write({ agents: [{ name: "worker" }] })
        yield* reload
        assert.strictEqual((yield* judge).verdict, "allow")
      }),
    )

    it.effect("a policy on a resource that cannot exist is refused, with what was meant; names may come later", () =>
      Effect.gen(function* () {
        const rules = (...resources: ReadonlyArray<string>) => ({
          policies: resources.map((resource) => ({ principal: "*", resource, actions: ["execute"], effect: "ask" })),
        })
        yield* write(rules("tools/wipe", "tool/wipe"))
        assert.match(
          (yield* refusal(reload)).message,
          /policies\.1\.resource.*there is no resource "tool\/wipe"; did you mean "tools\/wipe"\? .*tools\//,
        )
        yield* write(rules("tools/not-there-yet", "tools/*", "sp*", "audit"))
        assert.deepStrictEqual((yield* reload).changed, ["policies"])
        yield* write({})
        yield* reload
      }),
    )

    it.effect("a limit of something that is not counted names what was meant; what is counted is taken", () =>
      Effect.gen(function* () {
        for (const [resource, words] of [
          ["htpp", 'nothing is counted as "htpp"; did you mean "http"?'],
          ["tool/wipe", 'did you mean "tools/wipe"?'],
          ["requests", "there are: http, tools/*, calls/refused, spaces/*, kilobytes"],
        ] as const) {
          yield* write(limited(resource))
          assert.include((yield* refusal(reload)).message, words)
        }
        const counted = "* http tools/* tools/wipe tools/crm/* t* calls/* questions/open spaces/general waits*".split(
          " ",
        )
        yield* write({ limits: [...counted.flatMap((resource) => limited(resource).limits), ...roomy.limits] })
        assert.deepInclude([...(yield* reload).changed], "limits")
        yield* write({})
        yield* reload
      }),
    )

    it.effect("a rule for a name that nobody has is said by reload and doctor, and holds once somebody has it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const rule = (principal: string) => ({
          principal,
          resource: "tools/shell",
          actions: ["execute"],
          effect: "deny",
        })
        yield* write({
          agents: [{ name: "worker" }],
          policies: [rule("WORKER"), rule("wroker"), rule("*"), rule("role:agent-basic")],
          limits: [{ principal: "admni", resource: "http", count: 9, seconds: 1 }, ...roomy.limits],
        })
        const nobody = (path: string, name: string) =>
          `${path}: there is no principal "${name}", so the rule has no effect`
        const told = [nobody("policies.1.principal", "wroker"), nobody("limits.0.principal", "admni")]
        const first = yield* reload
        assert.deepStrictEqual(first.warnings, told)
        assert.includeMembers([...first.changed], ["policies", "limits"])
        // As long as it is so, also where nothing has changed.
        assert.deepStrictEqual((yield* reload).warnings, told)
        const found = Effect.map(
          ask(() => admin.house.doctor()),
          ({ findings }) => findings.find(({ check }) => check === "rules")!,
        )
        const warned = yield* found
        assert.strictEqual(warned.state, "warn")
        for (const one of told) assert.include(warned.detail, one)
        // Somebody of that name comes at run time: the rule was waiting.
        const late = yield* ask(() => admin.principals.add({ kind: "agent", name: "wroker" }))
        const judged = yield* ask(() =>
          admin.grants.judge({ principal: late.id, action: "execute", resource: "tools/shell" }),
        )
        assert.strictEqual(judged.verdict, "deny")
        assert.deepStrictEqual((yield* reload).warnings, [told[1]!])
        yield* ask(() => admin.principals.retire("wroker"))
        yield* write({ agents: [{ name: "worker" }] })
        assert.deepStrictEqual((yield* reload).warnings, [])
        assert.strictEqual((yield* found).state, "ok")
      }),
    )

    it.effect("the published JSON Schema takes what the house takes and refuses what it refuses", () =>
      Effect.gen(function* () {
        const { raw } = yield* Guest
        const schema = (yield* ask(async () => (await raw("/config.schema.json")).json())) as Record<string, unknown>
        const check = new Ajv2020({
          strict: false,
          code: { regExp: Object.assign((text: string) => new RegExp(text, "u"), { code: "u" }) },
        }).compile(schema)
        assert.isTrue(check({ ...roomy, people: [{ name: "Kim" }], agents: [{ name: "pam", toolsets: ["office"] }] }))
        for (const wrong of [
          { peple: [] },
          { agents: [{ name: "x", roles: ["king"] }] },
          { agents: [{}] },
          { limits: [{ principal: "*", resource: "x", count: 0, seconds: 1 }] },
        ])
          assert.isFalse(check(wrong), JSON.stringify(wrong))
      }),
    )

    it.effect("only an admin may reload", () =>
      Effect.gen(function* () {
        const { admin, as } = yield* Guest
        const { token } = yield* ask(() => admin.tokens.add({ principal: "worker" }))
        assert.strictEqual((yield* refusal(ask(() => as(token).house.reload()))).status, 403)
      }),
    )
  })
