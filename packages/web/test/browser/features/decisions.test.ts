/** A decision in every place: in its space, in the inbox, behind a signed link; two people race, one edits. */
import { beforeAll, expect, it } from "vitest"
import { fillOffice } from "../kit/office.ts"
import { phone, houseInBrowser } from "../kit/houseInBrowser.ts"
import { counted, press } from "../kit/press.ts"

const policy = { principal: "role:admin", resource: "allow-lists/*", actions: ["write"], effect: "ask" }
const house = houseInBrowser({ configuration: { policies: [policy] } })
const { admin, as, person, consoleLines, signIn, url, visitor } = house
let people: Awaited<ReturnType<typeof fillOffice>>

beforeAll(async () => {
  people = await fillOffice(house)
})

it("is edited with its form and approved; the call runs with what the person wrote, and every copy changes", async () => {
  const { jonas, maya } = people
  const one = await visitor()
  await signIn(one.page, maya.token, "/s/harbour")
  const card = one.page.locator(".decision")
  await card.getByRole("button", { name: "Edit" }).click()
  await card.getByRole("textbox", { name: "subject" }).fill("The Meltemi is two days late")
  await card.getByText("Your order is 48 hours late").waitFor()
  await card.getByRole("button", { name: "Changes 1" }).click()
  await card.locator(".diff ins").first().waitFor()

  const two = await visitor(phone)
  await signIn(two.page, jonas.token, "/decisions")
  await two.page.getByRole("link", { name: /send_mail/ }).click()
  await two.page.getByRole("button", { name: "Approve" }).waitFor()

  await card.getByRole("button", { name: "Approve changes" }).click()
  await two.page.getByText("Approved by Maya").waitFor()
  await one.page.locator(".call", { hasText: "send_mail" }).waitFor()
  const { items } = await admin().decisions.list({ state: "answered" })
  expect(items[0]?.value).toMatchObject({ subject: "The Meltemi is two days late" })
  expect(consoleLines).toEqual([])
})

it("is won by whoever answers first; the other one is told so", async () => {
  const { jonas, maya, call, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "One", text: "Two" }, 0)
  const one = await visitor()
  const two = await visitor()
  await Promise.all([signIn(one.page, maya.token, "/decisions"), signIn(two.page, jonas.token, "/decisions")])
  const press = (page: typeof one.page) => page.getByRole("button", { name: "Approve", exact: false }).first()
  await Promise.all([press(one.page).waitFor(), press(two.page).waitFor()])
  // Nothing is taken in the first half second after it appeared.
  await Promise.all([one, two].map(({ page }) => page.locator(".main-act:not([aria-disabled])").first().waitFor()))
  await Promise.all([press(one.page).click(), press(two.page).click()])
  await Promise.race([one, two].map(({ page }) => page.getByText("Yours was not counted").waitFor()))
  const { items } = await admin().decisions.list({ state: "open" })
  expect(items).toEqual([])
  expect(consoleLines).toEqual([])
})

it("is denied by keys alone, with a note the agent reads", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "Keys", text: "x" }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/decisions")
  await page.locator(".main-act:not([aria-disabled])").waitFor()
  await page.locator(".decision").focus()
  await page.keyboard.press("d")
  await page.keyboard.type("not today")
  await counted(page.locator(".decision form .no"))
  await page.keyboard.press("Enter")
  await page.getByText("Nothing waits for you.").waitFor()
  await page.getByRole("link", { name: "Answered" }).click()
  await page.locator(".sub", { hasText: "Denied" }).first().waitFor()
  const { items } = await admin().decisions.list({ state: "answered", limit: 100 })
  expect(items.some(({ note, verdict }) => verdict === "deny" && note === "not today")).toBe(true)
})

it("asks for a form, names what does not fit at its field, and sends it", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "choose_berth", { ship: "Aura" }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/s/harbour")
  const card = page.locator("section.decision")
  await press(card.getByRole("button", { name: "Send" }))
  await card.getByText("This field is required.").waitFor()
  await card.getByText("8", { exact: true }).click()
  await press(card.getByRole("button", { name: "Send" }))
  await card.waitFor({ state: "detached" })
  const { items } = await admin().decisions.list({ state: "answered", limit: 100 })
  expect(items.find(({ kind }) => kind === "form")?.value).toEqual({ berth: 8 })
})

