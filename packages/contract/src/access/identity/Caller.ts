/** Who is asking: bound to the connection by its credential, never by an argument. */
import { Context, type DateTime } from "effect"
import type { AccessContext } from "../rights/AllowList.ts"
import type { TokenId } from "../../Ids.ts"
import type { Principal } from "./Principal.ts"

export class Caller extends Context.Service<
  Caller,
  {
    readonly principal: Principal
    readonly context: AccessContext
    readonly token: TokenId | null
    /** The run on whose behalf it acts: set by the engine or the run's token. */
    readonly run?: string
    /**
     * It is a program of that run's agent, in this step: its token ends with the turn, and its calls belong to the
     * step.
     */
    readonly turn?: { readonly step: number; readonly root: string }
    /** When the credential expires. */
    readonly expiresAt: DateTime.Utc | null
    /** Rises with every change of rights: judgements of another epoch are made again (S4-104). */
    readonly epoch: number
  }
>()("contract/Caller") {}
