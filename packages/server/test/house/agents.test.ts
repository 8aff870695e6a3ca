/** Agents and the models they think with: by HTTP and by the configuration file, which owns what it declares. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, Guest, house, roomy } from "../house.ts"
import { tempFolder } from "../stores.ts"

const problemOf = (failure: unknown) => failure as { readonly tag: string; readonly status: number; message: string }

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { timeout: "2 minutes" })(`agents on ${store}`, (it) => {
    it.effect(
      "G-44 a section of models is applied by reload, owned by the file, and each says whether it is ready",
      () =>
        Effect.gen(function* () {
          const { admin, as, configFile, folder } = yield* Guest
          writeFileSync(join(folder, "..", "rules.json"), JSON.stringify({ rules: [{ say: "hello" }] }))
          const models = {
            demo: { provider: "scripted", rules: "rules.json", keywords: ["show"] },
            lost: { provider: "scripted", rules: "nowhere.json" },
            real: { provider: "anthropic", model: "claude-x", price: { in: 3, out: 15 } },
            sealed: { provider: "openai", model: "gpt-x", apiKey: "${secret.model-key}" },
            local: { provider: "openai-compatible", model: "tiny", baseUrl: "http://127.0.0.1:9/v1" },
          }
          writeFileSync(configFile, JSON.stringify({ ...roomy, models }))
          const applied = yield* ask(() => admin.house.reload())
          assert.deepStrictEqual(
            applied.added,
            Object.keys(models).map((name) => `models.${name}`),
          )
          const { items } = yield* ask(() => admin.models.list())
          const by = Object.fromEntries(items.map((one) => [one.name, one]))
          assert.deepStrictEqual(
            { ...by["demo"] },
            {
              name: "demo",
              provider: "scripted",
              model: null,
              purpose: "thinking",
              keywords: ["show"],
              price: null,
              ready: true,
            },
          )
          assert.strictEqual(by["local"]!.ready, true)
          assert.strictEqual(by["lost"]!.ready, false)
          assert.match(by["lost"]!.problem!, /nowhere\.json cannot be read/)
          assert.match(by["real"]!.problem!, /sets ANTHROPIC_API_KEY/)
          assert.deepStrictEqual(by["real"]!.price, { in: 3, out: 15 })
          assert.match(by["sealed"]!.problem!, /The secret "model-key" is not set/)
          // Where a file lies on the machine is for admins.
          yield* ask(() => admin.principals.add({ kind: "person", name: "mel" }))
          const { token } = yield* ask(() => admin.tokens.add({ principal: "mel" }))
          const seen = (yield* ask(() => as(token).models.list())).items
          assert.notInclude(JSON.stringify(seen), folder.slice(0, folder.lastIndexOf("/")))
          assert.match(seen.find(({ name }) => name === "lost")!.problem!, /An admin sees why/)
          yield* ask(() => admin.secrets.set("model-key", { value: "a-long-enough-key" }))
          const after = yield* ask(() => admin.models.list())
          assert.strictEqual(after.items.find(({ name }) => name === "sealed")!.ready, true)
          assert.notInclude(JSON.stringify(after), "a-long-enough-key")

          writeFileSync(configFile, JSON.stringify({ ...roomy, models: { demo: { ...models.demo, keywords: [] } } }))
          const again = yield* ask(() => admin.house.reload())
          assert.deepStrictEqual(again.changed, ["models.demo"])
          assert.deepStrictEqual(again.retired.toSorted(), [
            "models.local",
            "models.lost",
            "models.real",
            "models.sealed",
          ])
          assert.deepStrictEqual((yield* ask(() => admin.house.reload())).changed, [])
        }),
    )

    it.effect("G-17 how a program is started, where and with which keys, is shown to those alone who may set it", () =>
      Effect.gen(function* () {
        const { admin, as, raw } = yield* Guest
        const workspace = yield* tempFolder
        const key = "sk-a-key-that-somebody-wrote-here"
        const lead = yield* ask(() => admin.principals.add({ kind: "agent", name: "lead", toolsets: ["team"] }))
        yield* ask(() => admin.principals.add({ kind: "person", name: "may" }))
        const part = { program: "command" as const, command: ["/opt/x", key], env: { KEY: key } }
        yield* ask(() =>
          admin.agents.change(lead.id, {
            thinker: {
              kind: "program",
              ...part,
              workspace,
              links: [{ path: "/srv/x" }],
              children: { x: part },
            },
          }),
        )
        yield* ask(() => admin.grants.add({ principal: "may", resource: "principals/*", actions: ["write"] }))
        assert.include(JSON.stringify(yield* ask(() => admin.agents.get("lead"))), key)
        for (const name of ["may", "lead"]) {
          const { token } = yield* ask(() => admin.tokens.add({ principal: name }))
          const seen: Array<unknown> = [yield* ask(() => as(token).agents.get("lead"))]
          if (name === "may") {
            seen.push(yield* ask(() => as(token).agents.change("lead", { persona: "Leads." })))
            seen.push(yield* ask(() => as(token).agents.spawn("lead", { name: "kid", instructions: "Work." })))
          }
          for (const path of ["agents", "agents/tree", "principals", "start"])
            seen.push(
              yield* ask(async () =>
                (await raw(`/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })).text(),
              ),
            )
          for (const one of seen)
            for (const word of [key, "/srv", "/opt", workspace]) assert.notInclude(JSON.stringify(one), word)
        }
      }),
    )

    it.effect("G-44 what is wrong with a model or an agent's model is named by its path", () =>
      Effect.gen(function* () {
        const { admin, configFile } = yield* Guest
        const table: ReadonlyArray<readonly [object, string]> = [
          [{ models: { m: { provider: "scripted" } } }, "models.m.rules"],
          [{ models: { m: { provider: "openai" } } }, "models.m.model"],
          [{ models: { m: { provider: "openai-compatible", model: "x" } } }, "models.m.baseUrl"],
          [{ models: { m: { provider: "openai", model: "x", apiKey: "${sec.X}" } } }, "models.m.apiKey"],
          [{ models: { m: { provider: "elsewhere", model: "x" } } }, "models.m.provider"],
          [{ agents: [{ name: "Ann", model: "nobody" }] }, "agents.0.model"],
          [{ agents: [{ name: "Ann", thinker: { kind: "program", program: "command" } }] }, "agents.0.thinker"],
        ]
        for (const [content, path] of table) {
          writeFileSync(configFile, JSON.stringify({ ...roomy, ...content }))
          const failure = yield* Effect.flip(ask(() => admin.house.reload()))
          const issues = (failure as { readonly issues?: ReadonlyArray<{ readonly path: string }> }).issues ?? []
          assert.isTrue(
            issues.some((one) => one.path.startsWith(path)),
            `${path}: ${JSON.stringify(issues)}`,
          )
        }
        writeFileSync(configFile, JSON.stringify(roomy))
        yield* ask(() => admin.house.reload())
      }),
    )

    it.effect("an agent has a persona, models, limits, a thinker and a parent; what is given replaces what was", () =>
      Effect.gen(function* () {
        const { admin, as, configFile, folder } = yield* Guest
        writeFileSync(join(folder, "..", "rules.json"), JSON.stringify({ rules: [] }))
        const models = { demo: { provider: "scripted", rules: "rules.json" } }
        writeFileSync(configFile, JSON.stringify({ ...roomy, models }))
        yield* ask(() => admin.house.reload())
        const boss = yield* ask(() => admin.principals.add({ kind: "agent", name: "Boss" }))
        const pam = yield* ask(() => admin.principals.add({ kind: "agent", name: "Pam" }))
        const limits = { steps: 3, cost: 0.5, perDay: { cost: 2, tokens: 1000 } }
        const changed = yield* ask(() =>
          admin.agents.change("Pam", { persona: "You are Pam.", model: "demo", limits, parent: "Boss" }),
        )
        assert.deepInclude(changed, {
          id: pam.id,
          name: "Pam",
          persona: "You are Pam.",
          model: "demo",
          parent: boss.id,
        })
        assert.deepStrictEqual(changed.limits, limits)
        assert.deepStrictEqual(changed.thinker, { kind: "model" })
        const later = yield* ask(() => admin.agents.change(pam.id, { model: ["demo"], persona: null }))
        assert.deepStrictEqual([later.model, later.persona, later.parent], [["demo"], null, boss.id])
        assert.deepStrictEqual(yield* ask(() => admin.agents.get("Pam")), later)

        const refused = Effect.fnUntraced(function* (change: () => Promise<unknown>, tag: string, words: RegExp) {
          const failure = problemOf(yield* Effect.flip(ask(change)))
          assert.strictEqual(failure.tag, tag)
          assert.match(failure.message, words)
        })
        yield* refused(() => admin.agents.change("Pam", { model: "nobody" }), "BadInput", /there are: demo/)
        yield* refused(() => admin.agents.change("Boss", { parent: "Pam" }), "BadInput", /works for Boss already/)
        yield* refused(() => admin.agents.change("admin", { persona: "x" }), "Missing", /no agent "admin"/)
        const { token } = yield* ask(() => admin.tokens.add({ principal: "Pam" }))
        yield* refused(() => as(token).agents.change("Pam", { limits: {} }), "Forbidden", /may not write/)
        const bert = yield* ask(() => admin.principals.add({ kind: "person", name: "Bert" }))
        yield* ask(() => admin.grants.add({ principal: bert.id, resource: "principals/*", actions: ["read", "write"] }))
        const other = yield* ask(() => admin.tokens.add({ principal: "Bert" }))
        const program = { kind: "program" as const, program: "command" as const, command: ["true"] }
        yield* refused(() => as(other.token).agents.change("Pam", { thinker: program }), "Forbidden", /house\/programs/)
        yield* ask(() => as(other.token).agents.change("Pam", { persona: "Bert's Pam." }))

        const agents = [
          { name: "Filed", persona: "From the file.", model: "demo", parent: "Above", limits: { steps: 2 } },
          { name: "Above" },
        ]
        writeFileSync(configFile, JSON.stringify({ ...roomy, models, agents }))
        yield* ask(() => admin.house.reload())
        const filed = yield* ask(() => admin.agents.get("Filed"))
        const above = yield* ask(() => admin.agents.get("Above"))
        assert.deepInclude(filed, { persona: "From the file.", model: "demo", parent: above.id, source: "file" })
        assert.deepStrictEqual((yield* ask(() => admin.house.reload())).changed, [])
        yield* refused(() => admin.agents.change("Filed", { persona: "x" }), "OwnedByFile", /at the next reload/)
        // A ring that the file once had in the other direction is no ring now.
        const turned = [{ name: "Filed" }, { name: "Above", parent: "Filed" }]
        writeFileSync(configFile, JSON.stringify({ ...roomy, models, agents: turned }))
        const reloaded = yield* ask(() => admin.house.reload())
        assert.deepStrictEqual(reloaded.changed.toSorted(), ["Above", "Filed"])
        assert.deepInclude(yield* ask(() => admin.agents.get("Filed")), { persona: null, model: null, parent: null })
      }),
    )
  })
