/** The kinds of configured tools, one file each. A new kind is a line here and a case in contract's table. */
import type { Issue, ToolConfiguration, ToolKind } from "@stoa/contract"
import { digestOf } from "@stoa/tools"
import { definitionOf } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import type { Traits } from "../catalogue/Traits.ts"
import type { HouseTool } from "../road/Handler.ts"
import type { Kind } from "./Kind.ts"
import { agentKind } from "./agent.ts"
import { computeKind } from "./compute/compute.ts"
import { httpKind } from "./http.ts"
import { imageKind } from "./image.ts"
import { staticKind } from "./static.ts"
import { uiKind } from "./ui.ts"
import { webhookKind } from "./webhook.ts"

export class Kinds extends Context.Service<
  Kinds,
  {
    /** A configured tool as the catalogue takes it. */
    readonly make: (tool: ToolConfiguration) => { readonly tool: HouseTool; readonly traits: Traits }
    /** Faults that only its kind can detect, by path. */
    readonly faults: (tool: ToolConfiguration) => ReadonlyArray<Issue>
  }
>()("server/calls/kinds/Kinds") {
  static readonly layer = Layer.effect(
    Kinds,
    Effect.gen(function* () {
      const kinds: { readonly [K in ToolKind]: Kind<K> } = {
        http: yield* httpKind,
        webhook: yield* webhookKind,
        ui: uiKind,
        image: yield* imageKind,
        compute: computeKind,
        static: staticKind,
        agent: agentKind,
      }
      const kindOf = (configured: ToolConfiguration) => kinds[configured.kind] as unknown as Kind<never>
      return Kinds.of({
        faults: (configured) => kindOf(configured).faults?.(configured as never) ?? [],
        make: (configured) => {
          const kind = kindOf(configured)
          const tool = configured as never
          const { approval, price, visibilityFor } = configured.form
          const definition = definitionOf(configured)
          // What costs money or is called risky is not read-only, whatever it does: clients may call those unasked.
          const isReadOnly =
            kind.readOnly === true && ["low", "medium"].includes(definition.riskLevel) && (price ?? 0) === 0
          return {
            tool: {
              definition,
              handler: kind.handler(tool),
              // A result that arrives later is checked when it arrives.
              checksOutput: configured.kind === "ui" || configured.kind === "webhook",
            },
            traits: {
              effects: kind.effects,
              preview: (input) => kind.preview(tool, input),
              interactive: configured.kind === "ui",
              ...(isReadOnly ? { readOnly: true } : {}),
              targetDigest: digestOf([configured.form.execution ?? null, approval ?? null]),
              ...(approval === undefined ? {} : { approval }),
              ...(price === undefined || price === 0 ? {} : { priceMicros: Math.round(price * 1e6) }),
              ...(visibilityFor === undefined ? {} : { visibilityFor }),
            },
          }
        },
      })
    }),
  )
}
