/** Tests of an agent, as whoever builds one would write them: a whole house in this process, no key, no mock. */
// #region configuration
import { startHouse } from "@stoa/sdk/testing"
import { expect, it } from "vitest"

const configuration = {
  people: [{ name: "Pam" }],
  agents: [{ name: "Clerk", model: "scripted", persona: "You keep the archive." }],
  spaces: [{ name: "archive", kind: "private" as const, members: ["Pam", "Clerk"] }],
  tools: [
    {
      name: "shred",
      description: "Shreds a file, for good.",
      inputSchema: { type: "object", properties: { file: { type: "string" } } },
      executionType: "internal" as const,
      execution: { output: { shredded: true } },
      requiresApproval: true,
    },
  ],
}
const rules = [
  { when: { text: "shred", step: 1 }, call: [{ tool: "shred", input: { file: "1998.pdf" } }] },
  {
    when: { tool: "shred", outcome: "done" as const },
    call: [{ tool: "post_message", input: { space: "archive", text: "Shredded." } }],
  },
  {
    when: { tool: "shred", outcome: "refused" as const },
    call: [{ tool: "post_message", input: { space: "archive", text: "Then I keep it." } }],
  },
]
// #endregion

// #region approve
it("shreds the file when a person approves", async () => {
  await using house = await startHouse({ configuration, rules })
  const pam = await house.as("Pam")
  await pam.spaces.post("archive", { text: "Please shred it." })
  await house.event("decision.asked")
  const [question] = (await pam.decisions.list({ state: "open" })).items
  await pam.decisions.answer(question!.id, { verdict: "approve" })
  await house.event("run.ended")
  expect((await pam.spaces.messages("archive")).items.at(-1)?.text).toBe("Shredded.")
})
// #endregion

// #region expire
it("keeps the file when nobody answers in time", async () => {
  await using house = await startHouse({ configuration, rules })
  const pam = await house.as("Pam")
  await pam.spaces.post("archive", { text: "Please shred it." })
  await house.event("decision.asked")
  await house.restart()
  house.advance("8 days")
  await house.event("decision.expired")
  await house.event("run.ended")
  expect((await pam.spaces.messages("archive")).items.at(-1)?.text).toBe("Then I keep it.")
})
// #endregion
