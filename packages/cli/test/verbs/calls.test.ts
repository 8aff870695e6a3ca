/** Tools, calls, decisions and the kill switch from a terminal, against a real house. */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ProcessResult, Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
let jim: string
beforeAll(async () => {
  house = await home.start()
  await house.admin.principals.add({ kind: "agent", name: "Jim" })
  jim = (await house.admin.tokens.add({ principal: "Jim" })).token
})
afterAll(() => home.remove())

/** What HTTP says, without any client of ours. */
const http = async (path: string): Promise<unknown> => {
  const answer = await fetch(`${house.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${house.token}` } })
  return answer.json()
}
const itemsOf = async (path: string) => ((await http(path)) as { items: ReadonlyArray<unknown> }).items
const json = (ended: ProcessResult, code = 0): Record<string, unknown> => {
  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(/^[^\n]+\n$/) })
  return JSON.parse(ended.stdout) as Record<string, unknown>
}
const stoa = (...args: ReadonlyArray<string>) => home.stoa(...args)
const asJim = (...args: ReadonlyArray<string>) => home.stoa(...args, "--token", jim)
const file = (name: string, value: unknown): string => {
  const path = join(home.folder, name)
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value))
  return path
}

const word = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
  additionalProperties: false,
}
const tool = (name: string, over: object = {}) => ({
  name,
  description: "Says what it was told to say.",
  inputSchema: word,
  executionType: "internal",
  execution: { output: { said: true } },
  ...over,
})
const risky = (name: string) => tool(name, { riskLevel: "high", requiresApproval: true })

/** A call of Jim's that waits for a yes. */
const waiting = async (name: string) => {
  const made = json(await asJim("call", name, "--input", '{"word":"go"}', "--json"), 3)
  return { call: made["id"] as string, decision: (made["on"] as { id: string }).id }
}

it("tools add, set, show, ls and rm: a file with comments, one tool or many, and the HTTP objects as JSON", async () => {
  const path = file(
    "one.json",
    `// one tool\n${JSON.stringify(tool("speak"), null, 1).replace(/\}$/, ", /* end */ }")}`,
  )
  const added = json(await stoa("tools", "add", path, "--json"))
  expect(added).toEqual(await http("tools/speak"))
  expect(added).toMatchObject({ name: "speak", inputSchema: word, executionType: "internal" })
  const many = home.spawn(["tools", "add", "-", "--json"], {
    input: JSON.stringify({ tools: [tool("first"), risky("second")] }),
  })
  expect(json(await many.ended)).toEqual([await http("tools/first"), await http("tools/second")])
  const changed = json(await stoa("tools", "set", file("set.json", tool("speak", { description: "New." })), "--json"))
  expect(changed).toMatchObject({ description: "New." })
  const [listed, table, shown, gone] = await Promise.all([
    stoa("tools", "ls", "--json"),
    stoa("tools", "ls"),
    stoa("tools", "show", "speak", "--json"),
    stoa("tools", "rm", "first"),
  ])
  expect((json(listed) as unknown as Array<{ name: string }>).map((one) => one.name)).toEqual(
    expect.arrayContaining(["second", "speak"]),
  )
  expect(table.stdout).toMatch(/^second +configured +internal +high +true +Says what/m)
  expect(json(shown)).toEqual(changed)
  expect(gone).toMatchObject({ code: 0, stdout: "", stderr: "first is removed\n" })
  expect(await stoa("tools", "show", "first")).toMatchObject({ code: 2, stdout: "" })
})

