/** Refusals of rights in words that help. Pure. */
import { type AccessContext, type Action, Forbidden, type Judgement } from "@stoa/contract"

/** Giving rights takes an internal token too: to a caller without one, the right alone would be of no use. */
const both = "An admin can grant that, and make you a token with the context internal, which it takes too."

/** A rule of the configuration file that asks, about something that nobody can be asked about. */
const unaskable = (place: string, action: Action): string => {
  const changed =
    action === "read"
      ? `: if it is meant for changes alone, its actions are ["write"], because "admin" includes reading`
      : ""
  return `policies.${place} of the configuration file says "ask", and nobody can be asked about this, so a grant does not help. An operator can change that policy${changed}.`
}

/** The refusal where nothing can wait for a person. */
export const refusedOutright = (action: Action, resource: string, { rule, verdict }: Judgement): Forbidden => {
  const place = verdict === "ask" ? /^policy:(\d+)$/.exec(rule)?.[1] : undefined
  return new Forbidden({
    action,
    resource,
    rule,
    ...(place === undefined ? {} : { instead: unaskable(place, action) }),
  })
}

export const lacksRight = (
  context: AccessContext,
  { action, resource, rule }: { readonly action: Action; readonly resource: string; readonly rule: string },
): Forbidden =>
  new Forbidden({
    action,
    resource,
    rule,
    ...(action === "admin" && context !== "internal" && rule === "silence" ? { instead: both } : {}),
  })
