/**
 * Who may do what with an agent: the one table, pure. `Team` asks it before it does anything, so that no door or toolset
 * has its own rule.
 *
 * With the tools of its team, an agent acts by its place in the tree, and needs no other right. Everybody else acts by
 * rights on `principals/NAME`, after the right to see the agent.
 */
import type { Action, Agent, Principal } from "@stoa/contract"

export type Relation = "parent" | "child" | "sibling"

/** Merging is the team's alone. */
export type Act = keyof typeof byRight | "merge"

/** Whom an agent may do it to, seen from itself. */
const byPlace: Record<Act, ReadonlyArray<Relation | "self">> = {
  inspect: ["child"],
  stop: ["child"],
  spawn: ["self"],
  merge: ["self", "child"],
}

const isItselfOrOwner = (who: Pick<Principal, "id">, whom: Agent): boolean =>
  who.id === whom.id || who.id === whom.owner

const nobody = (): boolean => false

const byRight = {
  // It shows mail, which is its own.
  inspect: { right: "admin", freely: isItselfOrOwner },
  stop: { right: "write", freely: nobody },
  spawn: { right: "write", freely: nobody },
} as const satisfies Record<string, { readonly right: Action; readonly freely: typeof isItselfOrOwner }>

export const mayByPlace = (act: Act, whom: Relation | "self"): boolean => byPlace[act].includes(whom)

/** The right that it takes; undefined if seeing the agent is enough. */
export const rightFor = (act: keyof typeof byRight, who: Pick<Principal, "id">, whom: Agent): Action | undefined =>
  byRight[act].freely(who, whom) ? undefined : byRight[act].right
