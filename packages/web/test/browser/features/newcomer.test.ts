/** A newcomer in the demo: makes an agent, talks to it, and asks why. */
import { expect, it } from "vitest"
import { houseInBrowser } from "../kit/houseInBrowser.ts"

const { consoleLines, signIn, token, url, visitor } = houseInBrowser({ demo: true })

it(
  "an agent that is made here answers at once, and why says that a person is asked",
  { timeout: 120_000 },
  async () => {
    const { page } = await visitor()
    await signIn(page, token())
    // An agent that is made here thinks with what there is, and answers.
    await page.goto(`${url()}/agents?open=true`)
    await page.getByLabel("Name Letters").fill("purser")
    await page.getByText("purser thinks with demo-scripted").waitFor()
    await page.getByRole("button", { name: "Make it" }).click()
    await page.getByRole("textbox", { name: "Say something to purser" }).fill("hello")
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByRole("log").getByText("Hello, and welcome.").waitFor()
    // The rules allow what the tool asks about all the same, and that is what is said.
    await page.goto(`${url()}/why?principal=clerk&action=execute&resource=tools/order`)
    await page.getByText("Only after a person has agreed.").waitFor()
    expect(consoleLines).toEqual([])
  },
)
