/** Who is asking: bound to the connection by its credential, never by an argument. */
import { Context, type DateTime } from "effect"
import type { AccessContext } from "./AllowList.ts"
import type { TokenId } from "../Ids.ts"
import type { Principal } from "./Principal.ts"

export class Caller extends Context.Service<
  Caller,
  {
    readonly principal: Principal
    readonly context: AccessContext
    readonly token: TokenId | null
    /** The run on whose behalf it acts: told by the engine or the run's token. */
    readonly run?: string
    /** It is a program of that run's agent, in this step: its token ends with the turn, and its calls are the step's. */
    readonly turn?: { readonly step: number; readonly root: string }
    /** When the credential ends by itself. */
    readonly expiresAt: DateTime.Utc | null
    /** Rises with every change of rights: what was judged under another epoch is judged again (S4-104). */
    readonly epoch: number
  }
>()("contract/Caller") {}
