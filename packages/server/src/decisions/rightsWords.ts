/**
 * A change of rights as one sentence, complete: the approving person must read what they agree to. Texts of the asker are
 * quoted, so that none of them can go on as the house. Pure.
 */
import type { AccessContext, Grant, ListedSet, NewGrant, Principal } from "@stoa/contract"
import { DateTime } from "effect"

const quoted = (value: unknown): string => JSON.stringify(value)

interface Lists {
  readonly toolset: ListedSet
  readonly context: AccessContext
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}
const listOf = ({ context, toolset }: Lists): string => `the allow list of ${toolset} for the context ${context}`

export const listSet = (lists: Lists): string =>
  `${listOf(lists)} becomes ${quoted(lists.after)}. It is ${quoted(lists.before)} now.`

export const listReset = (lists: Lists): string =>
  `${listOf(lists)} goes back to its default, ${quoted(lists.after)}. It is ${quoted(lists.before)} now.`

export const grantAdded = (
  whose: string,
  { actions, effect, expiresAt, resource }: Omit<NewGrant, "principal">,
): string => {
  const what = `${actions.join(", ")} ${quoted(resource)}`
  const says =
    effect === "deny"
      ? `${whose} may no longer ${what}`
      : `${whose} may ${what}${effect === "ask" ? ", each time after a person has agreed" : ""}`
  return `${says}${expiresAt == null ? "" : `, until ${DateTime.formatIso(expiresAt)}`}.`
}

export const grantRevoked = (
  whose: string,
  { actions, effect, id, resource }: Pick<Grant, "actions" | "effect" | "id" | "resource">,
): string => `${whose} loses the grant ${id}: ${effect} ${actions.join(", ")} on ${quoted(resource)}.`

export const principalChanged = (before: Principal, changes: object): string =>
  `of ${before.kind} ${before.name}, ${Object.entries(changes)
    .map(([key, value]) => `${key} becomes ${quoted(value)} (now ${quoted((before as never)[key] ?? null)})`)
    .join(" and ")}.`