it("tools add and set say what a tool names that is not there yet, with the command, and so does doctor", async () => {
  const gateway = (execution: object) => tool("tides", { executionType: "gateway", execution })
  const url = { url: "https://api.example.com/", headers: { key: "${secret.TIDES}" } }
  const words = 'The tool "tides" needs the secret "TIDES", which is not set; an admin has to set it.'
  const command = "An operator can do this with: stoa secrets set TIDES"
  expect(await stoa("tools", "add", file("tides.json", gateway(url)))).toMatchObject({
    code: 0,
    stdout: "tides\n",
    stderr: `${words} ${command}\n`,
  })
  expect((await stoa("doctor")).stdout).toMatch(new RegExp(`^warn {2}tools +${words} ${command}$`, "m"))
  const inCheckout = await home.spawn(["doctor"], { env: { npm_command: "exec" } }).ended
  expect(inCheckout.stdout).toContain("An operator can do this with: npx stoa secrets set TIDES")
  const set = await stoa("tools", "set", file("tides.json", gateway({ agentConfig: { agent: "nemo" } })), "--json")
  expect(json(set)).toMatchObject({ notes: [expect.stringContaining('the agent "nemo", which does not exist')] })
  expect(set.stderr).toContain("An operator can do this with: stoa agents add nemo")
  // Who calls it is told the same.
  const called = await stoa("call", "tides", "--input", '{"word":"x"}', "--wait", "60")
  expect(called.stdout + called.stderr).toMatch(
    /works as the agent "nemo", which does not exist;.* stoa agents add nemo/,
  )
  await stoa("tools", "rm", "tides")
})

it("tools calls lists the last calls of one tool, newest first, as HTTP does", async () => {
  await stoa("tools", "add", file("birds.json", [tool("parrot"), tool("magpie")]))
  const one = json(await asJim("call", "parrot", "--input", '{"word":"one"}', "--json"))
  await asJim("call", "magpie", "--input", '{"word":"two"}', "--json")
  const three = json(await stoa("call", "parrot", "--input", '{"word":"three"}', "--json"))
  const listed = json(await stoa("tools", "calls", "parrot", "--json")) as unknown as Array<{ id: string }>
  expect(listed.map(({ id }) => id)).toEqual([three["id"], one["id"]])
  expect(listed).toEqual(await itemsOf("calls?tool=parrot&order=newest"))
  expect((await stoa("tools", "calls", "parrot", "--limit", "1")).stdout).toMatch(/^call_\S+ +done +admin /m)
  await house.admin.tools.add(tool("quiet"))
  expect(await stoa("tools", "calls", "quiet")).toMatchObject({ code: 0, stdout: "", stderr: "none\n" })
  expect(await stoa("tools", "calls", "parot")).toMatchObject({
    code: 2,
    stdout: "",
    stderr:
      'stoa: There is no tool "parot" that you can see, and no call of one. Did you mean "parrot"? "stoa tools ls" lists yours.\n',
  })
  expect(await stoa("tools", "calls", "nosuch")).toMatchObject({
    code: 2,
    stderr: 'stoa: There is no tool "nosuch" that you can see, and no call of one. "stoa tools ls" lists yours.\n',
  })
})

it("faults of a file are named by path, exit 2, and nothing of it is added", async () => {
  const wrong = file("wrong.json", [
    tool("fine"),
    { ...tool("bad"), executionType: "gateway", execution: { url: 1 } },
    { ...tool("worse"), visibility: "loud" },
  ])
  const ended = await stoa("tools", "add", wrong)
  expect(ended).toMatchObject({ code: 2, stdout: "" })
  expect(ended.stderr).toMatch(/^1\.execution\.url: /m)
  expect(ended.stderr).toMatch(/^2\.visibility: /m)
  expect(await stoa("tools", "show", "fine")).toMatchObject({ code: 2 })
  const all = await Promise.all([
    stoa("tools", "add", file("broken.json", "{")),
    stoa("tools", "add", join(home.folder, "nowhere.json")),
    stoa("tools", "add", file("taken.json", [tool("free"), tool("free")])),
    asJim("tools", "add", file("jim.json", tool("jims"))),
  ])
  expect(all.map((one) => one.code)).toEqual([2, 2, 2, 2])
  expect(all[0].stderr).toMatch(/broken\.json is not JSON/)
  for (const none of [[], { tools: [] }]) {
    const path = file("none.json", none)
    expect(await stoa("tools", "add", path)).toMatchObject({ code: 2, stderr: `stoa: ${path} has no tools.\n` })
  }
  expect(all[2].stderr).toMatch(
    /^stoa: 1 of 2 tools were added before "free"\. There is already a tool named "free"\. .*: stoa tools set \S+taken\.json$/m,
  )
  const once = file("once.json", tool("once"))
  expect(await stoa("tools", "add", once)).toMatchObject({ code: 0 })
  expect(await stoa("tools", "add", once)).toMatchObject({
    code: 2,
    stderr: `stoa: There is already a tool named "once". Choose another name, or use that one. To change a configured tool of this name: stoa tools set ${once}\n`,
  })
  expect(await stoa("tools", "set", once)).toMatchObject({ code: 0 })
})

