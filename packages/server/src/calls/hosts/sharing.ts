/** Who may offer tools to everybody. Offering them to oneself needs no right. */
import { Caller, type Resource } from "@stoa/contract"
import { Clock, Effect } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { rightsEpoch } from "../../access/rights/Rights.ts"
import type { HostRow } from "./rows.ts"

const action = "write"
const resourceOf = (name: string): Resource => `hosts/${name}`

export const makeSharing = Effect.gen(function* () {
  const grants = yield* Grants
  const tokens = yield* Tokens
  const epochNow = yield* rightsEpoch

  const require = (caller: Caller["Service"], { name, shared }: Pick<HostRow, "name" | "shared">) =>
    shared ? Effect.provideService(grants.require(action, resourceOf(name)), Caller, caller) : Effect.void

  /** The present state: the token is valid, and tools offered to everybody still may be. */
  const judged = Effect.fnUntraced(
    function* (caller: Caller["Service"], host: HostRow) {
      if (!(yield* tokens.stillWorks(caller))) return { stands: false, lasting: false }
      if (!host.shared) return { stands: true, lasting: true }
      const { judge, lasting } = yield* grants.viewerOf(yield* tokens.renewCaller(caller), "hosts")
      return { stands: judge(action, resourceOf(host.name)).verdict === "allow", lasting }
    },
    Effect.catchTag("Missing", () => Effect.succeed({ stands: false, lasting: false })),
  )

  return {
    require,
    /** Looked up again only when rights have changed, because it is checked before every call that is sent. */
    stands: (caller: Caller["Service"], now: () => HostRow): Effect.Effect<boolean> => {
      let since: number | undefined
      let wasShared: boolean | undefined
      return Effect.gen(function* () {
        const { expiresAt } = caller
        // Its process may have declared it again since.
        const host = now()
        // wall clock: tokens end at a moment.
        if (expiresAt !== null && expiresAt.epochMilliseconds <= (yield* Clock.currentTimeMillis)) return false
        const epoch = yield* epochNow()
        if (epoch === since && host.shared === wasShared) return true
        const { lasting, stands } = yield* judged(caller, host)
        since = stands && lasting ? epoch : undefined
        wasShared = host.shared
        return stands
      })
    },
  }
})
