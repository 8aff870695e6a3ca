/** Two people in two browsers talk in a space of a real house. */
import { expect, it } from "vitest"
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
