/**
 * The language models of the house, by their names in the configuration file: which there are, whether they can be
 * used, and with which key and address. `runs` uses them.
 */
import { resolve } from "node:path"
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { DeclaredModel, Model, NameTaken } from "@stoa/contract"
import { Redactor } from "@stoa/tools"
import { Array, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../Settings.ts"
import { json } from "../store/database/dialect/Columns.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import { makeEventCache } from "../store/journal/events/EventCache.ts"
import type { Access } from "./request/Access.ts"
import { askModel } from "./request/askModel.ts"
import { ModelFailure } from "./request/ModelFailure.ts"
import { ModelKeys } from "./ModelKeys.ts"
import { providerModel } from "./request/providers.ts"
import type { ModelOutput, OutputDelta } from "./request/ModelOutput.ts"
import { rulesOf } from "./scripted/scriptRules.ts"

const Row = Schema.Struct({ name: Schema.String, declared: json(DeclaredModel) })
const decode = Schema.decodeUnknownSync(Row)
const encode = Schema.encodeSync(Row)

/** The vendors' own variables. */
const variables = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
} as const

const purposeOf = ({ purpose = "thinking" }: DeclaredModel) => purpose

export class Languages extends Context.Service<
  Languages,
  {
    readonly list: Effect.Effect<ReadonlyArray<Model>>
    /** Includes the paths of files only for admins of models. */
    readonly listFor: (viewer: { readonly all: boolean }) => Effect.Effect<ReadonlyArray<Model>>
    /** How to reach a model; the failure is a sentence that says why not and who can change that. */
    readonly access: (name: string) => Effect.Effect<Access, string>
    /** The embedding model, if the file declares one; the failure is a sentence that says why it cannot be used. */
    readonly embedding: Effect.Effect<Option.Option<Access>, string>
    /** One request to a model; its output is shown as it arrives. */
    readonly ask: (
      access: Access,
      options: LanguageModelV4CallOptions,
      show: (delta: OutputDelta) => void,
    ) => Effect.Effect<ModelOutput, ModelFailure>
    /** How many the file declares. */
    readonly declared: Effect.Effect<number>
    /** Whether a model that is not declared yet could be used; the failure is a sentence. */
    readonly reachable: (name: string, declared: DeclaredModel) => Effect.Effect<void, string>
    /** Adds a model of the house's own, beside those of the file, or replaces it. */
    readonly put: (name: string, declared: DeclaredModel) => Effect.Effect<void, NameTaken, Transaction>
    /** Removes such a model; models of the file stay. */
    readonly drop: (name: string) => Effect.Effect<void, never, Transaction>
    /** Replaces the models of the file. The paths of rules are relative to `folder`. */
    readonly declare: (
      models: Readonly<Record<string, DeclaredModel>>,
      folder: string,
    ) => Effect.Effect<
      { readonly added: Array<string>; readonly changed: Array<string>; readonly retired: Array<string> },
      NameTaken,
      Transaction
    >
  }
