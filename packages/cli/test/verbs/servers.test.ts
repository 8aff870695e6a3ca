/** MCP servers from a terminal, against a real house. */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { pause } from "../../../../test/pause.ts"
import { type ProcessResult, Home, type House } from "../kit/home.ts"

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
const changing = fileURLToPath(new URL("../../../server/test/servers/serversFixture.ts", import.meta.url))
const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())

/** What HTTP says, without any client of ours. */
const http = async (path: string): Promise<unknown> => {
  const answer = await fetch(`${house.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${house.token}` } })
  return answer.json()
}
const json = (ended: ProcessResult): unknown => {
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[^\n]+\n$/) })
  return JSON.parse(ended.stdout)
}
const stoa = (...args: ReadonlyArray<string>) => home.stoa(...args)

it("a program after -- is added, listed and removed; JSON is the HTTP object", async () => {
  const added = json(
    await stoa(
      "servers",
      "add",
      "every",
      "--allow",
      "echo",
      "--timeout",
      "60",
      "--json",
      "--",
      process.execPath,
      everything,
      "stdio",
    ),
  )
  expect(added).toMatchObject({
    name: "every",
    status: "connected",
    tools: ["echo"],
    held: [],
    missing: [],
    timeoutSeconds: 60,
  })
  expect(added).toEqual(await http("mcp-servers/every"))
  expect(json(await stoa("servers", "ls", "--json"))).toEqual(
    ((await http("mcp-servers")) as { items: ReadonlyArray<unknown> }).items,
  )
  expect(await stoa("servers", "ls")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^name .*\nevery +connected +stdio +1 /),
  })
  expect(await stoa("servers", "accept", "every", "echo")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no held tool "echo"\. No tool of it is held\./),
  })
  expect(await stoa("servers", "rm", "every")).toMatchObject({ code: 0, stdout: "", stderr: "every is removed\n" })
  expect(await stoa("servers", "rm", "every")).toMatchObject({ code: 2 })
})

it("a tool that changed while the house was away is shown and accepted, just as it was shown", async () => {
  const file = join(home.folder, "tools.json")
  writeFileSync(file, JSON.stringify({ mail: "sends mail" }))
  json(await stoa("servers", "add", "post", "--json", "--", process.execPath, changing, file))
  expect(json(await stoa("servers", "tools", "post", "--json"))).toMatchObject([{ name: "mail", state: "active" }])
  await house.stop()
  writeFileSync(file, JSON.stringify({ mail: "sends mail to me" }))
  house = await home.start()
  while ((await house.admin.mcpServers.get("post")).held.length === 0) await pause()
  const [{ held }] = json(await stoa("servers", "tools", "post", "--json")) as [{ held: { digest: string } }]
  expect(await stoa("servers", "tools", "post")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`\nmail +held +${held.digest.slice(0, 16)} +sends mail +sends mail to me\n$`),
    ),
  })
  // Looking accepts nothing, and says how to.
  const looked = await stoa("servers", "accept", "post", "mail")
  expect(looked).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(
      /It said:[^]*\n- +"description": "sends mail"[^]*It says now:[^]*\n\+ +"description": "sends mail to me"/,
    ),
    stderr: expect.stringContaining(`stoa servers accept post mail --digest ${held.digest}`),
  })
  expect((await house.admin.mcpServers.get("post")).held).toEqual(["mail"])
  expect(await stoa("servers", "accept", "post", "male")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('post has no held tool "male". Held are: mail.'),
  })
  expect((await stoa("call", "post/mail")).stderr).toMatch(
    /"mail" of the MCP server "post" is held: .* To see the change and accept it: stoa servers accept post mail\n$/,
  )
  for (const wrong of ["0".repeat(64), "0".repeat(16), held.digest.slice(0, 15)])
    expect(await stoa("servers", "accept", "post", "mail", "--digest", wrong)).toMatchObject({ code: 2, stdout: "" })
  expect((await house.admin.mcpServers.get("post")).held).toEqual(["mail"])
  // It changes after it was looked at: what was shown is not what would be accepted.
  await house.stop()
  writeFileSync(file, JSON.stringify({ mail: "sends mail to me and to her" }))
  house = await home.start()
  const heldNow = async () => (await house.admin.mcpServers.tools("post")).items[0]!.held!.digest
  while ((await heldNow()) === held.digest) await pause()
  expect(await stoa("servers", "accept", "post", "mail", "--digest", held.digest)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/changed again/),
  })
  const accepted = await stoa("servers", "accept", "post", "mail", "--digest", (await heldNow()).slice(0, 16), "--json")
  expect(json(accepted)).toMatchObject({ name: "post", tools: ["mail"], held: [] })
  await stoa("servers", "rm", "post")
})

it("a secret that is not set is named with the command that sets it", async () => {
  const url = ["--url", "http://127.0.0.1:9/mcp", "--header", "authorization=${secret.NOPE}"]
  const { stdout, stderr } = await stoa("servers", "add", "locked", ...url)
  expect(stdout + stderr).toMatch(/locked does not work yet: .*"NOPE" is not set\..* stoa secrets set NOPE/)
  await stoa("servers", "rm", "locked")
})

