/** What of an agent's settings takes no effect, and why: told where it is set, and by the doctor. Pure. */
import { Agent } from "@stoa/contract"
import { limitsFor, looserOf } from "./profile.ts"

/** The agent, with what its runs really may do, and a sentence for each of its limits that its toolset does not allow. */
export const withAgentNotes = (agent: Agent): Agent => {
  const notes = looserOf(agent)
  return new Agent({ ...agent, inForce: limitsFor(agent), ...(notes.length === 0 ? {} : { notes }) })
}

export const agentNotes = looserOf
