/** The refusal of a change of rights that no rule allows. Pure. */
import { type AccessContext, type Action, Forbidden } from "@stoa/contract"

/** Giving rights takes an internal token too: to a caller without one, the right alone would be of no use. */
const both = "An admin can grant that, and make you a token with the context internal, which it takes too."

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