it("S1-10 tools migrate prints the form of today with its notes on stderr, and refuses waiting by path", async () => {
  const old = file("old.json", { tools: [{ name: "ask me", type: "request", url: "http://127.0.0.1/x" }] })
  const ended = await stoa("tools", "migrate", old, "--json")
  expect(json(ended)).toMatchObject({ tools: [{ name: "ask_me", executionType: "gateway" }] })
  expect(ended.stderr).toMatch(/is called "ask_me" now/)
  const refused = await stoa("tools", "migrate", file("old2.json", { name: "w", type: "waiting" }))
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/type: "waiting" was removed/) })
})

it("tools import shows what an OpenAPI document would give, and adds it with --apply", async () => {
  const service = createServer((request, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify({ path: request.url })),
  ).listen(0, "127.0.0.1")
  await new Promise((ready) => service.once("listening", ready))
  const base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const path = file("api.json", {
    openapi: "3.1.0",
    info: { title: "Paper", version: "1" },
    servers: [{ url: base }],
    paths: {
      "/reams": { get: { operationId: "listReams", responses: {} }, delete: { operationId: "burn", responses: {} } },
    },
  })
  const shown = await stoa("tools", "import", path, "--prefix", "paper", "--json")
  expect(json(shown)).toMatchObject({ dryRun: true, tools: [{ name: "paper_listReams" }, { name: "paper_burn" }] })
  expect(shown.stderr).toMatch(/Nothing was added/)
  expect(await stoa("tools", "show", "paper_burn")).toMatchObject({ code: 2 })
  const added = await stoa("tools", "import", path, "--prefix", "paper", "--include", "listReams", "--apply", "--json")
  expect(json(added)).toMatchObject({ dryRun: false, tools: [{ name: "paper_listReams" }] })
  const twice = await stoa("tools", "import", path, "--prefix", "paper", "--include", "listReams", "--apply")
  expect(twice.code).toBe(2)
  expect(twice.stderr).toMatch(/names with --prefix, or change a tool that is there with: stoa tools set FILE\n$/)
  expect(await stoa("tools", "import", file("api.yaml", "openapi: 3.1.0\n"))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/api\.yaml is YAML: convert it to JSON first\.\n$/),
  })
  const nowhere = { openapi: "3.1.0", paths: { "/a": { get: { operationId: "a", responses: {} } } } }
  expect((await stoa("tools", "import", file("nowhere-api.json", nowhere))).stderr).toContain("with --base-url")
  expect(json(await stoa("tools", "show", "paper_listReams", "--json"))).toMatchObject({ executionType: "gateway" })
  expect(await stoa("tools", "show", "paper_burn")).toMatchObject({ code: 2 })
  service.close()
  const empty = { openapi: "3.1.0", info: { title: "Nothing", version: "1" }, paths: {} }
  const cookie = { name: "c", in: "cookie", required: true, schema: { type: "string" } }
  const left = { "/a": { get: { operationId: "a", responses: {}, parameters: [cookie] } } }
  for (const [given, said] of [
    [empty, /^stoa: \S+ has no operation that can become a tool\. Nothing was added\.\n$/],
    [
      { ...empty, servers: [{ url: base }], paths: left },
      /^left out GET \/a: .*\nstoa: .* a tool: see above\. Nothing/,
    ],
  ] as const)
    for (const flags of [[], ["--apply"]])
      expect(await stoa("tools", "import", file("none.json", given), ...flags)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(said),
      })
})

it("tools import names the command for a file of tools", async () => {
  const old = { name: "greet", type: "request", url: "http://127.0.0.1/x" }
  for (const value of [[old], { tools: [old] }, old, tool("greet")]) {
    const refused = await stoa("tools", "import", file("tools.json", value))
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("stoa tools migrate FILE") })
    expect(refused.stderr).toContain("stoa tools add FILE")
  }
})

