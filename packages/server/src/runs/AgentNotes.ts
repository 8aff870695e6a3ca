/** Which of an agent's settings have no effect, and why: shown where they are set, and by the doctor. Pure. */
import { Agent } from "@stoa/contract"
import { limitsFor, ineffectiveLimits } from "./profile.ts"

/**
 * The agent with the limits that really apply to its runs, and a sentence for each of its limits that its toolset
 * overrides. `more`: what else is to be said about it.
 */
export const withAgentNotes = (agent: Agent, more: ReadonlyArray<string> = []): Agent => {
  const notes = [...ineffectiveLimits(agent), ...more]
  return new Agent({ ...agent, inForce: limitsFor(agent), ...(notes.length === 0 ? {} : { notes }) })
}

export const agentNotes = ineffectiveLimits
