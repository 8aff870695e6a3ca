/**
 * A link that answers one decision as one person: signed, and valid until it is used or the decision closes. Anybody
 * who has it can answer, so it is made only for a person who may.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { DecisionId, PrincipalId } from "@stoa/contract"
import { Context, Effect, Layer, Redacted } from "effect"
import { Secrets } from "../access/secrets/Secrets.ts"

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
      const key = Redacted.value(secrets.derive("decision-links"))
      const mac = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 40)
      return DecisionLinks.of({
        make: (decision, principal) => {
          const text = `${bare(decision)}${bare(principal)}`
          return `${text}${mac(text)}`
        },
        read: (token) => {
          if (!/^[0-9a-f]{104}$/.test(token)) return undefined
          const text = token.slice(0, 64)
          if (!timingSafeEqual(Buffer.from(mac(text)), Buffer.from(token.slice(64)))) return undefined
          return {
            decision: `dcs_${withHyphens(text.slice(0, 32))}` as DecisionId,
            principal: `prn_${withHyphens(text.slice(32))}` as PrincipalId,
          }
        },
      })
    }),
  )
}