>()("server/models/Languages") {
  static readonly layer = Layer.effect(
    Languages,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* ModelKeys
      const { anthropicKey, anthropicUrl, googleKey, openaiKey, openaiUrl } = yield* Settings
      const usual = {
        anthropic: { key: anthropicKey, url: anthropicUrl },
        openai: { key: openaiKey, url: openaiUrl },
        google: { key: googleKey, url: Option.none<string>() },
      }

      const all = Effect.map(Effect.orDie(sql`SELECT name, declared FROM models ORDER BY name`), (rows) =>
        rows.map((row) => decode(row)),
      )

      const keyOf = Effect.fnUntraced(function* (name: string, { apiKey, provider }: DeclaredModel) {
        if (apiKey !== undefined)
          return Redacted.make(yield* Effect.mapError(keys.reveal(apiKey), (fault) => `The model ${name}: ${fault}`))
        // A compatible server on one's own machine needs no key.
        if (provider === "scripted" || provider === "openai-compatible") return undefined
        const { key } = usual[provider]
        if (Option.isSome(key)) return key.value
        return yield* Effect.fail(
          `The model ${name} has no key. An operator sets ${variables[provider]}, or apiKey in the configuration file.`,
        )
      })

      /** `whole`: with the path of a file, for admins. */
      const reach = Effect.fnUntraced(function* (name: string, declared: DeclaredModel, whole = false) {
        if (declared.provider === "scripted")
          yield* Effect.mapError(Effect.fromResult(rulesOf(declared.rules!)), (fault) =>
            whole ? fault : `The rules of the model ${name} cannot be used. An admin sees why: GET /api/v1/models`,
          )
        const key = yield* keyOf(name, declared)
        const { provider } = declared
        const baseUrl =
          declared.baseUrl ??
          (provider === "scripted" || provider === "openai-compatible"
            ? undefined
            : Option.getOrUndefined(usual[provider].url))
        return { name, declared, key, baseUrl } satisfies Access
      })

      const listFor: Languages["Service"]["listFor"] = Effect.fn("Languages.list")(function* (viewer) {
        const models = yield* all
        return yield* Effect.forEach(models, ({ declared, name }) =>
          Effect.map(Effect.result(reach(name, declared, viewer.all)), (reached) =>
            Model.make({
              name,
              provider: declared.provider,
              purpose: purposeOf(declared),
              model: declared.model ?? null,
              keywords: declared.keywords ?? [],
              price: declared.price ?? null,
              ready: Result.isSuccess(reached),
              ...(Result.isSuccess(reached) ? {} : { problem: reached.failure }),
            }),
          ),
        )
      })
      const list = Effect.suspend(() => listFor({ all: false }))

      const { forget, get: cachedModel } = yield* makeEventCache(["house.reloaded", "demo.changed"], (name) =>
        Effect.map(Effect.orDie(sql`SELECT name, declared FROM models WHERE name = ${name}`), (rows) =>
          rows[0] === undefined ? undefined : decode(rows[0]).declared,
        ),
      )
      const changed = sql.afterCommit(forget)

      const access: Languages["Service"]["access"] = Effect.fn("Languages.access")(function* (name) {
        const declared = yield* cachedModel(name)
        if (declared === undefined)
          return yield* Effect.fail(
            `There is no model "${name}". An operator declares it under "models" in the configuration file, or gives the agent another one.`,
          )
        if (purposeOf(declared) === "embedding")
          return yield* Effect.fail(
            `The model "${name}" has the purpose "embedding". Name a language model of "models".`,
          )
        return yield* reach(name, declared)
      })

      const embedding: Languages["Service"]["embedding"] = Effect.gen(function* () {
        const one = (yield* all).find(({ declared }) => purposeOf(declared) === "embedding")
        return one === undefined ? Option.none() : Option.some(yield* reach(one.name, one.declared))
      }).pipe(Effect.withSpan("Languages.embedding"))

      const declare: Languages["Service"]["declare"] = Effect.fn("Languages.declare")(function* (models, folder) {
        const own = yield* Effect.orDie(sql<{ name: string }>`SELECT name FROM models WHERE source = 'house'`)
        const taken = own.find(({ name }) => Object.hasOwn(models, name))
        if (taken !== undefined) return yield* new NameTaken({ noun: "model", name: taken.name })
        const house = new Set(own.map(({ name }) => name))
        const before = new Map(
          (yield* all).filter(({ name }) => !house.has(name)).map((one) => [one.name, one.declared]),
        )
        const rows = Object.entries(models).map(([name, declared]) =>
          encode({
            name,
            declared: declared.rules === undefined ? declared : { ...declared, rules: resolve(folder, declared.rules) },
          }),
        )
        const done = { added: [] as Array<string>, changed: [] as Array<string>, retired: [] as Array<string> }
        for (const row of rows) {
          const old = before.get(row.name)
          if (old === undefined) done.added.push(`models.${row.name}`)
          else if (encode({ name: row.name, declared: old }).declared !== row.declared)
            done.changed.push(`models.${row.name}`)
        }
        for (const name of before.keys()) if (!Object.hasOwn(models, name)) done.retired.push(`models.${name}`)
        if (done.added.length + done.changed.length + done.retired.length === 0) return done
        yield* Effect.orDie(sql`DELETE FROM models WHERE source = 'file'`)
        if (Array.isArrayNonEmpty(rows)) yield* Effect.orDie(sql`INSERT INTO models ${sql.insert(rows)}`)
        yield* changed
        return done
      })

      const put: Languages["Service"]["put"] = Effect.fn("Languages.put")(function* (name, declared) {
        const written = yield* Effect.orDie(
          sql`INSERT INTO models ${sql.insert({ ...encode({ name, declared }), source: "house" })}
            ON CONFLICT (name) DO UPDATE SET declared = excluded.declared WHERE models.source = 'house' RETURNING name`,
        )
        if (written.length === 0) return yield* new NameTaken({ noun: "model", name })
        yield* changed
      })

      const drop: Languages["Service"]["drop"] = Effect.fn("Languages.drop")(function* (name) {
        yield* Effect.orDie(sql`DELETE FROM models WHERE name = ${name} AND source = 'house'`)
        yield* changed
      })

      const ask: Languages["Service"]["ask"] = Effect.fn("Languages.ask")(function* (reached, options, show) {
        const redactor = new Redactor(reached.key === undefined ? [] : [Redacted.value(reached.key)])
        const model = yield* Effect.tryPromise({
          try: () => providerModel(reached),
          catch: (cause) =>
            new ModelFailure({
              message: `The model ${reached.name}: ${String(cause)}`,
              again: false,
              afterMs: undefined,
            }),
        })
        return yield* askModel(reached.name, model, options, redactor, show)
      })

      return Languages.of({
        list,
        listFor,
        access,
        embedding,
        ask,
        reachable: (name, declared) => Effect.asVoid(reach(name, declared)),
        put,
        drop,
        declare,
        declared: Effect.map(
          Effect.orDie(sql`SELECT name FROM models WHERE source = 'file'`),
          (declared) => declared.length,
        ),
      })
    }),
  )
}
