/**
 * Who belongs to a space, as the room that knows it says. Decisions stand beside spaces, not above them, so the answer is
 * wired in from above (House.ts).
 */
import type { PrincipalId, SpaceId } from "@stoa/contract"
import { Context, type Effect } from "effect"

export class Company extends Context.Service<
  Company,
  {
    /** The people among its members. */
    readonly peopleOf: (space: SpaceId) => Effect.Effect<ReadonlyArray<PrincipalId>>
    readonly spacesOf: (principal: PrincipalId) => Effect.Effect<ReadonlyArray<SpaceId>>
  }
>()("server/decisions/Company") {}
