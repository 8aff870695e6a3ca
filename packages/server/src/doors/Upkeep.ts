/** What an operator may ask of the running house. `Doors.ts` of the house fills it in, because doors know no wiring. */
import type { Acceptable, BadInput, Caller, ConfigFaulty, Figures, Report } from "@stoa/contract"
import type { Cause } from "../store/journal/Correlation.ts"
import { Context, type DateTime, type Effect, type Stream } from "effect"

export class Upkeep extends Context.Service<
  Upkeep,
  {
    readonly version: string
    /** The public address of the house. */
    readonly address: () => string
    readonly ready: () => "ok" | "starting" | "draining"
    readonly diskFull: () => boolean
    readonly reload: Effect.Effect<
      {
        readonly file: string
        readonly added: ReadonlyArray<string>
        readonly changed: ReadonlyArray<string>
        readonly retired: ReadonlyArray<string>
        readonly warnings: ReadonlyArray<string>
      },
      ConfigFaulty
    >
    readonly doctor: Effect.Effect<Report>
    /** An operator has checked a finding, and accepts it. */
    readonly accept: (check: Acceptable) => Effect.Effect<void>
    /** A consistent copy of everything, made while the house runs. Who got it is recorded. */
    readonly backup: (options: { readonly withKey: boolean; readonly cause: Cause }) => Stream.Stream<Uint8Array>
    /** Figures about the house, as far as the caller may see them. */
    readonly figures: (
      query: { readonly from?: DateTime.Utc; readonly step?: number },
      listening: () => { readonly people: number; readonly agents: number; readonly services: number },
    ) => Effect.Effect<Figures, BadInput, Caller>
  }
>()("server/doors/Upkeep") {}
