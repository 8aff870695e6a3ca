/**
 * Who is a member of a space. Decisions and spaces are on the same floor, so `House.ts` wires the answer in from above.
 */
import type { PrincipalId, SpaceId } from "@stoa/contract"
import { Context, type Effect } from "effect"
import type { Viewer } from "../../access/rights/Viewer.ts"

/** A person in a space: since which event of the journal, and who let them in (`house`: the configuration file; null: unknown). */
interface SpacePerson {
  readonly id: PrincipalId
  readonly since: number
  readonly letInBy: string | null
}

export interface SpacePeople {
  readonly openedBy: string | null
  readonly people: ReadonlyArray<SpacePerson>
}

export class SpaceMembers extends Context.Service<
  SpaceMembers,
  {
    /** The people among its members. */
    readonly peopleOf: (space: SpaceId) => Effect.Effect<SpacePeople>
    readonly spacesOf: (who: Pick<Viewer, "principal" | "context">) => Effect.Effect<ReadonlyArray<SpaceId>>
  }
>()("server/decisions/SpaceMembers") {}
