/** Talking from a terminal: spaces, say and events, against a real house. */
import { connect, type Stoa } from "@stoa/sdk"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ProcessResult, Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
let jim: Stoa
let token: string
beforeAll(async () => {
  house = await home.start()
  await house.admin.principals.add({ kind: "agent", name: "Jim" })
  token = (await house.admin.tokens.add({ principal: "Jim" })).token
  jim = connect({ url: house.url, token })
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

it("spaces add, ls and read print the HTTP objects; say posts", async () => {
  const added = json(await stoa("spaces", "add", "accounting", "--kind", "private", "--member", "Jim", "--json"))
  expect(added).toEqual(await http("spaces/accounting"))
  expect(added).toMatchObject({ name: "accounting", kind: "private", trigger: "mention" })
  expect((added as { members: Array<{ name: string }> }).members.map((one) => one.name)).toEqual(["admin", "Jim"])
  const said = json(await stoa("say", "accounting", "good morning", "--json")) as { id: string }
  expect(said).toEqual(await http(`messages/${said.id}`))
  const reply = json(await stoa("say", "accounting", "and to you", "--reply-to", said.id, "--token", token, "--json"))
  expect(reply).toMatchObject({ seq: 2, replyTo: said.id, author: { name: "Jim" } })
  // The beginning of an id is enough, as a terminal shows it.
  const short = said.id.slice(4, 27)
  expect(json(await stoa("say", "accounting", "again", "--reply-to", short, "--json"))).toMatchObject({
    seq: 3,
    replyTo: said.id,
  })
  expect(await stoa("say", "accounting", "again", "--reply-to", "ffffffff")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/None of the newest 100 messages in accounting begins with "ffffffff"/),
  })
  const [listed, read, newest] = await Promise.all([
    stoa("spaces", "ls", "--json"),
    stoa("spaces", "read", "accounting", "--json"),
    stoa("spaces", "read", "accounting", "--limit", "1"),
  ])
  expect(json(listed)).toEqual(((await http("spaces")) as { items: unknown }).items)
  expect(json(read)).toEqual(((await http("spaces/accounting/messages")) as { items: unknown }).items)
  expect(newest).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^seq +createdAt +author +id +text\n3 .*Z +admin +msg_\S{36} +again\n$/),
  })
})

it("join and leave change who is in it, with the talk on stderr", async () => {
  await stoa("spaces", "add", "annex", "--topic", "far away")
  expect(await stoa("spaces", "join", "annex", "Jim")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "Jim is in annex\n",
  })
  expect((await jim.spaces.get("annex")).topic).toBe("far away")
  expect(await stoa("spaces", "leave", "annex", "--token", token)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^stoa: Say who leaves, such as: stoa spaces leave annex Jim\./),
  })
  expect(await stoa("spaces", "leave", "annex", "Jim", "--token", token)).toMatchObject({ code: 0, stdout: "" })
  const hidden = {
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^stoa: There is no space "annex" that you can see/),
  }
  expect(await stoa("say", "annex", "hello?", "--token", token)).toMatchObject(hidden)
  expect(await stoa("spaces", "read", "annex", "--token", token)).toMatchObject(hidden)
})

it("mistakes are exit 2 and a sentence", async () => {
  const ended = await Promise.all([
    stoa("spaces", "add", "two words"),
    stoa("spaces", "add", "a", "--kind", "secret"),
    stoa("spaces", "add", "pair", "--kind", "dm"),
    stoa("say", "nowhere", "hello"),
    stoa("say", "annex", " "),
  ])
  expect(ended.map((one) => [one.code, one.stdout])).toEqual(ended.map(() => [2, expect.any(String)]))
  expect(ended[2].stderr).toMatch(/exactly two members/)
})

it("events --space prints one JSON a line of that space alone", async () => {
  await stoa("spaces", "add", "warehouse", "--kind", "public")
  const watching = home.spawn(["events", "--space", "warehouse", "--after", "0", "--json"])
  await watching.said(/space\.added/)
  await house.admin.spaces.post("accounting", { text: "elsewhere" })
  const said = await jim.spaces.post("warehouse", { text: "boxes" })
  await watching.said(/boxes[^\n]*\n/)
  const ended = await watching.signal("SIGTERM")
  const lines = ended.stdout.trimEnd().split("\n")
  const events = lines.map((line) => JSON.parse(line) as { kind: string; body: unknown; space: string })
  expect(events.map((event) => event.kind)).toEqual(["space.added", "message.created"])
  expect(events[1]).toMatchObject({ space: said.space, body: { message: { id: said.id, text: "boxes" } } })
  expect(ended.code).toBe(0)
  expect(await stoa("events", "--space", "nowhere")).toMatchObject({ code: 2, stdout: "" })
})
