/** Each verb as a person or a script gives it, against a real house: data on stdout, talk on stderr, and the exit code. */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { Api } from "@stoa/contract"
import { connect } from "@stoa/sdk"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ProcessResult, Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())

/** What HTTP says, without any client of ours. */
const http = async (path: string, token = house.token): Promise<unknown> => {
  const answer = await fetch(`${house.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })
  return answer.json()
}
const itemsOf = async (path: string) => ((await http(path)) as { readonly items: unknown }).items

/** It did what was asked, and stdout is one JSON value and nothing else. */
const json = (ended: ProcessResult): unknown => {
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[^\n]+\n$/) })
  return JSON.parse(ended.stdout)
}
const stoa = (...args: ReadonlyArray<string>) => home.stoa(...args)
const ok = { code: 0, stdout: "" }
const refused = (sentence: RegExp) => ({
  code: 2,
  stdout: "",
  stderr: expect.stringMatching(new RegExp(`^stoa: [^\\n]*${sentence.source}[^\\n]*\\n$`)),
})

describe("agents and people", () => {
  it("add prints the HTTP object, ls the items, rm retires", async () => {
    const added = json(await stoa("agents", "add", "Pam", "--toolset", "office", "--toolset", "stoa", "--json"))
    expect(added).toEqual(await http("principals/Pam"))
    expect(added).toMatchObject({ kind: "agent", toolsets: ["office", "stoa"], roles: ["agent-standard"] })
    const word = await stoa("people", "add", "Jim", "--role", "guest")
    const [listed, people, table] = await Promise.all([
      stoa("agents", "ls", "--json"),
      stoa("people", "ls", "--json"),
      stoa("agents", "ls"),
    ])
    expect(json(listed)).toEqual(await itemsOf("agents"))
    expect(json(people)).toMatchObject([
      { kind: "person", name: "admin" },
      { kind: "person", name: "Jim", roles: ["guest"] },
    ])
    expect(word).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Jim is added: prn_\S+\n$/) })
    expect(table.stdout.split("\n")[0]).toMatch(/^name +id +roles +toolsets +source$/)
    expect(table.stdout).toMatch(/^Pam +prn_\S+ +agent-standard +office,stoa +house$/m)
    expect(await stoa("people", "rm", "Pam")).toMatchObject(refused(/Pam is not one of the people: it is an agent\./))
    expect(await stoa("agents", "rm", "Pam")).toMatchObject({ ...ok, stderr: expect.stringMatching(/^Pam is retired/) })
    expect(await stoa("agents", "rm", "Pam")).toMatchObject(refused(/There is no principal "Pam"/))
  })

  it("what the house refuses is exit 2 and its sentence", async () => {
    const [taken, bad, role] = await Promise.all([
      stoa("people", "add", "admin"),
      stoa("agents", "add", "-?-"),
      stoa("agents", "add", "Kim", "--role", "king", "--json"),
    ])
    expect(taken).toMatchObject(refused(/There is already a principal named "admin"/))
    expect(bad).toMatchObject({ code: 2, stdout: "" })
    expect(role).toMatchObject({ code: 2, stdout: "" })
  })
})

describe("a model or parent that is not there", () => {
  it("is told before anything changes", async () => {
    const none = refused(/There is no model "nope", and nothing has changed/)
    expect(await stoa("agents", "add", "Thinker", "--model", "nope")).toMatchObject(none)
    await house.admin.principals.add({ kind: "agent", name: "Steady" })
    expect(await stoa("agents", "set", "Steady", "--role", "guest", "--model", "nope")).toMatchObject(none)
    expect(await stoa("agents", "set", "Steady", "--role", "guest", "--parent", "nobody")).toMatchObject(
      refused(/There is no principal "nobody"/),
    )
    expect(await stoa("agents", "add", "Thinker", "--parent", "nobody")).toMatchObject(refused(/"nobody"/))
    expect(await http("principals/Steady")).toMatchObject({ roles: ["agent-standard"] })
    expect(await http("principals/Thinker")).toMatchObject({ tag: "Missing" })
  })
})

describe("a model of an agent", () => {
  it("is given, and taken back with none", async () => {
    writeFileSync(join(home.folder, "rules.json"), JSON.stringify({ rules: [] }))
    home.configure({ models: { slow: { provider: "scripted", rules: join(home.folder, "rules.json") } } })
    await house.admin.house.reload()
    await house.admin.principals.add({ kind: "agent", name: "Mind" })
    expect(json(await stoa("agents", "set", "Mind", "--model", "slow", "--json"))).toMatchObject({ model: "slow" })
    expect(json(await stoa("agents", "set", "Mind", "--model", "none", "--json"))).toMatchObject({ model: null })
    expect(await http("agents/Mind")).toMatchObject({ model: null })
    home.configure({})
    await house.admin.house.reload()
  })
})

describe("connect", () => {
  it("says so where the program would act as a person", async () => {
    await house.admin.principals.add({ kind: "person", name: "Ada" })
    const ended = await stoa("connect", "claude-code", "--agent", "Ada")
    expect(ended.stderr).toContain("Ada is a person: this program can act and answer decisions in that person's name.")
  })
})

describe("rights at the command line", () => {
  it("set replaces roles, toolsets or the name, and nothing else", async () => {
    await house.admin.principals.add({ kind: "agent", name: "Meredith" })
    const set = json(await stoa("agents", "set", "Meredith", "--role", "agent-basic", "--toolset", "office", "--json"))
    expect(set).toMatchObject({ name: "Meredith", roles: ["agent-basic"], toolsets: ["office"] })
    expect(set).toEqual(await http("principals/Meredith"))
    const renamed = await stoa("agents", "set", "Meredith", "--rename", "Mer")
    expect(renamed).toMatchObject({ code: 0, stdout: "Mer: roles agent-basic; toolsets office\n" })
    expect(await stoa("agents", "set", "Mer")).toMatchObject(refused(/Nothing to change/))
    expect(await stoa("people", "set", "Mer", "--role", "guest")).toMatchObject(refused(/not one of the people/))
  })

  it("whoever is retired is shown by name and as retired, where the past is listed; one request more for all of them", async () => {
    for (const name of ["Gil", "Hal"]) {
      const { id } = await house.admin.principals.add({ kind: "agent", name })
      const { token } = await house.admin.tokens.add({ principal: id })
      expect((await home.stoa("secrets", "ls", "--token", token)).code).toBe(2)
      await house.admin.principals.retire(id)
    }
    const audit = await stoa("audit", "--limit", "100")
    expect(audit).toMatchObject({ code: 0 })
    expect(audit.stdout).toMatch(/ Gil \(retired\) /)
    expect(audit.stdout).toMatch(/ Hal \(retired\) /)
    expect(audit.stdout).not.toMatch(/^\d+ +\S+ +prn_/m)
    expect((await stoa("audit", "--limit", "100", "--json")).stdout).not.toContain("(retired)")
  })

  it("grants are added, listed by name, judged and revoked", async () => {
    await house.admin.principals.add({ kind: "agent", name: "Creed" })
    const made = json(
      await stoa("grants", "add", "Creed", "secrets/*", "--action", "read", "--effect", "ask", "--json"),
    ) as Record<string, string>
    expect(made).toMatchObject({ resource: "secrets/*", actions: ["read"], effect: "ask" })
    expect(json(await stoa("grants", "ls", "Creed", "--json"))).toEqual(await itemsOf("grants?principal=Creed"))
    expect((await stoa("grants", "ls", "Creed")).stdout).toMatch(/^Creed +ask read +secrets\/\* .*gnt_/m)
    const judged = await stoa("grants", "judge", "Creed", "read", "secrets/x")
    expect(judged).toMatchObject({ code: 0, stdout: `ask  (rule: grant:${made["id"]})\n` })
    expect(await stoa("grants", "rm", made["id"]!)).toMatchObject(ok)
    expect((await stoa("grants", "judge", "Creed", "read", "secrets/x")).stdout).toMatch(/^deny/)
    expect(await stoa("grants", "rm", made["id"]!)).toMatchObject(refused(/There is no grant .*stoa grants ls/))
  })

  it("allow lists are shown, replaced and reset", async () => {
    const set = json(await stoa("lists", "set", "skills", "crossroads", "web-search", "--json"))
    expect(set).toEqual(await http("allow-lists/skills/crossroads"))
    expect((await stoa("lists", "show", "skills", "crossroads")).stdout).toBe("web-search\n")
    expect((await stoa("lists", "ls")).stdout).toMatch(/^skills +crossroads +house .* web-search$/m)
    // A list is never emptied by leaving something out.
    for (const slip of [[], [""]])
      expect(await stoa("lists", "set", "skills", "crossroads", ...slip)).toMatchObject(
        refused(/Name the tools, or give --none to allow none\./),
      )
    expect((await stoa("lists", "show", "skills", "crossroads")).stdout).toBe("web-search\n")
    expect(await stoa("lists", "set", "skills", "crossroads", "--none")).toMatchObject({ code: 0, stdout: "nothing\n" })
    expect((await stoa("lists", "reset", "skills", "crossroads")).stdout).toBe("nothing\n")
    expect(await stoa("lists", "set", "office", "agent", "no_such")).toMatchObject(
      refused(/no tool "no_such" in office/),
    )
    expect(await stoa("lists", "set", "engrams", "agent", "engram_gett")).toMatchObject(
      refused(/no tool "engram_gett" in engrams \(did you mean "engram_get"\?\)/),
    )
  })

  it("tools ls says which of them ask a person first", async () => {
    const { items } = await house.admin.tools.list({ limit: 100 })
    const table = (await stoa("tools", "ls")).stdout
    expect(table.split("\n")[0]).toMatch(/^name .* asks +description$/)
    for (const { asks, name } of items) expect(table).toMatch(new RegExp(`^${name} .* ${asks} `, "m"))
  })
})

describe("token", () => {
  it("add shows the secret once, ls never, rm works at once", async () => {
    await house.admin.principals.add({ kind: "agent", name: "Bearer" })
    const made = json(await stoa("token", "add", "Bearer", "--label", "desk", "--json")) as Record<string, string>
    expect(Object.keys(made).toSorted()).toEqual([
      "context",
      "createdAt",
      "expiresAt",
      "id",
      "label",
      "principal",
      "token",
    ])
    const bearer = connect({ url: house.url, token: made["token"]! })
    expect(await bearer.principals.me()).toMatchObject({ name: "Bearer" })
    const listed = await stoa("token", "ls", "Bearer", "--json")
    expect(json(listed)).toEqual(await itemsOf("tokens?principal=Bearer"))
    expect(listed.stdout).not.toContain(made["token"])
    expect(await stoa("token", "rm", made["id"]!)).toMatchObject({ ...ok, stderr: `${made["id"]} no longer works\n` })
    await expect(bearer.principals.me()).rejects.toMatchObject({ tag: "Unauthenticated" })
  })

  it("rotate replaces; the word alone is the secret", async () => {
    const made = await house.admin.tokens.add({ principal: "admin", label: "old" })
    const rotated = await stoa("token", "rotate", made.id)
    expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining("the old one no longer works") })
    expect(await http("me", rotated.stdout.trim())).toMatchObject({ name: "admin" })
    expect(await http("me", made.token)).toMatchObject({ tag: "Unauthenticated" })
  })

  it("a wrong expiry and a wrong context are refused by the command line", async () => {
    const [expiry, context] = await Promise.all([
      stoa("token", "add", "admin", "--expires", "tomorrow"),
      stoa("token", "add", "admin", "--context", "moon"),
    ])
    expect(expiry).toMatchObject(refused(/expires/))
    expect(context).toMatchObject(refused(/context/))
  })
})

describe("secrets", () => {
  it("set takes stdin without its last newline, ls tells names only, rm removes", async () => {
    const set = await home.spawn(["secrets", "set", "OPENAI"], { input: "sk-planted-secret\n" }).ended
    expect(set).toMatchObject({ ...ok, stderr: "OPENAI is set; nobody can read it back\n" })
    const listed = await stoa("secrets", "ls", "--json")
    expect(json(listed)).toEqual(await itemsOf("secrets"))
    expect(listed.stdout).toMatch(/^\[\{"name":"OPENAI","setAt":"[^"]+"\}\]\n$/)
    expect(await home.spawn(["secrets", "set", "EMPTY"], { input: "\n" }).ended).toMatchObject(
      refused(/stdin was empty\. .*printf %s 'VALUE' \| stoa secrets set EMPTY/),
    )
    expect(await home.spawn(["secrets", "set", "SHORT"], { input: "hunter2\n" }).ended).toMatchObject(
      refused(/at least 8 characters/),
    )
    expect(await stoa("secrets", "rm", "OPENAI")).toMatchObject(ok)
    expect(await stoa("secrets", "ls")).toMatchObject({ ...ok, stderr: "none\n" })
  })
})

describe("audit", () => {
  it("prints what HTTP lists, newest first, and takes filters", async () => {
    const denied = connect({ url: house.url, token: (await house.admin.tokens.add({ principal: "Bearer" })).token })
    await expect(denied.secrets.list()).rejects.toMatchObject({ tag: "Forbidden" })
    const [all, some, table] = await Promise.all([
      stoa("audit", "--json", "--limit", "5"),
      stoa("audit", "--json", "--result", "denied", "--principal", "Bearer"),
      stoa("audit", "--limit", "1"),
    ])
    const entries = json(all) as ReadonlyArray<{ readonly seq: number }>
    expect(entries).toHaveLength(5)
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, n) => entries[0]!.seq - n))
    expect(json(some)).toEqual(await itemsOf("audit?result=denied&principal=Bearer"))
    expect(json(some)).toMatchObject([{ result: "denied", correlationId: expect.any(String) }])
    expect(table.stdout.split("\n")).toHaveLength(3)
    expect(table.stdout).toMatch(/^seq +at +principal +action +result +rule +resource\n/)
  })
})

describe("events", () => {
  it("--json is one event a line, as the feed has it, and Ctrl-C ends it with 0", async () => {
    const watching = home.spawn(["events", "--json", "--after", "0"])
    await watching.said(/"kind":"house.started"/)
    await house.admin.principals.add({ kind: "agent", name: "Seen" })
    await watching.said(/"name":"Seen".*\n/)
    const ended = await watching.signal("SIGINT")
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" })
    const events = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const abort = new AbortController()
    const frames = await fetch(`${house.url}/api/v1/events?after=0`, {
      headers: { authorization: `Bearer ${house.token}` },
      signal: abort.signal,
    })
    let text = ""
    for await (const chunk of frames.body!.pipeThrough(new TextDecoderStream()))
      if ((text += chunk).includes('"Seen"')) break
    const sent = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as unknown)
    expect(events).toEqual(sent.slice(0, events.length))
    expect(Object.keys(events[0]!)).toEqual(expect.arrayContaining(["cursor", "kind", "at", "space", "actor", "body"]))
  })

  it("for a person it shows names beside ids, also of those who came later and of those who are retired", async () => {
    const gone = await house.admin.principals.add({ kind: "agent", name: "Long gone" })
    await house.admin.principals.retire(gone.id)
    const watching = home.spawn(["events", "--after", "0"])
    await watching.said(new RegExp(`principal.added .*Long gone \\(retired\\) \\(${gone.id}\\)`))
    const late = await house.admin.principals.add({ kind: "agent", name: "Late" })
    await watching.said(new RegExp(`principal.added .*Late \\(${late.id}\\)`))
    expect(await watching.signal("SIGINT")).toMatchObject({ code: 0, stderr: "" })
  })

  it("a reader that goes away ends it with 0; for a person it is words", async () => {
    const watching = home.spawn(["events", "--after", "0"])
    await watching.said(/^\d+ {2}\S+Z {2}house.started {2}house {2}\{/m)
    watching.child.stdout!.destroy()
    await house.admin.principals.add({ kind: "agent", name: "Unread" })
    await house.admin.principals.add({ kind: "agent", name: "Unread too" })
    expect(await watching.ended).toMatchObject({ code: 0 })
  })

  it("a wrong token or address ends it at once", async () => {
    const [token, nobody] = await Promise.all([
      stoa("events", "--token", "wrong"),
      stoa("events", "--url", "http://127.0.0.1:1"),
    ])
    expect(token).toMatchObject(refused(/This token is unknown/))
    expect(nobody).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^stoa: No house answers/) })
  })
})

describe("login", () => {
  it("prints a link that signs in, and nothing else on stdout", async () => {
    const ended = await stoa("login")
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining("Opens the page as admin") })
    const link = new URL(ended.stdout.trim())
    expect(link.origin).toBe(house.url)
    expect(await http("me", decodeURIComponent(link.hash.replace("#token=", "")))).toMatchObject({ name: "admin" })
  })
})

describe("reload", () => {
  it("applies all of the file or nothing", async () => {
    home.configure({ agents: [{ name: "Declared" }] })
    expect(json(await stoa("reload", "--json"))).toEqual({
      file: home.config,
      added: ["Declared"],
      changed: [],
      retired: [],
      warnings: [],
    })
    home.configure({
      agents: [{ name: "Declared" }],
      policies: [{ principal: "Delcared", resource: "tools/x", actions: ["execute"], effect: "deny" }],
    })
    expect(await stoa("reload")).toMatchObject({
      code: 0,
      stdout: `${home.config}: changed policies\n`,
      stderr: 'policies.0.principal: there is no principal "Delcared", so the rule has no effect\n',
    })
    home.configure({ agents: [{ name: "Declared" }] })
    await stoa("reload")
    home.configure({ agents: [{ name: "Declared" }, { name: "New" }, { name: "Bad", roles: ["king"] }] })
    expect(await stoa("reload")).toMatchObject(
      refused(/was not applied, and nothing has changed\. agents\.2\.roles\.0: /),
    )
    home.configure("{ agents: ")
    expect(await stoa("reload")).toMatchObject(refused(/was not applied, and nothing has changed\./))
    const names = (await house.admin.principals.agents({ limit: 100 })).items.map(({ name }) => name)
    expect(names).toContain("Declared")
    expect(names).not.toContain("New")
    home.configure({ agents: [{ name: "Declared" }] })
    expect(await stoa("reload")).toMatchObject({ code: 0, stdout: `${home.config}: nothing has changed\n` })
    expect(await stoa("agents", "rm", "Declared")).toMatchObject(refused(/declared in .*stoa\.config\.json/))
  })

  it("of a house of an earlier version, which has no warnings, too", async () => {
    const earlier = createServer((_, response) => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ file: "old.json", added: ["a"], changed: [], retired: [] }))
    })
    await new Promise<void>((up) => void earlier.listen(0, "127.0.0.1", up))
    const url = `http://127.0.0.1:${(earlier.address() as AddressInfo).port}`
    const ended = await stoa("reload", "--url", url, "--token", "any")
    earlier.close()
    expect(ended).toMatchObject({ code: 0, stdout: "old.json: added a\n", stderr: "" })
  })
})

