/** Apps of MCP servers (MCP Apps): their pages keep their scheme, come back to their server, and their tools reach no model. */
import { assert, layer } from "@effect/vitest"
import { connect } from "@stoa/sdk"
import { Effect } from "effect"
import fc from "fast-check"
import { Tokens } from "../../src/access/identity/Tokens.ts"
import { Catalogue, everything } from "../../src/calls/catalogue/Catalogue.ts"
import { namesOf, ownUri } from "../../src/doors/mcp/desk/servers/names.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { joined, newClient, oldClient } from "./proxiedKit.ts"
import { served } from "./proxiedServer.ts"

const eras = ["old", "new"] as const
const page = "ui://Weather.example:80/view.html?a=1#b"
const odd = ["ui:///rootless", "ui://", "ui://a//b/../c", "ui://{city}/x{?y}", "ui://x/%2F%20"]
const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} }
const both = { ui: { resourceUri: page, visibility: ["model", "app"], csp: { connectDomains: ["https://a.example"] } } }
const content = [
  { type: "resource_link", uri: page, name: "page" },
  { type: "resource", resource: { uri: page, mimeType: "text/html;profile=mcp-app", text: "<p>" } },
  { type: "text", text: `see ${page}` },
]
const tools = [
  { name: "show", description: "shows", inputSchema: { type: "object" }, _meta: both },
  { name: "old", description: "shows", inputSchema: { type: "object" }, _meta: { "ui/resourceUri": page } },
  {
    name: "refresh",
    description: "for the app",
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: page, visibility: ["app"] } },
  },
]
const fresh = { ttlMs: 0, cacheScope: "private" }
const weather = (era: (typeof eras)[number]) => {
  const cached = era === "new" ? fresh : {}
  const read: Array<unknown> = []
  return Effect.map(
    served(
      era,
      {
        show: () => ({ content, _meta: { ui: { resourceUri: page } }, structuredContent: { uri: page } }),
        old: () => ({ content }),
        refresh: () => ({ content: [{ type: "text", text: "fresh" }] }),
      },
      {
        initialize: () => ({ protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "w", version: "1" } }),
        "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities, ...fresh }),
        "tools/list": () => ({ tools, ...cached }),
        "resources/list": () => ({
          resources: [page, ...odd].map((uri) => ({ uri, name: "page", mimeType: "text/html;profile=mcp-app" })),
          ...cached,
        }),
        "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: odd[3], name: "t" }], ...cached }),
        "resources/read": ({ params }) => {
          read.push(params.uri)
          return { contents: [{ uri: params.uri, text: "<p>", _meta: { ui: { prefersBorder: true } } }], ...cached }
        },
      },
    ),
    ({ url }) => ({ url, read }),
  )
}

