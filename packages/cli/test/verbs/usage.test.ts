/** Where the house is and who asks; mistakes; the old Node of a machine. */
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const root = join(import.meta.dirname, "../../../..")
const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())

const sentence = (words: RegExp) => expect.stringMatching(new RegExp(`^stoa: [^\\n]*${words.source}[^\\n]*\\n$`))

describe("usage", () => {
  it.each([
    [["nonsense"], /Unknown subcommand "nonsense".*See "stoa --help"/],
    [["agents", "ls", "--foo"], /--foo.*See "stoa agents ls --help"/],
    [["agents", "add"], /name.*See "stoa agents add --help"/],
    [["audit", "--limit", "many"], /limit/],
    [["agents", "add", "a", "b"], /b/],
    [["--wizard"], /--wizard/],
  ])("%j is exit 2, one sentence, nothing on stdout", async (args, words) => {
    expect(await home.stoa(...args)).toMatchObject({ code: 2, stdout: "", stderr: sentence(words) })
  })

  const empty = /(Give|is empty: give) .*See "stoa .* --help"/
  it.each([
    [["say", "", "hello"]],
    [["call", ""]],
    [["memory", "history", ""]],
    [["spaces", "read", " "]],
    [["tools", "show", ""]],
    [["token", "rm", ""]],
    [["token", "ls", ""]],
    [["runs", "show", ""]],
    [["servers", "rm", ""]],
    [["servers", "tools", ""]],
    [["pause", "--lift", ""]],
    [["secrets", "rm", ""]],
    [["agents", "rm", ""]],
    [["hosts", "rm", ""]],
    [["chat", "show", ""]],
    [["connect", "claude-code", "--agent", ""]],
    [["events", "--space", ""]],
    [["backup", ""]],
    [["agents", "ls", "--token", ""]],
  ])("%j is exit 2: what is empty was meant to be something", async (args) => {
    expect(await home.stoa(...args)).toMatchObject({ code: 2, stdout: "", stderr: sentence(empty) })
  })

  it("help that is asked for is data; without a verb it is talk and exit 2", async () => {
    const [help, verb, bare] = await Promise.all([
      home.stoa("--help"),
      home.stoa("token", "add", "--help"),
      home.stoa(),
    ])
    expect(help).toMatchObject({ code: 0, stderr: "" })
    for (const name of "serve login reload token agents people doctor backup restore audit secrets events".split(" "))
      expect(help.stdout).toMatch(new RegExp(`^ +${name} `, "m"))
    expect(verb).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("stoa token add pam --json") })
    expect(bare).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("serve") })
  })
})

it("names what is not there, without a gap, and where to look", async () => {
  expect(await home.stoa("api", "foo")).toMatchObject({ code: 2, stderr: sentence(/There is no "foo"\./) })
  expect(await home.stoa("events", "--space", "nowhere")).toMatchObject({
    code: 2,
    stderr: sentence(/"nowhere" that you can see\. "stoa spaces ls" lists yours\./),
  })
})

