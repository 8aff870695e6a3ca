/** A press means one thing: nothing that opens, moves or is held down makes it press anything else. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { type Modal, modals, type Place, places } from "../../../src/parts/press/overlays.ts"
import { fillOffice } from "../kit/office.ts"
import { houseInBrowser } from "../kit/houseInBrowser.ts"
import { counted } from "../kit/press.ts"

const house = houseInBrowser()
const { admin, as, consoleLines, signIn, visitor } = house
let people: Awaited<ReturnType<typeof fillOffice>>

beforeAll(async () => {
  people = await fillOffice(house)
  const { call, maya, scout } = people
  await call(scout.client, "transfer", { to: "Pilots", amount: 1180 }, 0)
  await as(maya.token).spaces.post(people.harbour.id, { text: "Mine to delete" })
})

/** What the page asked the house to do; reading and telling that somebody types are no acts. */
const actsOf = (page: Page) => {
  const acts: Array<string> = []
  page.on("request", (request) => {
    const { pathname } = new URL(request.url())
    if (request.method() !== "GET" && !/\/(?:read|typing|session)$/.test(pathname))
      acts.push(`${request.method()} ${pathname}`)
  })
  return acts
}

interface Armed {
  /** Makes it ready: what has to be open for it. */
  readonly ready: (page: Page) => Promise<Locator>
}

const cardOf = (page: Page, tool: string) => page.locator("section.decision", { hasText: tool }).first()
const mine = (page: Page) => page.locator("article, [data-row]", { hasText: "Mine to delete" }).last()

/** Every kind of act, where one space shows them all. */
const armed: Readonly<Record<string, Armed>> = {
  approve: { ready: async (page) => cardOf(page, "send_mail").getByRole("button", { name: "Approve" }) },
  deny: {
    ready: async (page) => {
      const card = cardOf(page, "send_mail")
      await card.getByRole("button", { name: "Deny" }).click()
      return card.locator("form button.no")
    },
  },
  critical: {
    ready: async (page) => {
      const card = cardOf(page, "transfer")
      await counted(card.getByRole("button", { name: "Approve" }))
      await card.getByRole("button", { name: "Approve" }).click()
      return card.getByRole("button", { name: "Approve transfer" })
    },
  },
  delete: {
    ready: async (page) => {
      await mine(page).hover()
      await mine(page).locator("[data-act=remove]").click()
      return page.getByRole("alertdialog").getByRole("button", { name: "Delete" })
    },
  },
  archive: {
    ready: async (page) => {
      const panel = page.locator("aside.panel")
      await panel.getByRole("button", { name: "Archive" }).click()
      return panel.getByRole("alertdialog").getByRole("button", { name: "Archive" })
    },
  },
  send: {
    ready: async (page) => {
      const composer = page.locator(".composer").last()
      await composer.getByRole("textbox").fill("never sent")
      return composer.getByRole("button", { name: "Send" })
    },
  },
}

const space = "/s/harbour"

/** How each overlay is opened by the keyboard: what has the focus, and the key that is then held down. */
const openers: Readonly<Record<Modal | Place, readonly [path: string, from: (page: Page) => Locator, key: string]>> = {
  jump: [space, (page) => cardOf(page, "send_mail").getByRole("button", { name: "Approve" }), "Control+k"],
  keys: [space, (page) => cardOf(page, "send_mail").getByRole("button", { name: "Approve" }), "?"],
  confirm: [space, (page) => mine(page).locator("[data-act=remove]"), "Enter"],
  critical: [space, (page) => cardOf(page, "transfer").getByRole("button", { name: "Approve" }), "Enter"],
  emojis: [space, (page) => page.locator(".composer").getByRole("button", { name: "Emoji" }), "Enter"],
  "search-panel": [space, (page) => page.getByRole("button", { name: "Search in this space" }), "Enter"],
  "space-panel": [space, (page) => page.getByRole("button", { name: "About this space" }), "Enter"],
  "thread-panel": [space, (page) => mine(page).locator("[data-act=reply]"), "Enter"],
  reason: ["/agents", (page) => page.locator("main [role=switch]").first(), " "],
}

const keys = ["Enter", " ", "Escape"] as const
const hold = async (page: Page, key: string) => {
  for (let times = 0; times < 4; times++) await page.keyboard.down(key)
  await page.keyboard.up(key)
}

it("a key held down while something opens, and the next ones, press nothing but what has opened", async () => {
  const { page } = await visitor()
  await signIn(page, people.maya.token)
  const acts = actsOf(page)
  for (const name of [...modals, ...places]) {
    const [path, from, opening] = openers[name]
    for (const key of keys) {
      await page.goto(house.url() + path)
      // Its panel is open on a wide page.
      if (name === "space-panel") await from(page).click()
      if (/confirm|thread/.test(name)) await mine(page).hover()
      await counted(from(page))
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await from(page).focus()
      if (opening.startsWith("Control+")) {
        await page.keyboard.down("Control")
        await hold(page, opening.slice(8))
        await page.keyboard.up("Control")
      } else await hold(page, opening)
      const overlay = page.locator(`[data-overlay=${name}]`)
      await overlay.waitFor()
      // Reached by nothing: the focus is inside.
      await expect.poll(() => overlay.evaluate((box) => box.contains(document.activeElement))).toBe(true)
      await hold(page, key)
      expect([name, key, acts.splice(0)]).toEqual([name, key, []])
      if (key === "Escape") {
        await overlay.waitFor({ state: "detached" })
        await page.waitForFunction(() => document.activeElement !== document.body)
      }
    }
  }
  expect(consoleLines).toEqual([])
})