layer(house({ store: "sqlite", config: { ...roomy, people: [{ name: "ada" }] } }), {
  excludeTestServices: true,
  timeout: 60_000,
})("apps", (it) => {
  it("any address comes back to its server as it was", () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.webUrl(), fc.string()),
        fc.string({ minLength: 1 }).filter((text) => text.isWellFormed()),
        (rest, server) => {
          for (const own of [`ui://${rest}`, `x://${rest}`]) {
            const outside = namesOf(server).uri(own)
            assert.deepStrictEqual(ownUri(outside), { server, own })
            assert.strictEqual(outside.startsWith("ui://"), own.startsWith("ui://"))
          }
        },
      ),
    ))

  for (const serverEra of eras)
    for (const client of eras)
      it.effect(`${client} client, ${serverEra} server: pages keep their scheme wherever they are named`, () =>
        Effect.gen(function* () {
          const { read, url: server } = yield* weather(serverEra)
          const { name, token, url } = yield* joined(server)
          const open = (client === "old" ? oldClient : newClient) as typeof newClient
          for (const place of ["/mcp", `/mcp/servers/${name}`]) {
            const it = yield* open(`${url}${place}`, token)
            const own = place !== "/mcp"
            const uri = (text: string) => (own ? text : `ui://${name}/${text.slice("ui://".length)}`)
            const tool = (text: string) => (own ? text : `${name}__${text}`)
            const { resources } = yield* ask(() => it.listResources())
            const pages = resources.map((one) => one.uri).filter((one) => own || one.startsWith(`ui://${name}/`))
            assert.deepStrictEqual(pages, [page, ...odd].map(uri))
            const { resourceTemplates } = yield* ask(() => it.listResourceTemplates())
            assert.isTrue(resourceTemplates.some(({ uriTemplate }) => uriTemplate === uri(odd[3]!)))

            const listed = (yield* ask(() => it.listTools())).tools
            const metaOf = (text: string) => listed.find((one) => one.name === tool(text))?._meta
            assert.deepStrictEqual(metaOf("show"), { ui: { ...both.ui, resourceUri: uri(page) } })
            assert.deepStrictEqual(metaOf("old"), { "ui/resourceUri": uri(page) })
            // The host filters it, and its app calls it through the host.
            assert.deepStrictEqual(metaOf("refresh"), { ui: { resourceUri: uri(page), visibility: ["app"] } })
            const called = yield* ask(() => it.callTool({ name: tool("refresh"), arguments: {} }))
            assert.deepStrictEqual(called.content, [{ type: "text", text: "fresh" }])

            const shown = yield* ask(() => it.callTool({ name: tool("show"), arguments: {} }))
            const [link, embedded, words] = shown.content as unknown as readonly [
              { readonly uri: string },
              { readonly resource: { readonly uri: string } },
              { readonly text: string },
            ]
            assert.deepStrictEqual([link.uri, embedded.resource.uri], [uri(page), uri(page)])
            assert.strictEqual(words.text, `see ${page}`)
            assert.deepStrictEqual((shown._meta as { readonly ui: object }).ui, { resourceUri: uri(page) })
            assert.deepStrictEqual(shown.structuredContent, { uri: page })

            for (const one of [page, ...odd.filter((text) => !text.includes("{"))]) {
              const { contents } = yield* ask(() => it.readResource({ uri: uri(one) }))
              assert.strictEqual(contents[0]!.uri, uri(one))
              assert.strictEqual(read.at(-1), one)
            }
          }
        }),
      )

  it.effect("a tool for the app alone reaches no model: not in a run, not in an agent's list, not in its prompt", () =>
    Effect.gen(function* () {
      const { admin } = yield* Guest
      const { url: server } = yield* weather("new")
      const { name, url } = yield* joined(server)
      const { id } = yield* ask(() => admin.principals.add({ kind: "agent", name: "Model" }))
      const { token } = yield* ask(() => admin.tokens.add({ principal: "Model" }))
      const model = connect({ url, token })
      const tools = (yield* ask(() => model.tools.list({ limit: 100 }))).items.map((one) => one.name)
      assert.isTrue(tools.includes(`${name}/show`))
      assert.isFalse(tools.includes(`${name}/refresh`))
      // In a run, it is a model whichever door it comes through.
      const catalogue = yield* Catalogue
      const agent = yield* Effect.orDie((yield* Tokens).callerNow(id, "agent"))
      const namesFor = (caller: typeof agent) =>
        Effect.map(catalogue.list(caller, everything), (all) => all.map(({ tool }) => tool.wireName))
      const inRun = yield* namesFor({ ...agent, run: "run_1" })
      assert.isTrue(inRun.includes(`${name}__show`))
      assert.isFalse(inRun.includes(`${name}__refresh`))
      const found = (yield* catalogue.view({ ...agent, run: "run_1" }, everything)).find(`${name}/refresh`)
      assert.isUndefined(found)
      // A host that connects as an agent filters by itself, and its apps call.
      const it = yield* newClient(`${url}/mcp`, token)
      const listed = (yield* ask(() => it.listTools())).tools.map((one) => one.name)
      assert.isTrue(listed.includes(`${name}__refresh`))
      const prompt = yield* ask(() => admin.agents.prompt("Model"))
      assert.isFalse(JSON.stringify(prompt).includes(`${name}__refresh`))
    }),
  )
})