it("is given from now on, listed under Always, and taken back", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "Always", text: "x" }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/decisions")
  await page.getByRole("button", { name: "Always" }).click()
  await page.getByRole("radio", { name: /every call of .* with any input, by agent .* in every space/ }).check()
  // No run asks for this call: the agent called it by itself.
  expect(await page.getByRole("radio").count()).toBe(1)
  await page.getByText("Nobody will see these calls before they run.").waitFor()
  // The house takes its time, and the person goes elsewhere meanwhile: there they stay, and see what came of it.
  let answered = () => {}
  const leave = new Promise<void>((resolve) => void (answered = resolve))
  await page.route(/\/answer$/, async (route) => {
    await leave
    await route.continue()
  })
  const sent = page.waitForRequest(/\/answer$/)
  await page.getByRole("button", { name: "Approve these calls" }).click()
  await sent
  await page.getByRole("link", { name: "Always", exact: true }).click()
  await page.getByText("There are no standing approvals").waitFor()
  answered()
  await page.getByRole("button", { name: "Revoke" }).click()
  await page.getByRole("button", { name: "Revoke" }).click()
  await page.getByText("There are no standing approvals").waitFor()
  expect((await admin().decisions.approvals()).items).toEqual([])
})

it("of critical risk asks once more with the tool's name, and no key approves it", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "transfer", { to: "Pilots", amount: 1180 }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/decisions")
  await page.locator(".main-act:not([aria-disabled])").waitFor()
  await page.locator(".decision").focus()
  await page.keyboard.press("a")
  await page.getByRole("button", { name: "Approve" }).click()
  await page.getByText("Critical risk. Approve transfer?").waitFor()
  await page.getByRole("button", { name: "Approve transfer" }).click()
  await page.getByText("Nothing waits for you.").waitFor()
  expect(consoleLines).toEqual([])
})

it("a diff is shown as one and a long text with its extent, nothing in them hides, and the approval names their digest", async () => {
  const { call, maya, scout } = people
  const patch = { type: "string", contentMediaType: "text/x-diff" }
  await admin().tools.add({
    name: "apply",
    description: "Applies a change",
    inputSchema: { type: "object", properties: { patch, long: { type: "string" }, wide: { type: "string" } } },
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "1" },
    requiresApproval: true,
    approval: { reach: "once" },
  })
  const input = {
    patch: "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-old\n+new\u202e \u0007\n same\r\n",
    long: `${"line\n".repeat(11_999)}line`,
    wide: "w".repeat(500),
  }
  await call(scout.client, "apply", input, 0)
  const { page } = await visitor()
  const answers: Array<string> = []
  page.on("request", (request) => {
    if (request.url().endsWith("/answer")) answers.push(request.postData() ?? "")
  })
  await signIn(page, maya.token, "/decisions")
  await page.getByRole("link", { name: /apply/ }).first().click()
  const card = page.locator("section.decision", { hasText: "apply" })
  await card.locator(".diff .del", { hasText: "old" }).waitFor()
  await card.locator(".diff .ins", { hasText: "new<U+202E> <U+0007>" }).waitFor()
  await card.locator(".diff", { hasText: "same<U+000D>" }).waitFor()
  await card.getByText(/^12000 lines, 59999 characters/).waitFor()
  const open = card.getByRole("button", { name: "more characters: open the whole" })
  expect(await card.locator(".whole").innerText()).toHaveLength(500 * 5 - 1)
  await open.click()
  expect((await card.locator(".whole").innerText()).trimEnd()).toHaveLength(59_999)
  // Nothing of a long line lies outside of its box.
  const reaching = await card
    .locator("dd")
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length)
  expect(reaching).toBe(0)
  // The tool is approved call by call: no wider reach is offered.
  expect(await card.getByRole("button", { name: "Always" }).count()).toBe(0)
  await press(card.getByRole("button", { name: "Approve" }))
  await card.waitFor({ state: "detached" })
  const [decision] = (await admin().decisions.list({ state: "answered", limit: 100 })).items.filter(
    (one) => one.call?.tool === "apply",
  )
  expect(answers.map((one) => JSON.parse(one) as unknown)).toEqual([
    { verdict: "approve", inputDigest: decision!.inputDigest },
  ])
  expect(consoleLines).toEqual([])
})