it("call: done is 0, refused is 2, failed is 1; --json is the HTTP object and a key finds the first call", async () => {
  await house.admin.tools.add(tool("echo"))
  const input = file("input.json", { word: "hi" })
  const done = json(await asJim("call", "echo", "--input", `@${input}`, "--json"))
  expect(done).toMatchObject({ tool: "echo", state: "done", output: { said: true }, input: { word: "hi" } })
  expect(done).toEqual(await http(`calls/${String(done["id"])}`))
  expect(await asJim("call", "echo", "--input", '{"word":"hi"}')).toMatchObject({
    code: 0,
    stdout: '{"said":true}\n',
    stderr: "",
  })
  const piped = home.spawn(["call", "echo", "--input", "-"], { input: '{"word":"hi"}' })
  expect(await piped.ended).toMatchObject({ code: 0, stdout: '{"said":true}\n' })
  const first = json(await asJim("call", "echo", "--input", '{"word":"k"}', "--key", "k1", "--json"))
  const again = json(await asJim("call", "echo", "--input", '{"word":"k"}', "--key", "k1", "--json"))
  expect(again["id"]).toBe(first["id"])
  const preview = json(await asJim("call", "echo", "--input", '{"word":"hi"}', "--dry-run", "--json"))
  expect(preview).toMatchObject({ dryRun: true, tool: "echo", verdict: "allow" })
  const ended = await Promise.all([
    asJim("call", "echo", "--input", "{}"),
    asJim("call", "nothing", "--input", "{}"),
    asJim("call", "echo", "--input", "[]"),
    asJim("call", "echo", "--input", "{"),
    asJim("call"),
    asJim("call", "echo", "--status", "call_x"),
    asJim("call", "echo", "--input", '{"word":"other"}', "--key", "k1"),
  ])
  expect(ended.map((one) => [one.code, one.stdout])).toEqual(ended.map(() => [2, ""]))
  expect(ended[0].stderr).toMatch(/word/)
  expect(ended[1].stderr).toMatch(/nothing/)
  expect(ended[4].stderr).toMatch(/a TOOL, --status ID, --cancel ID or --result ID/)
  await house.admin.tools.add(
    tool("dead", { executionType: "gateway", execution: { url: "http://127.0.0.1:9/", method: "GET" } }),
  )
  const failed = await asJim("call", "dead", "--input", '{"word":"hi"}', "--json")
  expect(json(failed, 1)).toMatchObject({ state: "failed", error: { tag: "ToolExecutionError" } })
  expect(failed.stderr).toMatch(/^stoa: .*\(call_/)
})

it("the beginning of an id answers nothing that its reader has not seen: a closed question that begins so counts, too", async () => {
  await house.admin.tools.add(risky("swap"))
  const shown = await waiting("swap")
  const line = (await stoa("decide")).stdout
  // What is printed is long enough for any question, also one that is asked later.
  expect(/answer: stoa decide (\S+) --approve/.exec(line)![1]!.length).toBeGreaterThanOrEqual(18)
  await asJim("call", "--cancel", shown.call)
  const other = await waiting("swap")
  let length = "dcs_".length
  while (shown.decision[length] === other.decision[length]) length++
  const alike = shown.decision.slice(0, length)
  expect(alike.length).toBeGreaterThanOrEqual("dcs_123456".length)
  for (const given of [alike, alike.slice("dcs_".length)])
    expect(await stoa("decide", given, "--approve")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^stoa: 2 decisions begin with /),
    })
  expect(await http(`decisions/${other.decision}`)).toMatchObject({ state: "open" })
  expect(await stoa("decide", other.decision.slice(0, length + 1), "--deny")).toMatchObject({ code: 0 })
})

