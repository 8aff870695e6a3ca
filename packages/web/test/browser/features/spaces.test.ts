/** Two people in two browsers talk in a space of a real house. */
import { expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"
import { counted } from "../kit/press.ts"

const { admin, as, person, consoleLines, signIn, token, url, visitor } = houseInBrowser()

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
  expect(consoleLines).toEqual([])
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
  expect(consoleLines).toEqual([])
})

it("what one can do with a message: by the pointer, by keys, by a screen reader, by touch, and the last one with ArrowUp", async () => {
  const lena = await person("Lena")
  const space = await admin().spaces.add({ name: "dock", kind: "public", members: [lena.id] })
  await admin().spaces.post(space.id, { text: "first" })
  await admin().spaces.post(space.id, { text: "second" })
  const { page } = await visitor()
  await signIn(page, token(), "/s/dock")
  const row = (text: string) => page.getByRole("article").filter({ hasText: text })
  await row("first").hover()
  await row("first").getByRole("button", { name: "React" }).click()
  await page.getByRole("button", { name: "👍" }).first().click()
  await row("first").getByRole("button", { name: /👍/ }).waitFor()
  // It is shown before the house has it.
  await expect.poll(async () => (await admin().spaces.messages(space.id)).items[0]?.reactions).toHaveLength(1)

  // A screen reader, or Tab, comes to one button a message, and goes on from the first of its tools.
  await row("second").getByRole("button", { name: "What you can do with this message" }).focus()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("React")
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/s\/dock\/t\//)

  await page.goBack()
  await row("first").focus()
  await page.keyboard.press("r")
  await page.waitForURL(/\/s\/dock\/t\//)
  await page.goBack()

  await page.getByRole("textbox", { name: "Write to dock" }).press("ArrowUp")
  const edited = row("second").getByRole("textbox")
  await edited.fill("second, mended")
  await edited.press("Enter")
  await row("second, mended").getByText("edited").waitFor()

  const two = await visitor(phone, { hasTouch: true, isMobile: true })
  await signIn(two.page, lena.token, "/s/dock")
  const touched = two.page.getByRole("article").filter({ hasText: "first" })
  await touched.getByText("first").tap()
  await touched.getByRole("button", { name: "Reply" }).tap()
  await two.page.waitForURL(/\/s\/dock\/t\//)
  expect(consoleLines).toEqual([])
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
  await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
  expect(await list.count()).toBe(0)
  await field.press("i")
  await field.press("Enter")
  await counted(form.getByRole("button", { name: "Call it" }))
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
  expect(consoleLines).toEqual([])
})

it("an admin outside a private space reads it and deletes there, and writes once it has joined; a dm stays between two", async () => {
  const [olga, pia] = [await person("Olga"), await person("Pia")]
  const own = as(olga.token)
  const vault = await own.spaces.add({ name: "vault", kind: "private", members: [pia.id] })
  await own.spaces.post(vault.id, { text: "The code is 1234." })
  await own.spaces.post(vault.id, { text: "Do not tell." })
  await own.spaces.add({ name: "Olga-Pia", kind: "dm", members: [pia.id] })
  const { page } = await visitor()
  await signIn(page, token(), "/s/vault")
  await page.getByText("Only members write here.").waitFor()
  expect(await page.getByRole("textbox", { name: "Write to vault" }).count()).toBe(0)
  const row = page.getByRole("article").filter({ hasText: "1234" })
  await row.hover()
  const acts = row.getByRole("group", { name: "What you can do with this message" }).getByRole("button")
  await acts.first().waitFor()
  expect(await acts.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")))).toEqual([
    "Pin",
    "Copy the text",
    "Delete",
  ])
  expect(await axeFindings(page)).toEqual([])
  await row.getByRole("button", { name: "Delete" }).click()
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click()
  await row.waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Join" }).click()
  const field = page.getByRole("textbox", { name: "Write to vault" })
  await field.fill("I am here now.")
  await field.press("Enter")
  await page.getByRole("article").getByText("I am here now.").waitFor()
  // It is shown before the house has it.
  await expect.poll(async () => (await own.spaces.messages(vault.id)).items.at(-1)?.text).toBe("I am here now.")

  await page.goto(`${url()}/s/Olga-Pia`)
  await page.getByText("Only the two members write here.").waitFor()
  expect(await page.getByRole("button", { name: "Join" }).count()).toBe(0)

  // What is archived is brought back by who may: its owner, and no other member.
  const others = await Promise.all([visitor(), visitor()])
  await signIn(others[0].page, olga.token, "/s/vault")
  await signIn(others[1].page, pia.token, "/s/vault")
  for (const other of others) await other.page.getByRole("textbox", { name: "Write to vault" }).waitFor()
  await own.spaces.change(vault.id, { archived: true })
  for (const [at, other] of others.entries()) {
    await other.page.getByText("This space is archived").waitFor()
    expect(await other.page.getByRole("button", { name: "Restore" }).count()).toBe(at === 0 ? 1 : 0)
    expect(await other.page.getByRole("button", { name: "Leave" }).count()).toBe(0)
  }
  // Opened by its address, it is shown and brought back as well, though no list has it.
  const [{ page: owners }] = others
  await owners.goto(`${url()}/s/vault`)
  await owners.getByText("I am here now.").waitFor()
  await owners.getByText("This space is archived").waitFor()
  await owners.getByRole("button", { name: "Restore" }).click()
  await owners.getByRole("textbox", { name: "Write to vault" }).waitFor()
  expect(consoleLines).toEqual([])
})
