/** The errors for what the table (`rules.ts`) refuses: each says what helps. */
import { Forbidden, type Message, Missing, type Resource, type Space, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import type { Viewer } from "../access/rights/Viewer.ts"
import { type Act, insteadOf, type SpaceVerdict, verbOf } from "./rules.ts"

export type SightRefusal = Missing | Forbidden
export type SpaceRefusal = SightRefusal | WrongState

/** An act that changes nothing others see is not refused for the state a space is in. */
export const withoutWrongState = <A>(asked: Effect.Effect<A, SpaceRefusal>): Effect.Effect<A, SightRefusal> =>
  Effect.catchTag(asked, "WrongState", Effect.die)

/**
 * The refusal for something that the caller cannot see. It must not reveal whether the thing exists: without any right to
 * such names the answer is Forbidden, otherwise Missing.
 */
export const refuseSight = (
  noun: string,
  ref: string,
  viewer: Viewer,
  resource: Resource,
): Effect.Effect<never, SightRefusal> => {
  const { rule, verdict } = viewer.judge("read", resource)
  return Effect.fail(
    verdict === "allow" ? new Missing({ noun, ref }) : new Forbidden({ action: "read", resource, rule }),
  )
}

type Refusal = Exclude<SpaceVerdict, { readonly is: "yes" }>

/** A grant helps where no rule says anything; a rule that says no is changed by whoever made it. */
const grantOf = (rule: string, { principal }: Viewer, { name }: Pick<Space, "name">): string =>
  rule === "silence"
    ? `An admin can grant ${principal.name} write on spaces/${name}.`
    : "An admin can change that rule."

export const refuseAct = (
  act: Act,
  said: Refusal,
  space: Pick<Space, "id" | "name">,
  viewer: Viewer,
  message?: Pick<Message, "id">,
): Effect.Effect<never, SpaceRefusal> => {
  switch (said.is) {
    case "hidden":
      return message === undefined
        ? refuseSight("space", space.id, viewer, `spaces/${space.id}`)
        : refuseSight("message", message.id, viewer, "spaces/*")
    case "refused":
      return Effect.fail(
        new Forbidden({
          action: verbOf(act),
          resource: message === undefined ? `spaces/${space.name}` : `messages/${message.id}`,
          rule: said.rule,
          instead: said.lacks === "write" ? grantOf(said.rule, viewer, space) : insteadOf(act),
        }),
      )
    case "dm":
      return Effect.fail(new WrongState({ detail: "A dm is between its two members; open a private space for more." }))
    case "archived":
      return Effect.fail(
        new WrongState({
          detail: `${space.name} is archived: it can be read, not written to. Bring it back first with {"archived": false}.`,
        }),
      )
  }
}