it("a call that waits is exit 3; decide lists it and answers it, and the call is done, refused or canceled", async () => {
  await house.admin.tools.add(risky("wipe"))
  const yes = await waiting("wipe")
  const listed = json(await stoa("decide", "--json")) as unknown as Array<{ id: string }>
  expect(listed).toEqual(await itemsOf("decisions?state=open"))
  expect(listed.map((one) => one.id)).toContain(yes.decision)
  const people = (await stoa("decide")).stdout
  expect(people).toMatch(new RegExp(`^${yes.decision}  approval  open  until .+\n  \`Jim\` wants to run \`wipe\``, "m"))
  expect(people).toMatch(
    /^  (?:person|agent) `Jim` calls `wipe` with this input \(\d+ bytes, sha256 [0-9a-f]{64}\):\n  \| \{$/m,
  )
  expect(people).toMatch(/^  may answer: admin$/m)
  // The beginning of an id that is enough is as good as all of it.
  const short = /answer: stoa decide (\S+) --approve/.exec(people)![1]!
  expect(yes.decision).toContain(short)
  const one = await stoa("decide", short, "--show")
  expect(one).toMatchObject({ code: 0 })
  expect(one.stdout.split("\n")[0]).toContain(yes.decision)
  // Seen alone, it does not know which others begin alike.
  expect(one.stdout).toContain(`answer: stoa decide ${yes.decision} --approve`)
  expect(json(await stoa("decide", short, "--show", "--json"))).toEqual(await http(`decisions/${yes.decision}`))
  expect(await stoa("decide", "ffffffff", "--approve")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^stoa: No decision begins with "ffffffff"\. "stoa decide" lists the open ones\.$/m),
  })
  // What is no id, or hardly the beginning of one, answers nothing, even where only one decision is open.
  for (const slip of ["", "dcs_", "d", "dcs_1", "yes please", yes.decision.slice(0, 8)])
    expect(await stoa("decide", slip, "--approve")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `stoa: ${JSON.stringify(slip)} is not the id of a decision. "stoa decide" lists the open ones.\n`,
    })
  // Whoever may not answer is not told how to; what asks for a yes takes no fields.
  const read = await asJim("decide", yes.decision, "--show")
  expect(read.stdout).toContain("  may answer: admin\n  You may not answer it: ask one of them.\n")
  expect(read.stdout).not.toContain("answer: stoa decide")
  expect(await asJim("decide", yes.decision)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/\nstoa: You may not answer it: ask one of them\.\n$/),
  })
  for (const filled of [
    ["--field", "a=1"],
    ["--value", "1"],
  ])
    expect(await stoa("decide", yes.decision, ...filled)).toMatchObject({
      code: 2,
      stderr: "stoa: This is an approval: give --approve or --deny.\n",
    })
  const human = await asJim("call", "--status", yes.call)
  expect(human).toMatchObject({ code: 3, stdout: `${yes.call}\n` })
  expect(human.stderr).toMatch(new RegExp(`waiting until somebody decides ${yes.decision}`))
  const own = await asJim("decide", yes.decision, "--approve")
  expect(own).toMatchObject({ code: 2, stdout: "" })
  expect(own.stderr).toMatch(/not by whoever asked\)\. It is for admin to answer\.$/m)
  const answered = json(await stoa("decide", yes.decision, "--approve", "--input", '{"word":"less"}', "--json"))
  expect(answered).toEqual(await http(`decisions/${yes.decision}`))
  expect(answered).toMatchObject({ state: "answered", verdict: "approve" })
  const done = json(await asJim("call", "--status", yes.call, "--wait", "20", "--json"))
  expect(done).toMatchObject({ state: "done", input: { word: "less" }, output: { said: true } })
  const late = "This decision is answered (approve by admin)."
  for (const more of [["--deny"], []]) {
    const ended = await stoa("decide", yes.decision, ...more)
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(late) })
  }
  expect((await stoa("decide", yes.decision, "--show")).stdout).toMatch(/^  answered \(approve by admin\) at 20\S+$/m)

  const no = await waiting("wipe")
  await stoa("decide", no.decision, "--deny", "--note", "not today")
  const refused = await asJim("call", "--status", no.call, "--wait", "20", "--json")
  expect(json(refused, 2)).toMatchObject({ state: "refused", error: { tag: "ToolAuthorizationError" } })
  expect(refused.stderr).toMatch(/not today/)

  const stopped = await waiting("wipe")
  expect(json(await asJim("call", "--cancel", stopped.call, "--json"))).toMatchObject({ state: "canceled" })
  expect(await asJim("call", "--status", stopped.call)).toMatchObject({ code: 1, stdout: "" })
  expect(await asJim("call", "--cancel", stopped.call)).toMatchObject({ code: 2, stdout: "" })
})

