// The checks that read text: each is shown the fault it is there for.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { judge } from "../../scripts/checks/all.ts"
import { authorization } from "../../scripts/checks/authorization.ts"
import { docs } from "../../scripts/checks/docs.ts"
import { folders } from "../../scripts/checks/folders.ts"
import { format } from "../../scripts/checks/format.ts"
import { ledger } from "../../scripts/checks/ledger.ts"
import { isAllowed, licences } from "../../scripts/checks/licences.ts"
import { lock } from "../../scripts/checks/lock.ts"
import { names } from "../../scripts/checks/names.ts"
import { secrets, secretsIn } from "../../scripts/checks/secrets.ts"
import { sizes } from "../../scripts/checks/sizes.ts"
import { tables } from "../../scripts/checks/tables.ts"
import { definitionsOf, definitionsPage, definitionsText } from "../../scripts/docs/definitions.ts"
import { claimsOf, describeBehaviours } from "../../scripts/docs/behaviours.ts"
import { house } from "./fixture.ts"

const server = "packages/server/src"
const long = (lines: number) => "export {}\n".repeat(lines)

describe("sizes", () => {
  it("a source file over 400 lines, a test over 700", async () => {
    const { faults } = await sizes(
      house({
        [`${server}/store/long.ts`]: long(401),
        [`${server}/store/edge.ts`]: long(400),
        [`${server}/store/Store.test.ts`]: long(700),
        [`packages/server/test/story.ts`]: long(701),
      }),
    )
    expect(faults).toEqual([
      expect.stringContaining(`${server}/store/long.ts: 401 lines, at most 400`),
      expect.stringContaining(`packages/server/test/story.ts: 701 lines, at most 700`),
    ])
  })

  it("the list itself may not grow", async () => {
    const listed = (lines: number) => JSON.stringify({ [`${server}/store/a.ts`]: lines })
    const root = house({ [`${server}/store/a.ts`]: long(500), "scripts/sizes.json": listed(450) })
    const git = (...args: Array<string>) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root })
    git("add", "scripts/sizes.json")
    git("commit", "-qm", "450")
    writeFileSync(join(root, "scripts/sizes.json"), listed(500))
    expect((await sizes(root)).faults).toEqual([expect.stringContaining("was 450; the list may only shrink")])
    git("commit", "-qam", "500")
    expect((await sizes(root)).faults).toEqual([expect.stringContaining("was 450; the list may only shrink")])
  })

  it("a file on the list may shrink, never grow", async () => {
    const files = { "a.ts": 501, "b.ts": 450, "c.ts": 399, "d.ts": 500 }
    const laid = Object.entries(files).map(([name, lines]) => [`${server}/store/${name}`, long(lines)] as const)
    const ratchet = Object.fromEntries(laid.map(([path]) => [path, 500]))
    const { faults } = await sizes(
      house({ ...Object.fromEntries(laid), "scripts/sizes.json": JSON.stringify(ratchet) }),
    )
    expect(faults).toEqual([
      expect.stringContaining("store/a.ts: 501 lines, at most 500"),
      expect.stringContaining("store/b.ts has shrunk to 450"),
      expect.stringContaining("store/c.ts is within the limit now"),
    ])
  })
})

