/** The kit for whoever builds agents, used as they would: one house in this process, no mock of anything in it. */
import { existsSync } from "node:fs"
import { expect, it } from "vitest"
import { startHouse } from "@stoa/sdk/testing"

const clerk = { name: "Clerk", model: "scripted" }
const configuration = {
  people: [{ name: "Pam" }],
  agents: [clerk],
  spaces: [{ name: "desk", kind: "private" as const, members: ["Pam", "Clerk"] }],
}
const answer = (text: string, reply: string) => [
  { when: { text, step: 1 }, call: [{ tool: "post_message", input: { space: "desk", text: reply } }] },
]
const lastIn = async (pam: {
  spaces: { messages: (space: string) => Promise<{ items: ReadonlyArray<{ text: string }> }> }
}) => (await pam.spaces.messages("desk")).items.at(-1)?.text

it("a whole house starts in the test's process, its agent answers by rules, and nothing is left behind", async () => {
  const house = await startHouse({ configuration, rules: answer("hello", "Good morning.") })
  const pam = await house.as("Pam")
  await pam.spaces.post("desk", { text: "hello" })
  expect((await house.event("run.ended")).body).toMatchObject({ state: "completed" })
  expect(await lastIn(pam)).toBe("Good morning.")
  house.play(answer("bye", "Good night."))
  await pam.spaces.post("desk", { text: "bye" })
  await house.event("run.ended")
  expect(await lastIn(pam)).toBe("Good night.")
  await house.stop()
  await expect(pam.spaces.messages("desk")).rejects.toThrow(/No house answers/)
  expect(existsSync(house.folder)).toBe(false)
})

it("the clock moves ahead: a plan of tomorrow fires now", async () => {
  await using house = await startHouse({
    configuration: { ...configuration, agents: [{ ...clerk, toolsets: ["gateway"] }] },
    rules: [
      {
        when: { text: "remind", step: 1 },
        call: [{ tool: "set_plans", input: { plans: [{ name: "ring", instruction: "call Ann", runAfter: "1 day" }] } }],
      },
    ],
  })
  const pam = await house.as("Pam")
  await pam.spaces.post("desk", { text: "remind me" })
  await house.event("run.ended")
  const fired = house.event("run.queued", ({ body }) => (body as { trigger?: string }).trigger === "plan")
  house.advance("25 hours")
  expect((await fired).kind).toBe("run.queued")
})

it("faults: what was cut or lost is sent again and happens once; what goes on failing is told; a restart keeps all", async () => {
  await using house = await startHouse({ configuration })
  const pam = await house.as("Pam")
  const posts = { method: "POST", path: /messages$/ }
  house.fault({ ...posts, act: "cut" })
  await pam.spaces.post("desk", { text: "one" })
  house.fault({ ...posts, act: "lost" })
  await pam.spaces.post("desk", { text: "two" })
  house.fault({ ...posts, act: 403 })
  await expect(pam.spaces.post("desk", { text: "three" })).rejects.toMatchObject({ status: 403 })
  await house.restart()
  expect((await pam.spaces.messages("desk")).items.map(({ text }) => text)).toEqual(["one", "two"])
  await pam.spaces.post("desk", { text: "four" })
  expect(
    await house.event(
      "message.created",
      ({ body }) => (body as { message?: { text?: string } }).message?.text === "four",
    ),
  ).toBeDefined()
})

it("a house that cannot start says why", async () => {
  await expect(startHouse({ configuration: { spaces: [{ name: "" }] } as never })).rejects.toThrow(/spaces/)
})