describe("which house, by which token", () => {
  it("--url and --token win over STOA_URL and STOA_TOKEN, those over the local house", async () => {
    const away = { STOA_DATA: join(home.folder, "elsewhere") }
    const agent = await house.admin.principals.add({ kind: "agent", name: "Flagged" })
    const { token } = await house.admin.tokens.add({ principal: agent.id })
    const [local, env, flags, none] = await Promise.all([
      home.stoa("api", "principals", "me"),
      home.spawn(["api", "principals", "me"], { env: { ...away, STOA_URL: house.url, STOA_TOKEN: house.token } }).ended,
      home.spawn(["api", "principals", "me", "--url", house.url, "--token", token], {
        env: { ...away, STOA_URL: "http://127.0.0.1:1", STOA_TOKEN: "wrong" },
      }).ended,
      home.spawn(["api", "principals", "me", "--url", house.url], { env: away }).ended,
    ])
    expect([local, env, flags].map(({ stdout }) => (JSON.parse(stdout) as { name: string }).name)).toEqual([
      "admin",
      "admin",
      "Flagged",
    ])
    expect(none).toMatchObject({
      code: 2,
      stdout: "",
      stderr: sentence(/There is no token\. Give --token or STOA_TOKEN; on the house's machine set STOA_DATA/),
    })
  })

  it("says where an address or a token came from that does not work", async () => {
    const [address, token] = await Promise.all([
      home.spawn(["agents", "ls"], { env: { STOA_URL: "http://127.0.0.1:1" } }).ended,
      home.spawn(["agents", "ls"], { env: { STOA_TOKEN: "wrong" } }).ended,
    ])
    expect(address).toMatchObject({
      code: 1,
      stderr: sentence(/at http:\/\/127\.0\.0\.1:1 \(from STOA_URL\)\. .*"stoa serve", .* with --url or STOA_URL\./),
    })
    expect(token).toMatchObject({ code: 2, stderr: sentence(/It came from STOA_TOKEN\./) })
  })

  it("a wrong token is exit 2, no house is exit 1, no address is exit 2", async () => {
    const [token, nobody, nowhere] = await Promise.all([
      home.stoa("agents", "ls", "--token", "wrong"),
      home.stoa("agents", "ls", "--url", "http://127.0.0.1:1"),
      home.stoa("agents", "ls", "--url", "house"),
    ])
    expect(token).toMatchObject({
      code: 2,
      stdout: "",
      stderr: sentence(/This token is unknown, expired or revoked\..* It came from --token\./),
    })
    expect(nobody).toMatchObject({
      code: 1,
      stdout: "",
      stderr: sentence(/No house answers at http:\/\/127\.0\.0\.1:1\./),
    })
    expect(nowhere).toMatchObject({ code: 2, stdout: "", stderr: sentence(/"house" is not the address of a house/) })
  })

  it("a time that is none is told with an example", async () => {
    const stderr = sentence(/--expires "tomorrow" is not a time: give one such as 2027-01-31T00:00:00Z\./)
    const ended = await Promise.all([
      home.stoa("token", "add", "admin", "--expires", "tomorrow"),
      home.stoa("grants", "add", "admin", "tools/x", "--expires", "tomorrow"),
    ])
    expect(ended).toMatchObject([
      { code: 2, stdout: "", stderr },
      { code: 2, stdout: "", stderr },
    ])
  })

  it("the local admin's token is sent to no foreign house", async () => {
    const heard: Array<string | undefined> = []
    const foreign = createServer((request, response) => {
      heard.push(request.headers.authorization)
      response.writeHead(401, { "content-type": "application/problem+json" }).end('{"tag":"Unauthenticated"}')
    })
    await new Promise<void>((done) => foreign.listen(0, "0.0.0.0", done))
    const { port } = foreign.address() as AddressInfo
    await Promise.all([
      home.stoa("agents", "ls", "--url", `http://0.0.0.0:${port}`),
      home.stoa("agents", "ls", "--url", `http://0.0.0.0:${port}`, "--token", "given"),
    ])
    expect(heard.toSorted()).toEqual(["Bearer given", undefined])
    foreign.close()
  })

  it("doctor and backup look at the house that was named, and never make one", async () => {
    const empty = join(home.folder, "empty")
    mkdirSync(empty)
    const nowhere = { cwd: empty, env: { STOA_DATA: join(empty, "data"), STOA_PORT: "1" } }
    const [named, none, copy] = await Promise.all([
      home.stoa("doctor", "--url", "http://127.0.0.1:1"),
      home.spawn(["doctor"], nowhere).ended,
      home.spawn(["backup", "copy.db"], nowhere).ended,
    ])
    expect(named).toMatchObject({
      code: 1,
      stdout: "",
      stderr: sentence(/No house answers at http:\/\/127\.0\.0\.1:1\./),
    })
    const words = /No house answers at \S+, and there is no data folder/
    expect([none, copy]).toMatchObject([
      { code: 2, stdout: "", stderr: sentence(words) },
      { code: 2, stdout: "", stderr: sentence(words) },
    ])
    expect(existsSync(join(empty, "data"))).toBe(false)
  })
})

describe("the command itself", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
    version: string
  }
  /** The Node of this machine, whatever its age; npm's carried one is not on its PATH. */
  const path = process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules"))
  const node = path.map((folder) => join(folder, "node")).find((file) => existsSync(file))!
  const env = { PATH: path.join(delimiter) }

  it("npx stoa runs it from the checkout", async () => {
    const ended = await home.program("npx", ["stoa", "--version"], { cwd: root, env }).ended
    expect(ended).toMatchObject({ code: 0, stdout: `stoa v${manifest.version}\n` })
  })

  it("runs on the machine's own Node, passing on arguments, output, exit code and signals", async () => {
    const bin = join(root, "packages/cli/bin/stoa.mjs")
    const [listed, wrong] = await Promise.all([
      home.program(node, [bin, "agents", "ls", "--json"], { env }).ended,
      home.program(node, [bin, "nonsense"], { env }).ended,
    ])
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\[.*\]\n$/) })
    expect(wrong).toMatchObject({ code: 2, stdout: "" })
    const watching = home.program(node, [bin, "events", "--json", "--after", "0"], { env })
    await watching.said(/house.started/)
    expect(await watching.signal("SIGINT")).toMatchObject({ code: 0, signal: null })
  })

  it("a house started by the launcher goes when the launcher is killed", async () => {
    const other = new Home()
    const started = other.program(node, [join(root, "packages/cli/bin/stoa.mjs"), "serve"], { env })
    const { url } = await other.waitForHouse(started)
    // The house holds the launcher's outputs: they close when it has gone.
    await started.signal("SIGKILL")
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed")
    // Its folder is free too: nothing of it is left.
    expect(await (await other.start()).stop()).toMatchObject({ code: 0 })
    await other.remove()
  })
})