it("no key pressed in what covers the page presses what had the focus before, whatever it would do", async () => {
  const { page } = await visitor()
  await signIn(page, people.maya.token)
  const acts = actsOf(page)
  for (const [what, { ready }] of Object.entries(armed)) {
    const prepare = async () => {
      await page.goto(house.url() + space)
      const control = await ready(page)
      await counted(control)
      return control
    }
    let control = await prepare()
    // In something that has opened, single letters are its own.
    const isInside = await control.evaluate((one) => one.closest("[data-overlay]") !== null)
    for (const opening of isInside ? ["Control+k"] : ["Control+k", "?"])
      for (const key of keys)
        for (const drawn of [true, false]) {
          await control.focus()
          await page.keyboard.press(opening)
          const overlay = page.locator("[data-overlay=jump], [data-overlay=keys]")
          if (drawn) {
            await overlay.waitFor()
            if (opening === "Control+k") {
              await page.keyboard.type("harbour")
              await page.getByRole("option", { name: "harbour", exact: true }).waitFor()
            }
          }
          await hold(page, key)
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
          if (await overlay.isVisible()) await page.keyboard.press("Escape")
          await overlay.waitFor({ state: "detached" })
          expect([what, opening, key, drawn, acts.splice(0)]).toEqual([what, opening, key, drawn, []])
          // Enter in the empty palette goes to its first place.
          if (!(await control.isVisible())) control = await prepare()
        }
  }
  expect(consoleLines).toEqual([])
})

const inbox = async (n: number) => {
  const { call, maya, scout } = people
  for (const { id } of (await admin().decisions.list({ state: "open", limit: 100 })).items)
    await admin().decisions.answer(id, { verdict: "deny" })
  for (let at = 0; at < n; at++)
    await call(scout.client, "send_mail", { to: ["a@b.example"], subject: `Mail ${at}`, text: "x" }, 0)
  const { page } = await visitor()
  await signIn(page, maya.token, "/decisions")
  const approve = page.locator("main .decision .main-act")
  await counted(approve)
  const list = () => admin().decisions.list({ state: "open", limit: 100 })
  return { page, approve, acts: actsOf(page), open: async () => (await list()).items.length }
}

it("a double click, a held key and a pointer that rests decide one question, and not the one that takes its place", async () => {
  const { acts, approve, open, page } = await inbox(4)
  const before = await open()
  const shown = () => page.locator("main section.decision").getAttribute("data-decision")
  const answers = () => acts.filter((act) => act.endsWith("/answer")).length
  const next = async (last: string | null) => {
    await expect.poll(shown).not.toBe(last)
    await counted(approve)
  }

  const first = await shown()
  await approve.dblclick()
  await next(first)
  expect(answers()).toBe(1)
  // The pointer rests where the button of the next one is now.
  await page.mouse.down()
  await page.mouse.up()
  expect([answers(), await open()]).toEqual([1, before - 1])
  // The answer to whoever means it: once more, for what they see now.
  const second = await shown()
  await page.mouse.down()
  await page.mouse.up()
  await next(second)
  expect(answers()).toBe(2)

  // The card has the focus once it can be read; the letter is held down until the next one is there.
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches(".decision"))).toBe(true)
  const third = await shown()
  await page.keyboard.down("a")
  await expect.poll(shown).not.toBe(third)
  await counted(approve)
  await page.keyboard.down("a")
  await page.keyboard.down("a")
  await page.keyboard.up("a")
  expect([answers(), await open()]).toEqual([3, before - 3])
  expect(consoleLines).toEqual([])
})

it("a focus placed on a card before it was ready does not decide, nor does Enter in a field of another control", async () => {
  const { acts, approve, open, page } = await inbox(1)
  const before = await open()
  await page.reload()
  await approve.waitFor()
  await approve.focus()
  await counted(approve)
  await page.keyboard.press("Enter")
  expect(acts).toEqual([])
  await page.getByRole("button", { name: "Edit" }).click()
  const subject = page.getByRole("textbox", { name: "subject" })
  await counted(page.locator("main .decision .main-act"))
  await subject.focus()
  await page.keyboard.press("Enter")
  expect([acts, await open()]).toEqual([[], before])
})

it("everything that opens is in the list: no other part of the page makes one", () => {
  const source = join(import.meta.dirname, "../../../src")
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name))
  const opens = /@base-ui\/react\/(?!csp)|role="(?:dialog|alertdialog|menu)"|<dialog|popover=|showModal|showPopover/
  const made = files.filter((name) => opens.test(readFileSync(join(source, name), "utf8"))).toSorted()
  expect(made).toEqual([
    "cards/decision/boxes/CriticalBox.tsx",
    // Which of two sign-ins to use: the whole screen, with nothing under it.
    "features/signin/SignInScreen.tsx",
    "parts/press/Confirmation.tsx",
    "parts/press/ModalBox.tsx",
  ])
  const panels = files.filter((name) => readFileSync(join(source, name), "utf8").includes('className="panel scroll'))
  for (const name of [
    "cards/decision/boxes/CriticalBox.tsx",
    "parts/press/Confirmation.tsx",
    ...panels,
    "parts/icons/EmojiList.tsx",
    "parts/form/ReasonForm.tsx",
  ])
    expect(readFileSync(join(source, name), "utf8")).toContain("{...overlay}")
})
