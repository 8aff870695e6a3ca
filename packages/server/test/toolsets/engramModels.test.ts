/** Which model an agent uses, by a few words, for one owner. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, house, roomy } from "../house.ts"
import { holder, type Holder } from "./engramKit.ts"

const models = {
  opus: { provider: "anthropic", model: "claude-opus-4-1", keywords: ["best"] },
  sonnet: { provider: "anthropic", model: "claude-sonnet-4-5", keywords: ["fast"] },
  gpt: { provider: "openai", model: "gpt-4o" },
  "gpt-mini": { provider: "openai", model: "gpt-4o-mini", keywords: ["fast"] },
}
const set = (who: Holder, agent: "hecate" | "moros", query: string) => who.done(`${agent}_set_model`, { query })

for (const store of ["sqlite", "postgres"] as const) {
  layer(house({ store, config: { ...roomy, models } }), { excludeTestServices: true, timeout: 60_000 })(
    `models of agents on ${store}`,
    (it) => {
      it.effect(
        "S2-54 S2-55 by its exact name or a keyword; with no match it says what there is, and keeps the old one",
        () =>
          Effect.gen(function* () {
            const who = yield* holder("chooser")
            const first = yield* set(who, "hecate", "opus")
            assert.deepStrictEqual<object>(first, { success: true, model: "opus", previous: null, alternatives: [] })
            assert.strictEqual((yield* set(who, "hecate", "BEST")).model, "opus")
            assert.strictEqual((yield* set(who, "hecate", "claude-sonnet")).model, "sonnet")
            const tied = yield* set(who, "hecate", "fast")
            assert.deepStrictEqual([tied.model, tied.alternatives, tied.previous], ["gpt-mini", ["sonnet"], "sonnet"])
            const told = yield* who.told("hecate_set_model", { query: "llama" })
            for (const name of ["llama", ...Object.keys(models)]) assert.include(told, name)
            assert.strictEqual((yield* set(who, "hecate", "gpt-4o")).previous, "gpt-mini")
            assert.include(yield* who.told("hecate_set_model", { query: "" }), "query")
          }),
      )

      it.effect(
        "S2-54 a choice is taken back by the word default, a pinned one too, by any face that calls tools",
        () =>
          Effect.gen(function* () {
            const who = yield* holder("returns")
            const none = { success: true, model: null, previous: null, alternatives: [] }
            assert.deepStrictEqual<object>(yield* set(who, "hecate", "default"), none)
            yield* set(who, "hecate", "opus")
            assert.deepStrictEqual<object>(yield* set(who, "hecate", " Default "), { ...none, previous: "opus" })
            assert.isNull((yield* set(who, "hecate", "sonnet")).previous)
            const settings = () => ask(() => who.stoa.memory.list({ kind: "setting" }))
            const [record] = (yield* settings()).items
            yield* ask(() => who.stoa.memory.change(record!.id, { pinned: true }))
            const call = yield* ask(() =>
              who.stoa.tools.call("hecate_set_model", { input: { query: "default" }, wait: 10 }),
            )
            assert.propertyVal(call, "state", "done")
            assert.deepStrictEqual(
              (yield* settings()).items.map(({ content, pinned }) => [content, pinned]),
              [["", true]],
            )
            assert.isNull((yield* set(who, "hecate", "gpt")).previous)
            assert.include(yield* who.told("hecate_set_model", { query: "llama" }), "default")
          }),
      )

      it.effect("S2-56 S2-61 per agent and per owner: Moros' is Moros', and another's is another's", () =>
        Effect.gen(function* () {
          const [ann, bob] = [yield* holder("ann56"), yield* holder("bob56")]
          yield* set(ann, "hecate", "opus")
          yield* set(bob, "hecate", "gpt")
          assert.isNull((yield* set(ann, "moros", "sonnet")).previous)
          assert.strictEqual((yield* set(ann, "moros", "gpt-mini")).previous, "sonnet")
          assert.strictEqual((yield* set(ann, "hecate", "sonnet")).previous, "opus")
          assert.strictEqual((yield* set(bob, "hecate", "opus")).previous, "gpt")
        }),
      )
    },
  )

  layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`no models on ${store}`, (it) => {
    it.effect("S2-54 without models in the file it says where they are named", () =>
      Effect.gen(function* () {
        const who = yield* holder("none")
        assert.include(yield* who.told("moros_set_model", { query: "opus" }), "configuration file")
      }),
    )
  })
}
