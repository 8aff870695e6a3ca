/** A judgement changed from where it is read: a grant, a loan, an allow list; and what it is then. */
import { expect, it } from "vitest"
import { axeFindings } from "../kit/axe.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"
import { press } from "../kit/press.ts"

const { admin, as, person, consoleLines, signIn, token, visitor } = houseInBrowser()

const asked = (who: string, tool = "mail") => `/why?principal=${who}&action=execute&resource=tools/${tool}`

it("a right is given, asked for and refused from the judgement, which says what it means first and is the new one after", async () => {
  const house = admin()
  await house.tools.add({
    name: "mail",
    description: "Sends a mail",
    inputSchema: { type: "object" },
    executionType: "internal",
    execution: { output: { sent: true } },
  })
  const eve = await person("Eve", ["guest"])
  const { page } = await visitor()
  await signIn(page, token(), asked("Eve"))
  const answer = page.locator(".answer")
  await answer.getByText("No.", { exact: true }).waitFor()
  const change = async (way: string, effect: RegExp) => {
    await page.getByRole("button", { name: "Change it" }).click()
    const form = page.getByRole("form", { name: "Change it" })
    await form.getByLabel("From now on").selectOption(way)
    await form.getByRole("button", { name: "What would it mean?" }).click()
    await form.getByRole("alert").getByText(effect).waitFor()
    return form
  }
  const form = await change("allowed", /^Eve may execute tools\/mail for as long as your sign-in/)
  expect(await axeFindings(page)).toEqual([])
  // Nothing is done until it is said twice.
  expect((await house.grants.list({ principal: eve.id })).items).toEqual([])
  await press(form.getByRole("button", { name: "Yes, do it" }))
  await answer.getByText("Yes.", { exact: true }).waitFor()
  await page.getByText("Done. This is the new judgement.").waitFor()
  // What is given in a browser ends with its session at the latest, and says so.
  await page.getByRole("cell", { name: /A grant by an admin allows execute on tools\/mail\. ends / }).waitFor()
  expect((await as(eve.token).tools.call("mail", { input: {}, wait: 10 })) as object).toMatchObject({ state: "done" })

  await press(
    (await change("needs approval", /^A person is asked each time/)).getByRole("button", { name: "Yes, do it" }),
  )
  await answer.getByText("Only after a person has agreed.").waitFor()
  await press((await change("denied", /^Eve may not execute/)).getByRole("button", { name: "Yes, do it" }))
  await answer.getByText("No.", { exact: true }).waitFor()
  const { items } = await house.grants.list({ principal: eve.id })
  expect(items.map(({ effect }) => effect).toSorted()).toEqual(["allow", "ask", "deny"])

  // Taken back one by one, it is as it was.
  const deny = items.find(({ effect }) => effect === "deny")!
  await page.getByRole("button", { name: `Revoke grant:${deny.id}` }).click()
  const sure = page.getByRole("alertdialog", { name: `Revoke grant:${deny.id}` })
  await sure.getByText("This rule then no longer applies: A grant by an admin refuses execute on tools/mail.").waitFor()
  expect(await axeFindings(page)).toEqual([])
  await sure.getByRole("button", { name: "Yes, revoke it" }).click()
  await answer.getByText("Only after a person has agreed.").waitFor()
  expect((await house.grants.list({ principal: eve.id })).items).toHaveLength(2)
  expect(consoleLines).toEqual([])
})

it("something is lent from the judgement on a phone, and taken back", async () => {
  const mate = await person("Mate", ["guest"])
  const { page } = await visitor(phone)
  await signIn(page, token(), asked("Mate"))
  await page.getByRole("button", { name: "Change it" }).click()
  const form = page.getByRole("form", { name: "Change it" })
  await form.getByLabel("From now on").selectOption("lent by me")
  await form.getByLabel("Reason").fill("while I am away")
  // No longer than the house lets a loan last.
  expect(await form.getByLabel("For how long").locator("option").allTextContents()).toEqual(["an hour", "a day"])
  await form.getByRole("button", { name: "What would it mean?" }).click()
  await form.getByText("Mate may execute tools/mail for a day, as far as you may yourself.").waitFor()
  expect(await axeFindings(page)).toEqual([])
  await press(form.getByRole("button", { name: "Yes, do it" }))
  await page.locator(".answer").getByText("Yes.", { exact: true }).waitFor()
  expect((await as(mate.token).delegations.list()).items).toMatchObject([{ reason: "while I am away" }])
  await page.getByRole("button", { name: /^Revoke delegation:/ }).click()
  await press(page.getByRole("button", { name: "Yes, revoke it" }))
  await page.locator(".answer").getByText("No.", { exact: true }).waitFor()
  expect(consoleLines).toEqual([])
})

it("a tool is taken off the allow list that stops or lets it, and put back", async () => {
  const house = admin()
  const agent = await house.principals.add({ kind: "agent", name: "bosun", roles: ["agent-standard"] })
  await house.tokens.add({ principal: agent.id })
  const before = await house.allowLists.get("stoa", "agent")
  await house.allowLists.set("stoa", "agent", { tools: ["whoami", "list_spaces"] })
  const { page } = await visitor()
  await signIn(page, token(), asked("bosun", "whoami"))
  const answer = page.locator(".answer")
  await answer.getByText("Yes.", { exact: true }).waitFor()
  const change = async (way: string) => {
    await page.getByRole("button", { name: "Change it" }).click()
    const form = page.getByRole("form", { name: "Change it" })
    await form.getByLabel("From now on").selectOption(way)
    await form.getByRole("button", { name: "What would it mean?" }).click()
    await form.getByText(/The allow list stoa\/agent .* whoami: /).waitFor()
    await press(form.getByRole("button", { name: "Yes, do it" }))
  }
  await change("off the allow list")
  await answer.getByText("No.", { exact: true }).waitFor()
  expect((await house.allowLists.get("stoa", "agent")).tools).toEqual(["list_spaces"])
  expect(await axeFindings(page)).toEqual([])
  await change("on the allow list")
  await answer.getByText("Yes.", { exact: true }).waitFor()
  expect((await house.allowLists.get("stoa", "agent")).tools).toEqual(["list_spaces", "whoami"])
  await house.allowLists.set("stoa", "agent", { tools: before.tools })
  expect(consoleLines).toEqual([])
})