it("--url is the server's address there; nobody at it is a server that is kept and tried", async () => {
  const { code, stderr, stdout } = await stoa(
    "servers",
    "add",
    "away",
    "--url",
    "http://127.0.0.1:9/mcp?key=hush",
    "--header",
    "x-api-key=a=very=secret",
    "--transport",
    "sse",
    "--review",
    "trust",
    "--json",
  )
  // What was not reached has failed, though it is kept.
  expect(code).toBe(1)
  expect(stderr).toContain("away is added")
  const added = JSON.parse(stdout)
  expect(added).toMatchObject({
    status: "error",
    transport: "sse",
    url: "http://127.0.0.1:9/mcp",
    review: "trust",
    error: expect.stringMatching(/^nothing answers at http:\/\/127\.0\.0\.1:9\/mcp\. Is the server running/),
  })
  expect(JSON.stringify(added)).not.toMatch(/hush|very=secret/)
  expect(added).toMatchObject((await http("mcp-servers/away")) as object)
  // It has no tools, and the reason is told beside them.
  expect(await stoa("servers", "tools", "away")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^none\naway is error: nothing answers at http:\/\/127\.0\.0\.1:9\/mcp\. [^\n]+\n$/),
  })
  expect(await stoa("servers", "tools", "away", "--json")).toEqual({
    code: 0,
    signal: null,
    stdout: "[]\n",
    stderr: "",
  })
  expect(await stoa("servers", "add", "away", "--url", "http://127.0.0.1:9/mcp")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/already an MCP server named "away"\. .* add it again: stoa servers rm away\n$/),
  })
  await stoa("servers", "rm", "away")
})

it("mistakes are exit 2 and a sentence", async () => {
  const ended = await Promise.all([
    stoa("servers", "add", "nothing"),
    stoa("servers", "add", "both", "--url", "http://127.0.0.1:9/", "--", "cat"),
    stoa("servers", "add", "a/b", "--", "cat"),
    stoa("servers", "add", "head", "--url", "http://127.0.0.1:9/", "--header", "no-value"),
    stoa("servers", "rm", "nowhere"),
  ])
  expect(ended.map((one) => [one.code, one.stdout])).toEqual(ended.map(() => [2, ""]))
  expect(ended[0].stderr).toMatch(/a program after --, or an address with --url/)
  expect(ended[2].stderr).toMatch(/letters, digits/)
})

it("a question of a server to the only admin can still be answered, by an admin who comes", async () => {
  await house.admin.mcpServers.add({ name: "asker", command: process.execPath, args: [everything, "stdio"] })
  const asked = await stoa("call", "asker/trigger-elicitation-request", "--wait", "5")
  expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining("An admin whom you add now can answer it") })
  expect(asked.stderr).not.toContain("make the call again")
  expect((await stoa("decide")).stdout).toContain("An admin whom you add now can answer it")
  await house.admin.mcpServers.remove("asker")
})

it("looking at a program shows it and runs nothing, until exactly this is confirmed; a text is no program", async () => {
  const trace = join(home.folder, "looked")
  const code = `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "\u202e")`
  const program = ["--", process.execPath, "-e", code]
  const shown = await stoa("servers", "look", "trace", "--env", "MODE=fast", ...program)
  expect(shown.code).toBe(2)
  for (const part of [
    `program   ${JSON.stringify(process.execPath)}`,
    'argument  "-e"',
    "\\u202e",
    'variable  MODE="fast"',
  ])
    expect(shown.stdout).toContain(part)
  expect(existsSync(trace)).toBe(false)
  const digest = /--confirm ([0-9a-f]{64})/.exec(shown.stderr)![1]!
  const other = await stoa("servers", "look", "trace", "--confirm", digest, ...program)
  expect([other.code, existsSync(trace)]).toEqual([2, false])
  const run = await stoa("servers", "look", "trace", "--env", "MODE=fast", "--confirm", digest, ...program)
  expect([run.code, existsSync(trace)]).toEqual([1, true])

  const every = [process.execPath, everything, "stdio"]
  const { program: asked } = JSON.parse((await stoa("servers", "look", "every", "--json", "--", ...every)).stdout)
  const seen = await stoa("servers", "look", "every", "--confirm", asked.digest, "--", ...every)
  expect(seen).toMatchObject({ code: 0, stdout: expect.stringMatching(/^every answers: \d+ tools\n {2}echo \(/) })
  for (const [verb, text] of [
    ["look", "openapi: 3.1.0"],
    ["add", "https://mcp.example/mcp"],
  ] as const)
    expect((await stoa("servers", verb, "odd", "--", text)).stderr).toMatch(/command/)
  expect(await http("mcp-servers/trace")).toMatchObject({ status: 404 })
})
