/**
 * A link that answers one decision as one person: signed, and valid until it is used or the decision closes. Anybody
 * who has it can answer, so it is made only for a person who may.
 */
import type { DecisionId, PrincipalId } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { Secrets } from "../access/secrets/Secrets.ts"
import { isMacOf, macOf, shortestMac, signedText } from "../access/secrets/SignedText.ts"

/** Who answers what. */
export interface LinkedAnswer {
  readonly decision: DecisionId
  readonly principal: PrincipalId
}

const bare = (id: string): string => id.slice(id.indexOf("_") + 1).replaceAll("-", "")
const withHyphens = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")

export class DecisionLinks extends Context.Service<
  DecisionLinks,
  {
    readonly make: (decision: DecisionId, principal: PrincipalId) => string
    /** Whom the token acts as, and on which decision; undefined if we did not sign it. */
    readonly read: (token: string) => LinkedAnswer | undefined
  }
>()("server/decisions/DecisionLinks") {
  static readonly layer = Layer.effect(
    DecisionLinks,
    Effect.map(Secrets, (secrets) => {
      const key = secrets.derive("decision-links")
      return DecisionLinks.of({
        make: (decision, principal) => {
          const text = signedText.decisionLink(bare(decision), bare(principal))
          return `${text}${macOf(key, text).slice(0, shortestMac)}`
        },
        read: (token) => {
          if (!/^[0-9a-f]{104}$/.test(token)) return undefined
          const [decision, principal] = [token.slice(0, 32), token.slice(32, 64)]
          if (!isMacOf(key, signedText.decisionLink(decision, principal), token.slice(64))) return undefined
          return {
            decision: `dcs_${withHyphens(decision)}` as DecisionId,
            principal: `prn_${withHyphens(principal)}` as PrincipalId,
          }
        },
      })
    }),
  )
}