it("an approved call whose tool was removed meanwhile: decide says that it was refused, and why", async () => {
  await house.admin.tools.add(risky("fleeting"))
  const { call, decision } = await waiting("fleeting")
  await house.admin.tools.remove("fleeting")
  const why =
    '"fleeting" was removed, or its caller may no longer see it, after it was asked: the approved call did not run'
  const answered = await stoa("decide", decision, "--approve")
  expect(answered).toMatchObject({ code: 0, stderr: `The call was refused all the same: ${why}.\n` })
  expect(await asJim("call", "--status", call)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${why} (${call}).`),
  })
})

it("decide needs exactly one answer; a link is made for whoever may answer; an approval from now on is listed and revoked", async () => {
  await house.admin.tools.add(risky("burn"))
  const { call, decision } = await waiting("burn")
  const ended = await Promise.all([
    stoa("decide", decision),
    stoa("decide", decision, "--approve", "--deny"),
    stoa("decide", decision, "--deny", "--input", "{}"),
    stoa("decide", "--approve"),
    stoa("decide", "dec_nowhere", "--approve"),
  ])
  expect(ended.map((one) => [one.code, one.stdout])).toEqual(ended.map(() => [2, ""]))
  expect(ended[0].stderr).toMatch(/--approve, --deny or --value JSON/)
  // What is to be answered is shown with it, and whose links one may make is said.
  expect(ended[0].stderr).toContain(decision)
  const foreign = await stoa("decide", decision, "--link", "--for", "Jim")
  expect(foreign).toMatchObject({ code: 2, stdout: "" })
  expect(foreign.stderr).toMatch(/Only Jim can ask for this link, under their own token; or the house sends it/)
  const link = json(await stoa("decide", decision, "--link", "--json"))
  expect(link).toMatchObject({ url: expect.stringMatching(new RegExp(`^${house.url}/d/[^/]{20,}$`)) })
  await stoa("decide", decision, "--approve", "--reach", "always")
  expect(json(await asJim("call", "--status", call, "--wait", "20", "--json"))).toMatchObject({ state: "done" })
  expect(json(await asJim("call", "burn", "--input", '{"word":"again"}', "--json"))).toMatchObject({ state: "done" })
  const given = json(await stoa("decide", "--approvals", "--json")) as unknown as Array<{ id: string; tool: string }>
  const { id } = given.find((one) => one.tool === "burn")!
  expect(await stoa("decide", "--revoke", id)).toMatchObject({ code: 0, stdout: "" })
  expect(await stoa("decide", "--revoke", "apv_x")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/"stoa decide --approvals" lists yours\.\n$/),
  })
  await waiting("burn")
})

it("a form is answered by decide --value or call --result: the two are one act", async () => {
  await house.admin.spaces.add({ name: "desk", kind: "public", members: ["Jim"] })
  await house.admin.tools.add(tool("choose", { executionType: "space", execution: {} }))
  const open = async () =>
    json(await asJim("call", "choose", "--space", "desk", "--input", '{"word":"a"}', "--json"), 3)
  const [one, two] = [await open(), await open()]
  const decision = (one["on"] as { id: string }).id
  expect(await stoa("decide", decision, "--approve")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^stoa: This is a form: give .*--value JSON or --deny\. See it with: /),
  })
  expect(await asJim("call", "choose", "--input", '{"word":"a"}')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('with --space NAME; "stoa spaces ls" lists yours.'),
  })
  expect(json(await stoa("decide", decision, "--value", '{"picked":1}', "--json"))).toMatchObject({ verdict: "submit" })
  expect(json(await asJim("call", "--status", String(one["id"]), "--wait", "20", "--json"))).toMatchObject({
    state: "done",
    output: { picked: 1 },
  })
  const submitted = await stoa("call", "--result", String(two["id"]), "--input", '{"picked":2}', "--json")
  expect(json(submitted)).toMatchObject({ state: "done", output: { picked: 2 } })
})

it("G-12 pause stops a tool at once, lists it, and lets it go on", async () => {
  await house.admin.tools.add(tool("noisy"))
  const paused = json(await stoa("pause", "tools/noisy", "--reason", "too loud", "--json"))
  expect(paused).toMatchObject({ subject: "tools/noisy", reason: "too loud" })
  expect(json(await stoa("pause", "--json"))).toEqual(await itemsOf("pauses"))
  const refused = await asJim("call", "noisy", "--input", '{"word":"hi"}')
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/paused/) })
  expect(await stoa("pause", "--lift", "tools/noisy")).toMatchObject({ code: 0, stdout: "" })
  expect(await asJim("call", "noisy", "--input", '{"word":"hi"}')).toMatchObject({ code: 0 })
  const ended = await Promise.all([
    stoa("pause", "noisy"),
    asJim("pause", "everything"),
    stoa("pause", "--lift", "tools/no"),
    stoa("pause", "tools/zebra"),
    stoa("pause", "agents/NOBODY"),
  ])
  expect(ended.map((one) => one.code)).toEqual([2, 2, 2, 2, 2])
  expect(ended[4].stderr).toMatch(
    /"NOBODY" that you can see\. "stoa people ls" and "stoa agents ls" list everybody\.$/m,
  )
  expect(ended[3].stderr).toMatch(/nobody has "tools\/zebra"; .* "stoa tools ls" lists yours\.$/m)
})

it("a refusal says who can give the right, and here the command that does it, as it works in a checkout", async () => {
  await house.admin.tools.add(tool("guarded"))
  await house.admin.principals.add({ kind: "agent", name: "Nel", roles: [] })
  const { token } = await house.admin.tokens.add({ principal: "Nel" })
  const asNel = (...args: ReadonlyArray<string>) =>
    home.spawn([...args, "--token", token], { env: { npm_command: "exec" } }).ended
  const refused = await asNel("call", "guarded", "--input", '{"word":"x"}')
  expect(refused).toMatchObject({ code: 2, stdout: "" })
  expect(refused.stderr).toMatch(
    /an admin can grant Nel execute on tools\/guarded\. An admin can do this with: npx stoa grants add Nel tools\/guarded\n$/,
  )
  const secrets = await asNel("secrets", "ls")
  expect(secrets).toMatchObject({ code: 2, stdout: "" })
  const command = /An admin can do this with: npx stoa (grants add Nel '([^']+)' --action read)\n$/.exec(secrets.stderr)
  expect(command).not.toBeNull()
  // The command works.
  expect(await stoa(...command![1]!.replaceAll("'", "").split(" "))).toMatchObject({ code: 0 })
  expect(await asNel("secrets", "ls")).toMatchObject({ code: 0 })
  expect(await stoa("grants", "add", "Nel", "tools/guarded")).toMatchObject({ code: 0 })
  expect(await asNel("call", "guarded", "--input", '{"word":"x"}')).toMatchObject({ code: 0 })
})

it("the commands of a hint are enough, whoever reads it and whatever the token's context", async () => {
  await house.admin.principals.add({ kind: "agent", name: "Kim" })
  const { token } = await house.admin.tokens.add({ principal: "Kim" })
  const refused = await stoa("grants", "add", "Jim", "tools/quiet-one", "--token", token)
  const hint = /An admin can do this with: stoa (.+); stoa (token add .+)\n$/.exec(refused.stderr)
  expect(hint?.slice(1)).toEqual(["grants add Kim grants/Jim --action admin", "token add Kim --context internal"])
  expect(await stoa(...hint![1]!.split(" "))).toMatchObject({ code: 0 })
  const internal = (await stoa(...hint![2]!.split(" "))).stdout.trim()
  expect(await stoa("grants", "add", "Jim", "tools/quiet-one", "--token", internal)).toMatchObject({ code: 0 })
})

it("a question that nobody may answer says how that changes, as it works in a checkout", async () => {
  await house.admin.tools.add(risky("alone"))
  const made = json(await stoa("call", "alone", "--input", '{"word":"go"}', "--json"), 3)
  const { id } = made["on"] as { id: string }
  const status = await stoa("call", "--status", made["id"] as string)
  expect(status.stderr).toContain(`alone is waiting until another person decides ${id}. Nobody `)
  expect(status.stderr).not.toContain("stoa decide")
  const shown = await home.spawn(["decide", id, "--show"], { env: { npm_command: "exec" } }).ended
  expect(shown).toMatchObject({ code: 0, stderr: "" })
  expect(shown.stdout).toMatch(/Nobody .*Add one with: npx stoa people add NAME --role admin\.$/m)
  await house.admin.calls.cancel(made["id"] as never)
})

it("hosts lists the processes that offer functions, and takes one away", async () => {
  const host = house.admin
    .host({ name: "desk" })
    .tool("hello", { description: "Says hello.", inputSchema: {} }, () => "hi")
  await host.start()
  expect(await asJim("call", "hello")).toMatchObject({ code: 0, stdout: '"hi"\n' })
  expect(json(await stoa("hosts", "ls", "--json"))).toEqual(await itemsOf("hosts"))
  expect((await stoa("hosts", "ls")).stdout).toMatch(/^desk +true +true +hello /m)
  expect(await asJim("hosts", "rm", "desk")).toMatchObject({ code: 2, stdout: "" })
  expect(await stoa("hosts", "rm", "desk")).toMatchObject({ code: 0, stdout: "" })
  await expect(host.ended).rejects.toThrow(/was removed/)
  expect(await asJim("call", "hello")).toMatchObject({ code: 2 })
})

it("a tool that is not there: the nearest name, and where the others are", async () => {
  await house.admin.tools.add(tool("sharpen"))
  const ended = await Promise.all([asJim("call", "sharpn"), asJim("call", "nothere")])
  for (const one of ended) expect(one).toMatchObject({ code: 2, stdout: "" })
  expect(ended[0].stderr).toMatch(
    /"sharpn" not found\. Did you mean "sharpen"\? See what you may call with: stoa tools ls$/m,
  )
  expect(ended[1].stderr).toMatch(/"nothere" not found.*: stoa tools ls$/m)
})

it("decide lists those that have waited longest, says how to see the rest, and a program gets all of them", async () => {
  await house.admin.tools.add(risky("shred"))
  const ask = () =>
    fetch(`${house.url}/api/v1/tools/shred/call`, {
      method: "POST",
      headers: { authorization: `Bearer ${jim}`, "content-type": "application/json" },
      body: JSON.stringify({ input: { word: "x".repeat(200) }, wait: 0 }),
    })
  for (let left = 105; left > 0; left--) expect((await ask()).status).toBe(202)
  const everything = json(await stoa("decide", "--json")) as unknown as Array<{ id: string; createdAt: string }>
  const ids = everything.map((one) => one.id)
  expect(ids.length).toBeGreaterThanOrEqual(105)
  const times = everything.map((one) => one.createdAt)
  expect(times).toEqual(times.toSorted())
  const shown = (ended: ProcessResult) => ended.stdout.match(/^dcs_\S+/gm) ?? []
  const first = await stoa("decide")
  expect(shown(first)).toEqual(ids.slice(0, 20))
  expect(first.stdout.split("\n").every((line) => line.length < 300)).toBe(true)
  for (const [, id] of first.stdout.matchAll(/answer: stoa decide (\S+) /g)) expect(id).toMatch(/^dcs_.{36}$/)
  const cursor = /Next page: stoa decide --cursor (\S+)\. All: stoa decide --all$/m.exec(first.stderr)![1]!
  const [second, few, whole, fewJson, tooMany] = await Promise.all([
    stoa("decide", "--cursor", cursor),
    stoa("decide", "--limit", "3"),
    stoa("decide", "--all"),
    stoa("decide", "--limit", "3", "--json"),
    stoa("decide", "--limit", "101"),
  ])
  expect(shown(second)).toEqual(ids.slice(20, 40))
  expect(shown(few)).toEqual(ids.slice(0, 3))
  expect(shown(whole)).toEqual(ids)
  expect(whole.stderr).toBe("")
  expect(json(fewJson)).toEqual(everything.slice(0, 3))
  expect(tooMany).toMatchObject({ code: 2, stdout: "" })
})