describe("api", () => {
  it("alone lists every endpoint of the contract", async () => {
    const { code, stderr, stdout } = await stoa("api")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const groups = Api.groups as unknown as Record<string, { readonly endpoints: Record<string, { path: string }> }>
    const all = Object.entries(groups).flatMap(([group, { endpoints }]) =>
      Object.entries(endpoints).map(([name, { path }]) => `${group} ${name} ${path}`),
    )
    const listed = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/ +[A-Z]+ +/, " "))
    expect(listed).toEqual(all)
  })

  it("calls any of them", async () => {
    const [me, list, done, judged] = await Promise.all([
      stoa("api", "principals", "me"),
      stoa("api", "principals", "list", '{"kind":"person"}', "--json"),
      stoa("api", "secrets", "set", "VIA_API", '{"value":"long enough"}'),
      stoa("api", "grants", "judge", '{"principal":"Bearer","action":"read","resource":"secrets/x"}'),
    ])
    expect(json(me)).toEqual(await http("me"))
    expect(json(list)).toEqual(await itemsOf("principals?kind=person"))
    expect(done).toMatchObject({ ...ok, stderr: "done\n" })
    expect(json(judged)).toMatchObject({ verdict: "deny" })
  })

  it("mistakes are exit 2 and a sentence", async () => {
    const ended = await Promise.all([
      stoa("api", "principals", "nothing"),
      stoa("api", "principals", "get"),
      stoa("api", "principals", "add", "{kind}"),
      stoa("api", "events", "watch"),
    ])
    expect(ended).toMatchObject([
      refused(/There is no "principals nothing"/),
      refused(/needs its principal/),
      refused(/\{kind\}: .*JSON/),
      refused(/use "stoa events"/),
    ])
  })

  it("hints say the command that works: through npx where that is how it was called", async () => {
    const { ended } = home.spawn(["api", "events", "watch"], { env: { npm_command: "exec" } })
    expect(await ended).toMatchObject(refused(/use "npx stoa events"/))
  })
})
