/** One tool on its screen: who called it last, and how it is made, changed and removed. */
import { join } from "node:path"
import type { Page } from "playwright-core"
import { expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"

const declared = {
  name: "tide",
  description: "Says the tide",
  inputSchema: { type: "object" },
  executionType: "gateway",
  execution: { url: "https://tide.example" },
}
const { admin, as, person, consoleLines, signIn, token, visitor } = houseInBrowser({
  configuration: {
    tools: [declared],
    models: { fast: { provider: "openai", model: "x", apiKey: "${secret.FAST_KEY}" } },
  },
})

const shots = process.env["STOA_SHOTS"]
const shot = async (page: Page, name: string) => {
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

const text = { type: "object", properties: { port: { type: "string" } } }

it("a tool shows who called it last and how it ended, newest first; each opens and has an address", async () => {
  const house = admin()
  const nils = await person("Nils")
  await house.tool("list_ships", text, ({ port }) =>
    port === "Atlantis" ? Promise.reject(new Error("No such port")) : { ships: [port as string] },
  )
  await house.tool("other", text, () => ({}))
  const call = (who: typeof house, port: string, tool = "list_ships") =>
    who.tools.call(tool, { input: { port }, wait: 10 })
  await call(as(nils.token), "Piraeus")
  await call(house, "nowhere", "other")
  await call(house, "Atlantis")
  const { page } = await visitor()
  await signIn(page, token(), "/tools/list_ships")
  const last = page.getByRole("region", { name: "Last calls", exact: true })
  const rows = last.locator("tbody tr")
  await rows.first().getByText("failed: No such port").waitFor()
  expect(await rows.count()).toBe(2)
  expect(await rows.first().textContent()).toContain("admin")
  expect(await rows.nth(1).textContent()).toMatch(/1 ship.*Nils.*(?:ms|s)/)
  // What happens now comes by itself, at the top.
  await call(house, "Kythira")
  await rows.first().getByText("1 ship").waitFor()
  expect(await rows.count()).toBe(3)
  await last.getByRole("link", { name: /1 ship.*called by Nils/ }).click()
  await last.getByText("Piraeus").first().waitFor()
  expect(page.url()).toMatch(/\?call=call_/)
  await page.reload()
  await last.getByText("Piraeus").first().waitFor()
  expect(await axeFindings(page)).toEqual([])

  // Whoever is no admin sees their own.
  const other = await visitor(phone)
  await signIn(other.page, nils.token, "/tools/list_ships")
  await other.page.getByText("An admin sees everybody's.").waitFor()
  await other.page.getByRole("link", { name: /called by Nils/ }).waitFor()
  expect(await other.page.getByRole("link", { name: /called by/ }).count()).toBe(1)
  expect(await axeFindings(other.page)).toEqual([])
  expect(consoleLines).toEqual([])
})

it("a tool is added from a form, changed and removed; what does not fit is named at its field", async () => {
  const address = "https://harbour.example"
  const { page } = await visitor()
  await signIn(page, token(), "/tools")
  await page.getByRole("link", { name: "Add a tool" }).click()
  const form = page.getByRole("form", { name: "Add a tool" })
  expect(await axeFindings(page)).toEqual([])
  await form.getByRole("button", { name: "Add it" }).click()
  await form.getByRole("alert").getByText("name: ").waitFor()
  await form.getByLabel("Name").fill("two words")
  await form.getByLabel("What it does").fill("Finds a ship")
  await form.getByLabel("Address").fill(`${address}/ships/{{input.ship}}`)
  const schema = { type: "object", properties: { ship: { type: "string" } }, required: ["ship"] }
  await form.getByLabel("Input schema").fill(JSON.stringify(schema))
  await form.getByRole("button", { name: "Add it" }).click()
  // The house has the last word, at the same place.
  await form.getByRole("alert").getByText("name: must be a name of 1 to 64 letters").waitFor()
  await form.getByLabel("Name").fill("find_ship")
  await form.getByLabel("A person must approve each call").check()
  expect(await axeFindings(page)).toEqual([])
  // The same as JSON, with what was filled in.
  await form.getByRole("button", { name: "JSON" }).click()
  expect(JSON.parse(await form.getByRole("textbox", { name: "JSON" }).inputValue())).toMatchObject({
    name: "find_ship",
    executionType: "gateway",
    requiresApproval: true,
    inputSchema: schema,
  })
  await form.getByRole("button", { name: "Add it" }).click()
  await page.getByRole("heading", { name: "find_ship" }).waitFor()
  await page.getByText("asks a person first").waitFor()
  expect(await admin().tools.form("find_ship")).toMatchObject({
    execution: { url: `${address}/ships/{{input.ship}}`, method: "GET" },
  })

  await page.getByRole("button", { name: "Change", exact: true }).click()
  const change = page.getByRole("form", { name: "Change find_ship" })
  await change.getByLabel("What it does").fill("Finds any ship")
  await change.getByLabel("A person must approve each call").uncheck()
  expect(await axeFindings(page)).toEqual([])
  await change.getByRole("button", { name: "Save" }).click()
  await change.waitFor({ state: "detached" })
  await page.locator("p", { hasText: "Finds any ship" }).waitFor()
  await page.getByText("asks a person first").waitFor({ state: "detached" })
  expect(await admin().tools.get("find_ship")).toMatchObject({ requiresApproval: false })

  await page.getByRole("button", { name: "Remove", exact: true }).click()
  await page.getByRole("alertdialog", { name: /^Remove find_ship\?/ }).waitFor()
  await page.getByRole("button", { name: "Yes, remove" }).click()
  await page.getByRole("link", { name: /^find_ship/ }).waitFor({ state: "detached" })
  expect((await admin().tools.list({ limit: 100 })).items.map(({ name }) => name)).not.toContain("find_ship")
  expect(consoleLines).toEqual([])
})

it("a webhook is added on a phone; what the file declares is read-only and says where; a member changes nothing", async () => {
  const { page } = await visitor(phone)
  await signIn(page, token(), "/tools?new=webhook")
  const form = page.getByRole("form", { name: "Add a tool" })
  await form.getByLabel("Name").fill("berth")
  await form.getByLabel("What it does").fill("Books a berth")
  await form.getByLabel("Address").fill("https://quay.example/hook")
  expect(await axeFindings(page)).toEqual([])
  await form.getByRole("button", { name: "Add it" }).click()
  await page.getByRole("heading", { name: "berth" }).waitFor()
  expect(await admin().tools.form("berth")).toMatchObject({
    executionType: "external",
    execution: { webhookUrl: "https://quay.example/hook", method: "POST" },
  })

  await page.goto(new URL("/tools/tide", page.url()).href)
  await page.getByText(/It is declared under tools in .*stoa\.config\.json/).waitFor()
  expect(await page.getByRole("button", { name: /^(?:Change|Remove)$/ }).count()).toBe(0)
  expect(await axeFindings(page)).toEqual([])
  await expect(admin().tools.remove("tide")).rejects.toMatchObject({ status: 409, tag: "OwnedByFile" })

  const mate = await person("Mate")
  const other = await visitor()
  await admin().grants.add({ principal: mate.id, actions: ["execute"], resource: "tools/tide", effect: "allow" })
  await signIn(other.page, mate.token, "/tools?new=http")
  await other.page.getByRole("link", { name: /^tide/ }).click()
  await other.page.getByRole("heading", { name: "tide" }).waitFor()
  expect(await other.page.getByRole("link", { name: "Add a tool" }).count()).toBe(0)
  expect(await other.page.getByText("It is declared under").count()).toBe(0)
  expect(JSON.stringify(await as(mate.token).tools.get("tide"))).not.toContain("stoa.config.json")
  expect(consoleLines).toEqual([])
})

it("what a tool or an agent names and is not there is told where one looks at it, until it is there; a model is taken back", async () => {
  const house = admin()
  await house.tools.add({
    ...declared,
    name: "swell",
    execution: { url: "https://swell.example", headers: { authorization: "${secret.SWELL_KEY}" } },
  })
  const { page } = await visitor()
  await signIn(page, token(), "/tools/swell")
  const note = page.getByRole("status").filter({ hasText: "It cannot work yet" })
  await note.getByText('The tool "swell" needs the secret "SWELL_KEY", which is not set').waitFor()
  expect(await axeFindings(page)).toEqual([])
  await shot(page, "tool-notes")
  await house.secrets.set("SWELL_KEY", { value: "long enough to be one" })
  await note.waitFor({ state: "detached" })

  await house.principals.add({ kind: "agent", name: "pilot" })
  await house.agents.change("pilot", { model: "fast" })
  await page.goto(new URL("/agents/pilot", page.url()).href)
  const told = page.getByRole("status").filter({ hasText: "Some settings have no effect" })
  await told.getByText('The model fast: The secret "FAST_KEY" is not set').waitFor()
  expect(await axeFindings(page)).toEqual([])
  await shot(page, "agent-notes")
  await house.secrets.set("FAST_KEY", { value: "long enough to be one" })
  await told.waitFor({ state: "detached" })

  // And its model can be taken from it again.
  await page.goto(new URL("/agents/pilot?tab=limits", page.url()).href)
  await page.getByLabel("Model", { exact: true }).selectOption("none, a program connects")
  await shot(page, "agent-model")
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("Saved.").waitFor()
  expect((await house.agents.get("pilot")).model).toBeNull()
  expect(await axeFindings(page)).toEqual([])
  await page.getByLabel("Model", { exact: true }).selectOption("fast")
  await page.getByRole("button", { name: "Save" }).click()
  await expect.poll(async () => (await house.agents.get("pilot")).model).toBe("fast")
  expect(consoleLines).toEqual([])
})
