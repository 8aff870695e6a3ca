/** Tools, servers, connect, rights and people: each used once in a real browser, in both widths, without a fault axe finds. */
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"
import { press } from "../kit/press.ts"

const { admin, as, data, listen, person, consoleLines, signIn, token, url, visitor } = houseInBrowser()

const everything = join(
  import.meta.dirname,
  "../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
)
const pasted = JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything] } } })

it("a server is pasted, looked at and added; its tool is tried, and the trail says who did it", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/servers")
  await page.getByText("No server is connected.").waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole("link", { name: "Add a server" }).first().click()
  await page.getByRole("textbox").fill("{")
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByRole("alert").getByText("This cannot be read").waitFor()
  await page.getByRole("textbox").fill('{"x": {"command": "/no/such/program"}}')
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByRole("button", { name: "Run it and look" }).click()
  await page.getByText("The program could not be started.").waitFor()
  await page.getByRole("textbox").fill(pasted)
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByText("This is a program. Nothing has run yet.").waitFor()
  await page.getByText(JSON.stringify(everything), { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole("button", { name: "Run it and look" }).click()
  await page.getByText("It answers:").waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole("button", { name: "Add everything" }).click()
  await page.getByRole("heading", { name: "everything" }).waitFor()
  await page.getByText("connected:").first().waitFor()
  expect(await axeFindings(page)).toEqual([])

  await page.getByRole("link", { name: "echo", exact: true }).click()
  await page.getByLabel("message").fill("hello there")
  await page.getByRole("button", { name: "What would happen" }).click()
  await page.getByText("It would run, by the rule role:admin.").waitFor()
  await page.getByRole("button", { name: "Call it" }).click()
  await page.getByText("It is done.").waitFor()
  await page
    .getByText(/hello there/)
    .last()
    .waitFor()
  expect(await axeFindings(page)).toEqual([])

  await page.getByRole("link", { name: "Why?" }).click()
  await page.getByText("Yes.", { exact: true }).waitFor()
  await page.getByText("The role admin allows everything on *.").waitFor()
  await page.getByText("The trail is complete and unchanged").waitFor()
  await page.getByRole("cell", { name: "called tools/everything/echo" }).first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(consoleLines).toEqual([])
}, 90_000)

it("a program is connected by one line, and the page says when it has come", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/connect/claude-code")
  await page.getByLabel("Name of the agent").fill("mate")
  // Before it is copied there is no token, and after that the line has it.
  expect(await page.locator("pre code").textContent()).toContain("Bearer stoa_…")
  expect((await admin().tokens.list({ limit: 100 })).items.some(({ label }) => label === "connect claude-code")).toBe(
    false,
  )
  await page.getByRole("button", { name: "Copy", exact: true }).click()
  await page.getByText("The token is shown only once and is bound to mate.").waitFor()
  const line = await page.locator("pre code").textContent()
  expect(line).toContain(`claude mcp add --transport http stoa ${url()}/mcp`)
  await page.getByText("Waiting for mate").waitFor()
  const bearer = /Bearer (\S+?)'?$/.exec(line ?? "")![1]!
  await fetch(`${url()}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bearer}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "Claude Code", version: "2.4" } },
    }),
  })
  await page.getByText("mate is here.").waitFor()
  await page.getByText(/Claude Code 2\.4, MCP 2025-06-18, sees \d+ tools/).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(consoleLines).toEqual([])
})

it("somebody is added with a token, sees less than an admin, and is retired", async () => {
  const { page } = await visitor(phone)
  await signIn(page, token(), "/people")
  await page.getByLabel("Name", { exact: true }).fill("Jonas")
  await page.getByRole("button", { name: "Add", exact: true }).click()
  await page.getByRole("button", { name: "Make a token" }).click()
  const made = await page.getByRole("status").locator("code").textContent()
  expect(made).toMatch(/^stoa_/)
  expect(await axeFindings(page)).toEqual([])

  const other = await visitor()
  await signIn(other.page, made!, "/tools")
  await other.page.getByRole("link", { name: /^whoami/ }).waitFor()
  expect(await other.page.getByText("See as").count()).toBe(0)
  await other.page.goto(`${url()}/servers`)
  await other.page.getByRole("alert").waitFor()
  expect(await axeFindings(other.page)).toEqual([])

  await page.getByRole("button", { name: "Retire" }).click()
  await page.getByRole("button", { name: "Yes, retire" }).click()
  await page.getByRole("link", { name: /Jonas/ }).waitFor({ state: "detached" })
  // Whoever is retired is led to the door at once, wherever they were.
  await other.page.waitForURL(/\/door\?next=/)
  await other.page.getByLabel("Or paste a token").waitFor()
  expect(consoleLines).toEqual([])
})

it("an admin sees the tools as somebody else gets them, and why others are left out", async () => {
  const eve = await person("Eve", ["guest"])
  await admin().tools.list({ as: eve.id })
  const { page } = await visitor()
  await signIn(page, token(), "/tools?as=Eve")
  await page.getByRole("heading", { name: "Not given" }).waitFor()
  await page.getByText("No rule allows it.").first().waitFor()
  expect(await axeFindings(page)).toEqual([])
})

it("looking at a program runs nothing and stores no key before it is confirmed, and a YAML text is no program", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/servers/add")
  const trace = join(data, "..", "looked")
  const run = ["-e", `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "")`]
  const secrets = async () => (await admin().secrets.list()).items.map(({ name }) => name)
  const before = await secrets()
  const look = async (text: string) => {
    await page.getByRole("textbox").fill(text)
    await page.getByRole("button", { name: "Look", exact: true }).click()
  }
  const env = { TRACE_KEY: "hush-hush-hush" }
  await look(JSON.stringify({ trace: { command: process.execPath, args: run, env } }))
  await page.getByText("This is a program. Nothing has run yet.").waitFor()
  for (const part of [process.execPath, ...run]) await page.getByText(JSON.stringify(part), { exact: true }).waitFor()
  expect(existsSync(trace)).toBe(false)
  expect(await secrets()).toEqual(before)
  // Another text takes the button away; what is no program never gets one.
  for (const text of ["openapi: 3.1.0\ninfo:\n  title: Pets", `touch ${trace}\nls`, "mcp.example.org/mcp"]) {
    await look(text)
    await page.getByRole("alert").first().waitFor()
    expect(await page.getByRole("button", { name: "Run it and look" }).count()).toBe(0)
  }
  await look(JSON.stringify({ trace: { command: process.execPath, args: run, env } }))
  await page.getByRole("button", { name: "Run it and look" }).click()
  await page.getByText("The program could not be started.").waitFor()
  expect(existsSync(trace)).toBe(true)
  const { items } = await admin().audit.list({ limit: 100 })
  expect(items.some(({ action, resource }) => action === "run" && resource.includes("servers/trace/programs/"))).toBe(
    true,
  )
})

it("an API's description is pasted, shown as the tools it would give, and added after that", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/servers/add")
  const paths = {
    "/ships": {
      get: { operationId: "listShips", summary: "Lists ships", responses: { 200: { description: "ok" } } },
      post: { operationId: "upload", requestBody: { content: { "image/png": {} } }, responses: {} },
    },
  }
  const document = { openapi: "3.1.0", info: { title: "Harbour", version: "1" }, paths }
  await page.getByRole("textbox").first().fill(JSON.stringify(document))
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByLabel("Where the API is").fill("https://harbour.example/v1")
  await page.getByLabel("Prefix of every name").fill("harbour")
  await page.getByRole("button", { name: "Look again" }).click()
  await page.getByRole("heading", { name: "1 tool would be added" }).waitFor()
  await page.getByText("Lists ships", { exact: true }).waitFor()
  await page.getByRole("heading", { name: "Left out" }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect((await admin().tools.list({ limit: 100 })).items.some(({ name }) => /ships/i.test(name))).toBe(false)
  await page.getByRole("button", { name: "Add the tool" }).click()
  await page.getByText("1 tool was added.").waitFor()
  await page.getByRole("link", { name: "See the tools" }).click()
  await page.getByRole("link", { name: /harbour.*ships/i }).waitFor()
  expect(consoleLines).toEqual([])
})

it("a changed definition is shown as facts and as a difference, and accepted as it was looked at", async () => {
  const file = join(data, "..", "tools.json")
  const fixture = join(import.meta.dirname, "../../../../server/test/servers/serversFixture.ts")
  writeFileSync(file, JSON.stringify({ mail: "sends mail", reload: "reads again" }))
  await admin().mcpServers.add({ name: "post", command: process.execPath, args: [fixture, file] })
  const { page } = await visitor()
  await signIn(page, token(), "/servers/post")
  await page.getByRole("link", { name: "mail", exact: true }).waitFor()
  writeFileSync(file, JSON.stringify({ mail: "sends mail, and a copy to me", reload: "reads again" }))
  await admin().tools.call("post/reload", { input: {}, wait: 10 })
  const held = page.getByRole("region", { name: "mail" })
  await held.getByText("Its description has changed.").waitFor()
  // It waits for somebody: the side says so wherever one is.
  await page.getByRole("link", { name: "Servers 1 tool is held" }).waitFor()
  await held.locator("ins", { hasText: "and a copy to me" }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await held.getByRole("button", { name: "Keep it held" }).click()
  await held.getByText("While it is held, it cannot be called.").waitFor()
  await press(held.getByRole("button", { name: "Accept this version" }))
  await held.waitFor({ state: "detached" })
  expect((await admin().mcpServers.get("post")).held).toEqual([])
  expect(consoleLines).toEqual([])
})

it("a server is paused with a reason, and goes on", async () => {
  const fixture = join(import.meta.dirname, "../../../../server/test/servers/serversFixture.ts")
  const file = join(data, "..", "quay.json")
  writeFileSync(file, JSON.stringify({ tide: "says the tide" }))
  await admin().mcpServers.add({ name: "quay", command: process.execPath, args: [fixture, file] })
  const { page } = await visitor()
  await signIn(page, token(), "/servers/quay")
  await page.getByRole("button", { name: "Pause", exact: true }).click()
  await page.getByRole("textbox", { name: "Reason" }).fill("it answers twice")
  await page.getByRole("button", { name: "Pause it" }).click()
  await page.getByText("it answers twice").waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect((await admin().pauses.list()).items.map(({ subject }) => subject)).toContain("servers/quay")
  await page.getByRole("button", { name: "Lift the pause" }).click()
  await page.getByText("it answers twice").waitFor({ state: "detached" })
  expect((await admin().pauses.list()).items).toEqual([])
  await page.goto(`${url()}/servers/nowhere`)
  await page.getByText("Nothing here that you can see.").waitFor()
  expect(consoleLines).toEqual([])
})

it("a server says how many calls its tools had in the last day, how many failed, and how fast it answers", async () => {
  const fixture = join(import.meta.dirname, "../../../../server/test/servers/serversFixture.ts")
  const file = join(data, "..", "pier.json")
  writeFileSync(file, JSON.stringify({ tide: "says the tide" }))
  await admin().mcpServers.add({ name: "pier", command: process.execPath, args: [fixture, file] })
  const { page } = await visitor()
  await signIn(page, token(), "/servers/pier")
  const fact = (name: string) => page.locator("dl.facts > div", { hasText: name })
  await fact("Calls, last day").getByText("none").waitFor()
  await fact("Answers in").getByText("–").waitFor()
  for (let times = 0; times < 3; times++) await admin().tools.call("pier/tide", { input: {}, wait: 10 })
  await fact("Calls, last day").getByText("3, none failed").waitFor()
  await fact("Answers in")
    .getByText(/\d\s(?:ms|s) p95/)
    .waitFor()
  // Of each tool, over a week.
  await page.getByRole("columnheader", { name: "Calls, 7 days" }).waitFor()
  await page.getByRole("row", { name: /tide/ }).getByRole("cell", { name: "3", exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(await admin().mcpServers.figures("pier")).toMatchObject({
    calls: 3,
    failed: 0,
    refused: 0,
    open: 0,
    tools: [{ name: "tide", calls: 3 }],
  })
  expect(consoleLines).toEqual([])
})

it("an agent's tokens are beside it: one is made, shown once, and revoked; what has ended says so", async () => {
  const agent = await admin().principals.add({ kind: "agent", name: "bosun" })
  await admin().tokens.add({ principal: agent.id, label: "laptop" })
  const { page } = await visitor()
  await signIn(page, token(), "/agents/bosun?tab=tokens")
  const tokens = page.getByRole("region", { name: "Tokens" })
  await tokens.getByRole("button", { name: "Make a token" }).click()
  await tokens.getByText("The token is shown only once:").waitFor()
  await tokens.getByRole("button", { name: "Revoke page" }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  const laptop = (await admin().tokens.list({ principal: agent.id })).items.find(({ label }) => label === "laptop")!
  expect(laptop.expiresAt).toBeNull()
  await tokens.getByRole("button", { name: "Rotate laptop" }).click()
  await tokens.getByText("The old one stops working at once.").waitFor()
  expect(await axeFindings(page)).toEqual([])
  const before = await tokens.getByRole("status").locator("code").textContent()
  await tokens.getByRole("button", { name: "Yes, rotate" }).click()
  await tokens.getByText("revoked", { exact: true }).waitFor()
  await expect.poll(() => tokens.getByRole("status").locator("code").textContent()).not.toBe(before)
  const fresh = await tokens.getByRole("status").locator("code").textContent()
  expect((await as(fresh!).principals.me()).name).toBe("bosun")
  // It lasts no longer than the browser it was made in, and says so.
  await tokens.getByRole("status").getByText("It ends").waitFor()
  await tokens.getByRole("button", { name: "Revoke laptop" }).click()
  await expect.poll(() => tokens.getByText("revoked", { exact: true }).count()).toBe(2)
  expect(await tokens.getByRole("button", { name: "Revoke laptop" }).count()).toBe(0)
  const { items } = await admin().tokens.list({ principal: agent.id })
  expect(items.filter(({ revokedAt }) => revokedAt !== null).map(({ label }) => label)).toEqual(["laptop", "laptop"])
  expect(consoleLines).toEqual([])
})

it("one's own token is rotated where one is signed in by it: the new one is shown once, and one stays", async () => {
  const nora = await person("Nora")
  const { context, page } = await visitor()
  await signIn(page, nora.token, "/me")
  const other = listen(await context.newPage())
  await other.goto(`${url()}/tools`)
  await other.getByRole("link", { name: /^whoami/ }).waitFor()
  const tokens = page.getByRole("region", { name: "Tokens" })
  await tokens.getByText("a session", { exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await tokens.getByRole("button", { name: /^Rotate tok_/ }).click()
  await tokens.getByRole("button", { name: "Yes, rotate" }).click()
  const shown = tokens.getByRole("status").locator("code")
  await shown.waitFor()
  const made = (await shown.textContent())!
  expect((await as(made).principals.me()).name).toBe("Nora")
  await expect(as(nora.token).principals.me()).rejects.toMatchObject({ status: 401 })
  // Still here, with a session of the new one, and it is live.
  await page.getByText("Live", { exact: true }).first().waitFor()
  await admin().spaces.add({ name: "after", kind: "public", members: [nora.id] })
  for (const tab of [page, other]) await tab.getByRole("link", { name: "after" }).first().waitFor()
  expect(await shown.textContent()).toBe(made)
  expect(page.url()).toMatch(/\/me$/)
  expect(consoleLines).toEqual([])
})

it("what is written to the trail while one reads it waits behind a button, and nothing moves", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/why")
  const first = page.getByRole("region", { name: "Rows of the trail" }).getByRole("row").nth(1)
  const before = await first.textContent()
  await admin().spaces.add({ name: "newly", kind: "public" })
  const more = page.getByRole("button", { name: /^\d+ new$/ })
  await more.waitFor()
  expect(await first.textContent()).toBe(before)
  expect(await axeFindings(page)).toEqual([])
  await more.click()
  await first.getByText("newly").waitFor()
  await more.waitFor({ state: "detached" })
  expect(consoleLines).toEqual([])
})

it("the trail says names, with the id on hover and to copy, and cuts ids that have no name", async () => {
  const otto = await person("Otto")
  const space = await admin().spaces.add({ name: "lighthouse", kind: "public" })
  await admin().spaces.addMember(space.id, otto.id)
  const { context, page } = await visitor()
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  await signIn(page, token(), "/why")
  const row = page.getByRole("row").filter({ hasText: "let in spaces/lighthouse/members/Otto" })
  await row.waitFor()
  expect(await row.textContent()).not.toMatch(/(prn|spc)_/)
  expect(await row.getByText("Otto", { exact: true }).getAttribute("title")).toBe(otto.id)
  await row.getByRole("button", { name: "lighthouse: copy its id" }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(space.id)
  // The token of somebody has no name: it is cut in the middle.
  await page
    .getByText(/^tok_[0-9a-f]+…[0-9a-f]{4}$/)
    .first()
    .waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(consoleLines).toEqual([])
})

it("somebody gets a role, a grant and something lent, and loses them again", async () => {
  const nina = await person("Nina")
  const { page } = await visitor()
  await signIn(page, token(), "/people?who=Nina")
  const roles = page.getByRole("group", { name: "Roles" })
  await roles.getByLabel("guest").check()
  await roles.getByLabel("member").uncheck()
  await page.getByRole("button", { name: "Save the roles" }).click()
  await page.getByRole("button", { name: "Save the roles" }).waitFor({ state: "detached" })
  expect((await admin().principals.get(nina.id)).roles).toEqual(["guest"])

  await page.getByRole("button", { name: "Give a grant" }).click()
  const grant = page.getByRole("form", { name: "Give a grant" })
  await grant.getByLabel("Resource").fill("tools/whoami")
  await grant.getByLabel("Effect").selectOption("ask")
  await grant.getByRole("button", { name: "Give a grant" }).click()
  const grants = page.getByRole("region", { name: "Grants" })
  await grants.getByText("needs approval: execute").waitFor()
  expect((await admin().grants.list({ principal: nina.id })).items).toMatchObject([
    { resource: "tools/whoami", effect: "ask", actions: ["execute"] },
  ])

  await page.getByRole("button", { name: "Lend Nina something of yours" }).click()
  const lending = page.getByRole("form", { name: "Lend Nina something of yours" })
  await lending.getByLabel("Resource").fill("spaces/harbour")
  await lending.getByLabel("read").check()
  await lending.getByLabel("Reason").fill("while I am away")
  expect(await lending.getByLabel("For how long").locator("option").allTextContents()).toEqual(["an hour", "a day"])
  await lending.getByRole("button", { name: "Lend Nina something of yours" }).click()
  const lent = page.getByRole("region", { name: "Lent" })
  await lent.getByText("while I am away").waitFor()
  expect((await as(nina.token).delegations.list()).items).toHaveLength(1)
  expect(await axeFindings(page)).toEqual([])

  await press(grants.getByRole("button", { name: "Revoke tools/whoami" }))
  await page.getByText("No grant of its own").waitFor()
  await press(lent.getByRole("button", { name: "Revoke spaces/harbour" }))
  await page.getByText("Nothing is lent to it").waitFor()
  expect(consoleLines).toEqual([])
})

it("a word finds spaces, messages, memory, tools and people in one list, and ? lists the keys", async () => {
  const house = admin()
  const space = await house.spaces.add({ name: "meltemi-watch", kind: "public" })
  await house.spaces.post(space.id, { text: "The Meltemi lies at Kythira" })
  await house.memory.put({ kind: "note", key: "meltemi", content: "Engine trouble, twice" })
  await house.tool("find_meltemi", { type: "object" }, () => ({}))
  await person("Meltemi Agent")
  const { page } = await visitor()
  await signIn(page, token(), "/me")
  await page.getByRole("heading", { name: "You" }).waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("combobox").fill("meltemi l")
  await page.getByRole("option", { name: "Search everywhere for “meltemi l”" }).click()
  await page.getByRole("searchbox").fill("meltemi")
  await page.keyboard.press("Enter")
  for (const part of ["Spaces", "Messages", "Memory", "Tools", "People and agents"])
    await page.getByRole("heading", { name: part, exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.getByRole("searchbox").fill("zzz")
  await page.keyboard.press("Enter")
  await page.getByText("Nothing that you can see fits").waitFor()
  await page.goBack()
  await page.getByRole("link", { name: /lies at Kythira/ }).click()
  await page.getByRole("article").getByText("The Meltemi lies at Kythira").waitFor()

  await page.locator("h1").focus()
  await page.keyboard.press("?")
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("approve, edit or deny").waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "detached" })
  expect(consoleLines).toEqual([])
})
