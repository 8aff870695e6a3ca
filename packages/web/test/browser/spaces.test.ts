/** Two people in two browsers talk in a space of a real house. */
import { expect, it } from "vitest"
import { axeFindings } from "./axe.ts"
import { phone, stage } from "./stage.ts"

const { admin, person, said, signIn, token, visitor } = stage()

it("somebody signs in by the printed link, writes, and a second browser shows it at once", async () => {
  const maya = await person("Maya")
  await admin().spaces.add({ name: "harbour", kind: "public", topic: "Arrivals", members: [maya.id] })

  const one = await visitor()
  await signIn(one.page, token())
  await one.page.getByRole("link", { name: "harbour" }).first().click()
  await one.page.getByText("Nobody has said anything.").waitFor()
  expect(one.page.url()).not.toContain("token")

  const two = await visitor(phone)
  await signIn(two.page, maya.token, "/s/harbour")
  const field = one.page.getByRole("textbox", { name: "Write to harbour" })
  await field.fill("The **Meltemi** is late, @Maya")
  await field.press("Enter")
  const seen = two.page.getByRole("article").first()
  await seen.getByText("Meltemi").waitFor()
  expect(await seen.locator("strong").textContent()).toBe("Meltemi")
  expect(await seen.locator(".mention.you").textContent()).toBe("@Maya")

  await two.page.getByRole("textbox", { name: "Write to harbour" }).fill("Thank you")
  await two.page.getByRole("button", { name: "Send" }).click()
  await one.page.getByRole("article", { name: /Maya/ }).getByText("Thank you").waitFor()
  expect(await one.page.getByText("Thank you").count()).toBe(1)
  expect(said).toEqual([])
})

it("keys alone open the thread of a message that was answered", async () => {
  const space = await admin().spaces.add({ name: "pier", kind: "public" })
  const asked = await admin().spaces.post(space.id, { text: "Who has the key?" })
  await admin().spaces.post(space.id, { text: "I have it.", replyTo: asked.id })
  const { page } = await visitor()
  await signIn(page, token(), "/s/pier")
  await page.getByRole("button", { name: "1 reply" }).waitFor()
  await page.getByRole("article").focus()
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/s\/pier\/t\//)
  await page.getByText("I have it.").waitFor()
  expect(said).toEqual([])
})

it("/ lists the tools one may call; keys alone choose one, fill in its form and call it here; Esc keeps what was written", async () => {
  const house = admin()
  const nils = await person("Nils")
  await house.spaces.add({ name: "quay", kind: "public", members: [nils.id] })
  const ships = { type: "object", properties: { port: { type: "string" } }, required: ["port"] }
  await house.tool("list_ships", ships, ({ port }) => ({ ships: [`Meltemi in ${String(port)}`] }))
  const { page } = await visitor()
  await signIn(page, token(), "/s/quay")
  const field = page.getByRole("textbox", { name: "Write to quay" })
  await field.press("/")
  const list = page.getByRole("listbox", { name: "Tools to call" })
  await list
    .getByRole("option", { name: /whoami|add_|list_/ })
    .first()
    .waitFor()
  expect(await axeFindings(page)).toEqual([])
  await field.pressSequentially("list_sh")
  await list.getByRole("option", { name: "list_ships" }).waitFor()
  expect(await list.getByRole("option").count()).toBe(1)
  await field.press("Enter")
  const form = page.getByRole("form", { name: "Call list_ships" })
  const port = form.getByLabel("port")
  await port.waitFor()
  expect(await port.evaluate((it) => it === document.activeElement)).toBe(true)
  expect(await axeFindings(page)).toEqual([])
  // Back to what was written; one more letter, and the list is there again.
  await port.press("Escape")
  expect(await field.inputValue()).toBe("/list_sh")
  expect(await field.evaluate((it) => it === document.activeElement)).toBe(true)
  expect(await list.count()).toBe(0)
  await field.press("i")
  await field.press("Enter")
  await port.press("Enter")
  await form.getByRole("alert").getByText("One field does not fit.").waitFor()
  await port.fill("Piraeus")
  await port.press("Enter")
  await form.waitFor({ state: "detached" })
  expect(await field.inputValue()).toBe("")
  // Everybody here sees it.
  const other = await visitor(phone)
  await signIn(other.page, nils.token, "/s/quay")
  for (const one of [page, other.page])
    await one.locator("summary", { hasText: /list_ships.*Piraeus.*1 ship/ }).waitFor()
  const { items } = await house.spaces.messages("quay", {})
  expect(items.map(({ call }) => call?.state)).toEqual(["done"])
  // What is no tool is said.
  await field.fill("/nowhere")
  await field.press("Enter")
  await other.page.getByRole("article").getByText("/nowhere").waitFor()
  expect(said).toEqual([])
})
