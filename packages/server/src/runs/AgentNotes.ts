/** What of an agent's settings takes no effect, and why: told where it is set, and by the doctor. Pure. */
import { Agent } from "@stoa/contract"
import { looserOf } from "./profile.ts"

/** The agent, with a sentence for each of its limits that its toolset does not allow. */
export const withAgentNotes = (agent: Agent): Agent => {
  const notes = looserOf(agent)
  return notes.length === 0 ? agent : new Agent({ ...agent, notes })
}

export const agentNotes = looserOf
