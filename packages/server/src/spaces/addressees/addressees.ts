/**
 * Which agents a message is for: the agents that it should wake. Pure; the reader that wakes them takes it from
 * the event.
 */
import type { PrincipalId, PrincipalKind, TriggerRule } from "@stoa/contract"
import type { PostOptions } from "../messages/PostOptions.ts"

interface Present {
  readonly id: PrincipalId
  readonly kind: PrincipalKind
}

export interface NewPost {
  readonly trigger: TriggerRule
  readonly author: Present
  readonly members: ReadonlyArray<Present>
  readonly mentions: ReadonlyArray<PrincipalId>
  /** The thread: the author of the answered message, and those who answered it before. */
  readonly thread: ReadonlyArray<PrincipalId>
}

/** Mentions are parsed only if they matter. */
export const readsMentions = (trigger: TriggerRule): boolean => trigger === "mention"

export const addresseesOf = ({ author, members, mentions, thread, trigger }: NewPost): ReadonlyArray<PrincipalId> => {
  // Nobody wakes themselves, and people are not woken but notified.
  const others = members.filter((member) => member.id !== author.id)
  const agents = others.filter((member) => member.kind === "agent")
  const ids = agents.map((member) => member.id)
  switch (trigger) {
    case "dm":
      return others.length === 1 ? ids : []
    case "mention": {
      // With only two members no mention is needed (S1-95).
      if (others.length === 1) return ids
      return ids.filter((id) => mentions.includes(id))
    }
    case "human-all":
      if (author.kind !== "person") return []
      return thread.length === 0 ? ids : ids.filter((id) => thread.includes(id))
    // A team routes along its own edges; the room `team` decides.
    case "team-edge":
      return []
  }
}

/** Whom a post is for: mail of a team is for those it names; a call's message is for nobody. */
export const recipientsOf = ({ call, mail }: PostOptions, said: NewPost): ReadonlyArray<PrincipalId> =>
  mail !== undefined ? mail.to : call === undefined ? addresseesOf(said) : []

/** What its event says about its origin. */
export const originFields = ({ mail, run }: PostOptions) => ({
  ...(run === undefined ? {} : { run }),
  ...(mail === undefined ? {} : { mail: { kind: mail.kind } }),
})