it("behind a signed link is the same card without reach, and once used the link shows nothing", async () => {
  const { call, maya, scout } = people
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "Link", text: "x" }, 0)
  const [open] = (await admin().decisions.list({ state: "open" })).items
  const link = await as(maya.token).decisions.link(open!.id, {})
  const address = url() + new URL(link.url).pathname
  const { context, page } = await visitor(phone)
  await page.goto(address)
  await page.locator("section.decision").waitFor()
  for (const name of ["Always", "Edit"]) expect(await page.getByRole("button", { name }).count()).toBe(0)
  await page.locator(".main-act:not([aria-disabled])").waitFor()
  await page.getByRole("button", { name: "Approve" }).click()
  await page.getByText("this link is used up").waitFor()
  const again = await context.request.get(address, { headers: { accept: "text/html" } })
  expect(again.status()).toBe(404)
  expect(await again.text()).not.toContain("send_mail")
  expect(consoleLines).toEqual([])
})

it("offers its reader only what the house takes from them: a member, the first of two people, a change of rights", async () => {
  const { call, harbour, maya, scout } = people
  const lena = await person("Lena")
  await admin().spaces.addMember(harbour.id, lena.id)
  const { page } = await visitor()
  await signIn(page, lena.token, "/s/harbour")
  await call(scout.client, "send_mail", { to: ["a@b.example"], subject: "Member", text: "x" }, 0)
  let card = page.locator("section.decision", { hasText: "Member" })
  const buttons = () => card.locator(".acts button").allInnerTexts()
  await card.getByRole("button", { name: "Edit" }).waitFor()
  expect((await buttons()).map((text) => text.split("\n")[0]!.trim())).toEqual(["Approve", "Edit", "Deny"])
  await card.getByRole("button", { name: "Deny" }).click()
  await press(card.getByRole("button", { name: "Deny" }))
  await card.waitFor({ state: "detached" })

  await admin().tools.add({
    name: "sink",
    description: "Sinks a ship",
    inputSchema: { type: "object", properties: { ship: { type: "string" } } },
    executionType: "gateway",
    execution: { operation: "evaluate", expression: "1" },
    requiresApproval: true,
    approval: { people: 2 },
  })
  card = page.locator("section.decision", { hasText: "sink" })
  await call(scout.client, "sink", { ship: "Notos" }, 0)
  await card.locator(".main-act:not([aria-disabled])").waitFor()
  expect((await buttons()).map((text) => text.split("\n")[0]!.trim())).toEqual(["Approve", "Deny"])
  await card.focus()
  await page.keyboard.press("e")
  expect(await card.getByRole("textbox").count()).toBe(0)
  await press(card.getByRole("button", { name: "Approve" }))
  await card.getByText("Waiting for a second person").waitFor()

  await admin().allowLists.set("stoa", "agent", { tools: ["whoami"] })
  const two = await visitor()
  await signIn(two.page, maya.token, "/decisions")
  await two.page
    .getByText(/wants to change rights/)
    .first()
    .click()
  const change = two.page.locator("section.decision", { hasText: "wants to change rights" })
  await change.getByRole("heading", { name: /wants to change rights/ }).waitFor()
  expect(await change.getByRole("button", { name: /Edit|Always/ }).count()).toBe(0)
  await change.getByRole("button", { name: "Deny" }).click()
  await press(change.getByRole("button", { name: "Deny" }))
  await change.waitFor({ state: "detached" })
  expect(consoleLines).toEqual([])
})
