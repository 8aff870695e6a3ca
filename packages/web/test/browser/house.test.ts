/** Tools, servers, connect, rights and people: each used once in a real browser, in both widths, without a fault axe finds. */
import { join } from "node:path"
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { phone, stage } from "./stage.ts"

const { admin, person, said, signIn, token, url, visitor } = stage()

const everything = join(
  import.meta.dirname,
  "../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
)
const pasted = JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything] } } })

const clean = async (page: Page) => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)
}

it("a server is pasted, looked at and added; its tool is tried, and the trail says who did it", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/servers")
  await page.getByText("No server is connected.").waitFor()
  expect(await clean(page)).toEqual([])
  await page.getByRole("link", { name: "Add a server" }).first().click()
  await page.getByRole("textbox").fill("{")
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByRole("alert").getByText("This cannot be read").waitFor()
  await page.getByRole("textbox").fill('{"x": {"command": "/no/such/program"}}')
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByText("The program could not be started.").waitFor()
  await page.getByRole("textbox").fill(pasted)
  await page.getByRole("button", { name: "Look" }).click()
  await page.getByText("It answers:").waitFor()
  expect(await clean(page)).toEqual([])
  await page.getByRole("button", { name: "Add everything" }).click()
  await page.getByRole("heading", { name: "everything" }).waitFor()
  await page.getByText("connected:").first().waitFor()
  expect(await clean(page)).toEqual([])

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
  expect(await clean(page)).toEqual([])

  await page.getByRole("link", { name: "Why?" }).click()
  await page.getByText("Yes.", { exact: true }).waitFor()
  await page.getByText("The role admin allows everything on *.").waitFor()
  await page.getByText("The trail is whole").waitFor()
  await page.getByRole("cell", { name: "tool.execute tools/everything/echo" }).first().waitFor()
  expect(await clean(page)).toEqual([])
  expect(said).toEqual([])
}, 90_000)

it("a program is connected by one line, and the page says when it has come", async () => {
  const { page } = await visitor()
  await signIn(page, token(), "/connect/claude-code")
  await page.getByLabel("Name of the agent").fill("mate")
  await page.getByRole("button", { name: "Make the line" }).click()
  await Promise.race([page.locator("pre code").waitFor(), page.getByRole("alert").waitFor()])
  expect(await page.getByRole("alert").allTextContents()).toEqual([])
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
  expect(await clean(page)).toEqual([])
  expect(said).toEqual([])
}, 60_000)

it("somebody is added with a token, sees less than an admin, and is retired", async () => {
  const { page } = await visitor(phone)
  await signIn(page, token(), "/people")
  await page.getByLabel("Name", { exact: true }).fill("Jonas")
  await page.getByRole("button", { name: "Add", exact: true }).click()
  await page.getByRole("button", { name: "Make a token" }).click()
  const made = await page.getByRole("status").locator("code").textContent()
  expect(made).toMatch(/^stoa_/)
  expect(await clean(page)).toEqual([])

  const other = await visitor()
  await signIn(other.page, made!, "/tools")
  await other.page.getByRole("link", { name: /^whoami/ }).waitFor()
  expect(await other.page.getByText("See as").count()).toBe(0)
  await other.page.goto(`${url()}/servers`)
  await other.page.getByRole("alert").waitFor()
  expect(await clean(other.page)).toEqual([])

  await page.getByRole("button", { name: "Retire" }).click()
  await page.getByRole("button", { name: "Yes, retire" }).click()
  await page.getByText("Choose somebody.").waitFor()
  // Whoever is retired is led to the door at once, wherever they were.
  await other.page.waitForURL(/\/door\?next=/)
  await other.page.getByLabel("Or paste a token").waitFor()
  expect(said).toEqual([])
}, 60_000)

it("an admin sees the tools as somebody else gets them, and why others are left out", async () => {
  const eve = await person("Eve", ["guest"])
  await admin().tools.list({ as: eve.id })
  const { page } = await visitor()
  await signIn(page, token(), "/tools?as=Eve")
  await page.getByRole("heading", { name: "Not given" }).waitFor()
  await page.getByText("No rule speaks of it.").first().waitFor()
  expect(await clean(page)).toEqual([])
}, 60_000)