it("folders: one of more than five files without its page, and a page that is too long or lacks a part", async () => {
  const files = (folder: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${folder}/f${n}.ts`, "export {}\n"]))
  const whole = "- **May use**: a\n- **Never**: b\n- **A new thing**: c\n"
  const { faults } = await folders(
    house({
      ...files(`${server}/crowded`, 6),
      ...files(`${server}/few`, 5),
      ...files(`${server}/migrations`, 6),
      ...files(`${server}/__snapshots__`, 6),
      ...files("bench", 6),
      ...Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`packages/web/public/f${n}.css`, ""])),
      ...files(`${server}/told`, 6),
      [`${server}/told/README.md`]: "a line\n".repeat(22) + whole,
      ...files(`${server}/talkative`, 1),
      [`${server}/talkative/README.md`]: "a line\n".repeat(26),
      ...files(`${server}/small`, 5),
      [`${server}/small/README.md`]: "a line\n",
      ...files(`${server}/silent`, 6),
      [`${server}/silent/README.md`]: whole.replace("**Never**", "Never"),
    }),
  )
  expect(faults.toSorted()).toEqual([
    expect.stringContaining("bench/README.md: missing; the folder has 6 files"),
    expect.stringContaining("crowded/README.md: missing; the folder has 6 files"),
    expect.stringContaining("silent/README.md: says nothing under **Never**"),
    expect.stringContaining("talkative/README.md: 26 lines, at most 25"),
    expect.stringContaining("public/README.md: missing; the folder has 6 files"),
  ])
})

it("names: vague files, empty suffixes, a file without its noun, an error without its page and the reverse", async () => {
  const { faults } = await names(
    house({
      [`${server}/store/utils.ts`]: "export const x = 1\n",
      [`${server}/store/Rows.ts`]: "export const other = 1\n",
      [`${server}/store/Keep.ts`]: "export class Keep {}\nexport class KeepManager {}\n",
      "docs/errors/Gone.md": "# Gone\n",
      "packages/contract/src/Errors.ts": `import { Schema } from "effect"
export class SpaceMissing extends Schema.TaggedError<SpaceMissing>()("SpaceMissing", {}) {}
export class NameTaken extends Schema.TaggedError<NameTaken>("stoa/NameTaken")(
  "NameTaken",
  {},
) {}
`,
    }),
  )
  expect(faults.toSorted()).toEqual([
    expect.stringContaining("docs/errors/Gone.md: no error"),
    expect.stringContaining("docs/errors/NameTaken.md: missing"),
    expect.stringContaining("store/Keep.ts: KeepManager"),
    expect.stringContaining("store/Rows.ts: no export of it is about Rows"),
    expect.stringContaining("store/utils.ts: a name for anything"),
  ])
})

it("names: a text that is read over MCP names no command; a comment, start-up and a log may", async () => {
  const { faults } = await names(
    house({
      [`${server}/spaces/refusals.ts`]:
        '// As stoa grants add does.\nexport const x = "An admin can: stoa grants add NAME"\n',
      [`${server}/calls/hint.ts`]: "export const x = (kind: string) => `stoa ${kind} ls`\n",
      [`${server}/calls/label.ts`]: 'export const x = "stoa mcp request state"\n',
      [`${server}/store/start.ts`]: 'export const x = "Restore a backup with stoa restore"\n',
      [`${server}/serve.ts`]: 'export const x = "Run stoa login"\n',
      "packages/contract/src/Errors.ts": `import { Schema } from "effect"
export class SpaceMissing extends Schema.TaggedError<SpaceMissing>()("SpaceMissing", {}) {
  override get message() { return "Run stoa reload" }
}
`,
    }),
  )
  expect(faults.toSorted()).toEqual([
    expect.stringContaining('contract/src/Errors.ts:3: "stoa reload…"'),
    expect.stringContaining('calls/hint.ts:1: "stoa ${…"'),
    expect.stringContaining('spaces/refusals.ts:2: "stoa grants…"'),
  ])
})

it("G-45 the page of definitions is generated from them, so that no count drifts, and no other page counts tools", async () => {
  const root = join(import.meta.dirname, "../..")
  const now = await definitionsOf(root)
  const text = definitionsText(now)
  expect(readFileSync(join(root, definitionsPage), "utf8")).toBe(text)
  for (const [set, names] of Object.entries(now.tools)) expect(text).toContain(`**${set}**, ${names.length}: `)
  // One tool more, and the committed page is no longer the generated one.
  const { engrams = [] } = now.tools
  const more = definitionsText({ ...now, tools: { ...now.tools, engrams: [...engrams, "engram_count"] } })
  expect(more).toContain(`**engrams**, ${engrams.length + 1}: `)
  expect(more).not.toBe(text)
  // Whoever counts by hand is wrong one day.
  const guides = readdirSync(join(root, "docs/user")).map((name) => [name, join(root, "docs/user", name)] as const)
  const counts = guides.filter(([, path]) => /\b(all|the) \d+ tools\b/i.test(readFileSync(path, "utf8")))
  expect(counts.map(([name]) => name)).toEqual([])
})

describe("docs", () => {
  const body = `export const find = (rows: ReadonlyArray<string>, name: string) => rows.find((row) => row === name)`
  const page = (mark: string, text: string) => `# Page\n\n<!-- from ${mark} -->\n\n\`\`\`ts\n${text}\n\`\`\`\n`
  const find = `${server}/spaces/find.ts#find`

  it("a snippet that equals its region is counted", async () => {
    expect(await docs(house({ "docs/page.md": page(find, body) }))).toMatchObject({
      faults: [],
      unit: "pages, 1 snippets",
    })
  })

  it("a snippet that differs, a region that is gone, a mark without a block, a dead link", async () => {
    const { faults } = await docs(
      house({
        "docs/a.md": page(find, body.replace("name", "title")),
        "docs/b.md": page(`${server}/spaces/find.ts#lost`, body),
        "docs/c.md": `<!-- from ${find} -->\n\nNo block here.\n`,
        "docs/d.md": "[there](gone.md), [here](a.md#page), [not](a.md#nowhere), [web](https://example.com)\n",
      }),
    )
    expect(faults).toEqual([
      expect.stringContaining(`docs/a.md: snippet differs from ${find}`),
      expect.stringContaining("docs/b.md: "),
      expect.stringContaining("docs/c.md: 1 "),
      expect.stringContaining("docs/d.md: link to gone.md"),
      expect.stringContaining("docs/d.md: link to a.md#nowhere"),
    ])
  })

  it("a page that names a source which is not there, by the end of its path", async () => {
    const { faults } = await docs(
      house({
        "docs/a.md": "`find.ts` and `spaces/find.ts` are in `server/src`; you write `mine.mjs`.\n",
        "docs/b.md": "`spaces/lost.ts`, and `ind.ts`, which only ends like one.\n",
        "docs/c.md": "```sh\nnode lost.ts\n```\n",
      }),
    )
    expect(faults).toEqual([
      expect.stringContaining("docs/b.md: names spaces/lost.ts"),
      expect.stringContaining("docs/b.md: names ind.ts"),
    ])
  })

  it("the formatter leaves a snippet as its region is, though without the indent its lines would fit", async () => {
    const text = "const a = call(\n  1,\n)"
    const root = house({
      "docs/page.md": page("examples/a.ts#a", text),
      "examples/a.ts": `{\n  // #region a\n${text.replace(/^/gm, "  ")}\n  // #endregion\n}\n`,
    })
    expect((await docs(root)).faults).toEqual([])
    expect((await format(root)).faults.filter((fault) => fault.startsWith("docs/"))).toEqual([])
  })

  it("settings.md is what Settings.ts describes", async () => {
    const settings = { [`${server}/Settings.ts`]: `export const describeSettings = () => "# Settings\\n"\n` }
    expect(await docs(house({ ...settings, "docs/settings.md": "# Settings\n" }))).toMatchObject({ faults: [] })
    const { faults } = await docs(house({ ...settings, "docs/settings.md": "# Old\n" }))
    expect(faults).toEqual([expect.stringContaining("docs/settings.md: not what")])
  })
})

describe("secrets", () => {
  // Put together here, or this file itself would be a finding.
  const token = ["stoa", "k3Jx9QpLm2Zr8TvW5yBn1CdF"].join("_")
  const found = (text: string, path = "a.ts") => secretsIn(path, text).length

  it("names file and line, never the secret", async () => {
    const { faults } = await secrets(house({ "docs/setup.md": `# Setup\n\nUse ${token}\n` }))
    expect(faults).toEqual([expect.stringMatching(/^docs\/setup\.md:3 a Stoa token/)])
    expect(faults.join()).not.toContain(token)
  })

  it("finds each kind", () => {
    expect(found(["-----BEGIN", "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3"].join(" "))).toBe(1)
    expect(found(["AKIA", "IOSFODNN7QWERTYU"].join(""))).toBe(1)
    expect(found(["sk-ant", "api03-k3Jx9QpLm2Zr8TvW5yBn"].join("-"))).toBe(1)
    expect(found(["ghp", "k3Jx9QpLm2Zr8TvW5yBn1CdF"].join("_"))).toBe(1)
    expect(found(["postgres://app", "hunter2@db/stoa"].join(":"))).toBe(1)
    expect(found(["", "work", "main", "x"].join("/"))).toBe(1)
    expect(found(["", "home", "ada", "x"].join("/"))).toBe(1)
    expect(found(['"resolved": "https:', "", "registry.example.com", 'x.tgz"'].join("/"), "package-lock.json")).toBe(1)
  })

  it("leaves examples alone", () => {
    expect(found("stoa_xxxxxxxxxxxxxxxxxxxxxxxx stoa_admin_token_of_the_house")).toBe(0)
    expect(found("postgres://postgres@127.0.0.1:5432/postgres postgres://app:password@db/stoa")).toBe(0)
    expect(found("https://example.com/work/main docs/root/x ./home/ada")).toBe(0)
  })
})

it("licences: a production dependency that is not ours to ship, and a package of ours without MIT", async () => {
  const packages = {
    "": {},
    "packages/server": {},
    "node_modules/effect": { license: "MIT" },
    "node_modules/viral": { license: "AGPL-3.0" },
    "node_modules/mute": {},
    "node_modules/tool": { license: "GPL-3.0", dev: true },
    "node_modules/elsewhere": { optional: true, os: ["win32"] },
  }
  const { faults, looked } = await licences(
    house({ "package-lock.json": JSON.stringify({ packages }), "packages/server/package.json": "{}" }),
  )
  expect(looked).toBe(3)
  expect(faults).toEqual([
    expect.stringContaining("node_modules/viral: AGPL-3.0"),
    expect.stringContaining("node_modules/mute: no licence"),
    expect.stringContaining("packages/server/package.json: ours is MIT"),
  ])
  expect([isAllowed("(MIT OR GPL-3.0)"), isAllowed("MIT AND GPL-3.0")]).toEqual([true, false])
})

it("lock: an entry without a hash, one with a weak hash, and an exception that nothing needs; ours have none", async () => {
  const integrity = `sha512-${"A".repeat(86)}==`
  const elsewhere = { dev: true, optional: true, os: ["win32"] }
  const packages = {
    "": {},
    "packages/server": {},
    "node_modules/@stoa/server": { link: true },
    "node_modules/whole": { version: "1.0.0", integrity },
    "node_modules/bare": { version: "1.0.0" },
    "node_modules/whole/node_modules/bare": { version: "1.0.0", dev: true },
    "node_modules/other-win32": { version: "1.0.0", ...elsewhere },
    "node_modules/weak": { version: "1.0.0", integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" },
    // Of a tool whose builds for other platforms have no known hash: another version of it, and one that is shipped.
    "node_modules/@oxfmt/binding-win32-x64-msvc": { version: "0.0.1", ...elsewhere },
    "node_modules/@oxlint/binding-win32-x64-msvc": { version: "1.93.0", optional: true, os: ["win32"] },
    "node_modules/@oxc-parser/binding-win32-x64-msvc": { version: "0.155.0", ...elsewhere },
    "node_modules/@oxlint-tsgolint/win32-x64": { version: "7.0.2006", integrity },
  }
  const { faults, looked } = await lock(house({ "package-lock.json": JSON.stringify({ packages }) }))
  expect(looked).toBe(9)
  expect(faults).toEqual([
    expect.stringContaining("node_modules/bare: has no integrity hash"),
    expect.stringContaining("node_modules/whole/node_modules/bare: has no integrity hash"),
    expect.stringContaining("node_modules/other-win32: has no integrity hash"),
    expect.stringContaining("node_modules/weak: its hash sha1-"),
    expect.stringContaining("node_modules/@oxfmt/binding-win32-x64-msvc: has no integrity hash"),
    expect.stringContaining("node_modules/@oxlint/binding-win32-x64-msvc: has no integrity hash"),
    expect.stringContaining("@oxfmt/binding-* 0.77.0 needs no exception"),
    expect.stringContaining("@oxlint/binding-* 1.93.0 needs no exception"),
    expect.stringContaining("@oxlint-tsgolint/* 7.0.2006 needs no exception"),
  ])
})

describe("ledger", () => {
  const listed = { "docs/behaviours.json": JSON.stringify({ "S0-01": "Six tools exist.", "X-07": "Replies are." }) }

  it("an id without a reason, or one that is not on the list: in a page, a comment or a title", async () => {
    const { faults, looked } = await ledger(
      house({
        ...listed,
        "docs/ledger-exceptions.md": "| S0-01 | |\n| S0-02 | the seed contradicts itself |\n",
        "docs/page.md": "As X-08 says, and X-07.\n",
        [`${server}/store/a.ts`]: "// S4-99 is not there\nexport {}\n",
        "packages/server/test/a.test.ts": 'it("S1-01..S1-02 are", () => {})\n',
      }),
    )
    expect(looked).toBe(2)
    expect(faults).toEqual([
      expect.stringContaining("docs/ledger-exceptions.md: S0-02 is not in"),
      expect.stringContaining("docs/page.md: X-08 is not in"),
      expect.stringContaining("store/a.ts: S4-99 is not in"),
      expect.stringContaining("a.test.ts: S1-01 is not in"),
      expect.stringContaining("a.test.ts: S1-02 is not in"),
      expect.stringContaining("S0-01 has no reason"),
      expect.stringContaining("X-07: no test has it in its title"),
    ])
  })

  it("an id that no test's title names is decided against, or waits, or is a fault", async () => {
    const faultsOf = async (files: Record<string, string>) => (await ledger(house({ ...listed, ...files }))).faults
    const title = { "packages/server/test/a.test.ts": 'it("X-07 replies", () => {})\n' }
    expect(await faultsOf(title)).toEqual([])
    const without = { ...title, "docs/ledger-later.md": "# Later\n\nAs S0-01 says, something waits.\n" }
    expect(await faultsOf(without)).toEqual([expect.stringContaining("S0-01: no test has it in its title")])
    const decided = { ...without, "docs/ledger-exceptions.md": "- S0-01 The seed contradicts itself.\n" }
    expect(await faultsOf(decided)).toEqual([])
  })

  it("fails, and does not pass over it, where there is no list", async () => {
    const root = house()
    rmSync(join(root, "docs/behaviours.json"))
    expect(await judge("ledger", ledger, root)).toMatchObject({ ok: false, looked: 0 })
  })

  it("reads titles, and not what is skipped or said elsewhere; the page of behaviours is made from them", async () => {
    const root = house({
      ...listed,
      "packages/server/test/a.test.ts": `
describe.each(ways)("X-07 a group", () => {})
it.live("S0-01 a test", () => {})
it.skip("S0-01 not run", () => {})
`,
      "packages/server/test/b.test.ts": '// S0-01\nconst it = "X-07"\nit("nothing", () => {})\n',
    })
    const claims = await claimsOf(root)
    expect(Object.fromEntries(claims)).toEqual({
      "S0-01": ["packages/server/test/a.test.ts"],
      "X-07": ["packages/server/test/a.test.ts"],
    })
    const { faults } = await docs(root)
    expect(faults).toEqual([expect.stringContaining("docs/behaviours.md: not what")])
    expect(await describeBehaviours(root)).toContain("- **X-07** Replies are. [a](../packages/server/test/a.test.ts)\n")
  })
})

describe("authorization", () => {
  const api = `export class A extends HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.get("list", "/things", {}),
    HttpApiEndpoint.post(
      "add", "/things", {}),
  ) {}`
  const files = {
    "packages/contract/src/api/Things.ts": api,
    [`${server}/doors/mcp/eras/methods.ts`]: `const shared = [\n  ["tools/list", toolsList],\n  ["ping", ping],\n]\n`,
  }

  it("a route or a method that has no row", async () => {
    const row = (name: string) => `| \`${name}\` | 200 |\n`
    const page = (...rows: Array<string>) => ({ "docs/operations/authorization.md": rows.map(row).join("") })
    const whole = await authorization(house({ ...files, ...page("things.list", "things.add", "tools/list", "ping") }))
    expect(whole).toMatchObject({ looked: 4, faults: [] })
    const { faults } = await authorization(house({ ...files, ...page("things.list", "tools/list") }))
    expect(faults).toEqual([
      expect.stringContaining("no row for things.add"),
      expect.stringContaining("no row for ping"),
    ])
  })
})

describe("tables", () => {
  const made = {
    [`${server}/spaces/migrations/0003_spaces.ts`]:
      "yield* sql`CREATE TABLE messages (id TEXT)`\nyield* sql`CREATE TABLE spaces (id TEXT)`\n",
    [`${server}/spaces/migrations/0009_words.ts`]: "yield* sql`DROP TABLE words`\n",
    [`${server}/spaces/migrations/0008_words.ts`]: "yield* sql`CREATE VIRTUAL TABLE words USING fts5(id)`\n",
    [`${server}/access/migrations/0002_access.ts`]: "yield* sql`CREATE TABLE principals (id TEXT)`\n",
    [`${server}/spaces/Messages.ts`]: "sql`SELECT * FROM messages m JOIN principals p ON p.id = m.author`\n",
  }
  const faultsOf = async (text: string, path = "runs/Runs.ts") =>
    (await tables(house({ ...made, [`${server}/${path}`]: text }))).faults

  it("each room names its own tables, and the names of principals", async () => {
    const answer = await tables(house(made))
    expect(answer).toMatchObject({ faults: [], unit: "files, 3 tables" })
    expect(await faultsOf("sql`SELECT 1 FROM messages`", "runs/migrations/0063_runs.ts")).toEqual([])
    expect(await faultsOf("sql`SELECT id FROM words`")).toEqual([])
    expect(await faultsOf("// what runs read from messages, and update spaces with")).toEqual([])
  })

  it("a statement that names another room's table, however it does", async () => {
    for (const text of [
      "sql`SELECT 1 FROM messages`",
      "sql`SELECT 1 FROM runs r\n  LEFT JOIN messages m ON m.id = r.message`",
      "sql`SELECT 1 FROM runs AS r, messages m WHERE m.id = r.message`",
      'sql.literal("EXISTS (SELECT 1 FROM messages)")',
    ])
      expect(await faultsOf(text)).toEqual([
        expect.stringMatching(/^packages\/server\/src\/runs\/Runs\.ts:[12]: reads messages, a table of spaces\. Put/),
      ])
    for (const text of [
      "sql`INSERT INTO messages ${row}`",
      "sql`UPDATE messages SET text = 1`",
      "sql`DELETE FROM messages`",
      'makeRowInsert(sql, "messages")',
    ])
      expect(await faultsOf(text)).toEqual([expect.stringContaining("writes messages, a table of spaces. Put")])
    expect(await faultsOf("sql`select 1 from messages`")).toEqual([expect.stringContaining("capitals")])
  })

  it("who may read may not write, and the files above all rooms may not either", async () => {
    expect(await faultsOf("sql`UPDATE principals SET name = 1`")).toEqual([
      expect.stringContaining("writes principals, a table of access"),
    ])
    expect(await faultsOf("sql`SELECT 1 FROM messages`", "Doctor.ts")).toEqual([])
    expect(await faultsOf("sql`DELETE FROM messages`", "Doctor.ts")).toEqual([
      expect.stringContaining("writes messages"),
    ])
  })

  it("an allowance that nobody needs any more", async () => {
    const { faults } = await tables(
      house({ ...made, [`${server}/calls/migrations/0006_calls.ts`]: "sql`CREATE TABLE calls (id TEXT)`\n" }),
    )
    expect(faults).toEqual([expect.stringContaining("runs no longer reads calls; remove the line")])
  })
})
