/**
 * Explains why a principal may or may not do something: every rule that applies, in words and with its origin, and the
 * other gates a call must pass. It asks what the road asks, and decides nothing.
 */
import {
  type Action,
  type Ambiguous,
  Caller,
  type FittingRule,
  type Forbidden,
  type Gate,
  type GateName,
  Judgement,
  type LeftOutTool,
  type Missing,
  type Principal,
  type WrongState,
  toolNames,
} from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { AllowLists } from "../../access/rights/AllowLists.ts"
import { Grants, type Rule } from "../../access/rights/Grants.ts"
import { makeTypicalCaller } from "../../access/rights/TypicalCaller.ts"
import { Limits } from "../../access/limits/Limits.ts"
import { Pauses, pausedBy } from "../../access/limits/Pauses.ts"
import { Servers } from "../../servers/Servers.ts"
import { makeCallSpace } from "../road/CallSpace.ts"
import { Catalogue, isAdmitted, type KnownTool, listOf } from "./Catalogue.ts"

const maxLeftOut = 1000

const fromOf = ({ lentBy, name }: Rule): FittingRule["from"] =>
  lentBy !== undefined
    ? "delegation"
    : name.startsWith("role:")
      ? "role"
      : name.startsWith("policy:")
        ? "file"
        : name === "own wallet"
          ? "wallet"
          : "house"

const verbs = { allow: "allows", ask: "asks a person before", deny: "refuses" } as const
const sourceWords: Record<FittingRule["from"], (name: string) => string> = {
  role: (name) => `The role ${name.slice("role:".length)}`,
  file: (name) => `Entry ${name.slice("policy:".length)} of policies in the configuration file`,
  house: () => "A grant by an admin",
  delegation: () => "What somebody lent",
  wallet: () => "Having the wallet",
}

const shown = (rule: Rule, decides: boolean): FittingRule => {
  const from = fromOf(rule)
  const what = rule.actions.includes("admin") ? "everything" : rule.actions.join(", ")
  return {
    name: rule.name,
    effect: rule.effect,
    resource: rule.resource,
    actions: rule.actions,
    words: `${sourceWords[from](rule.name)} ${verbs[rule.effect]} ${what} on ${rule.resource}.`,
    from,
    decides,
    expiresAt: rule.expiresAt,
  }
}

const gate = (name: GateName, passes: boolean, words: string): Gate => ({ gate: name, passes, words })

/** What is asked: whether a principal, or by default the caller, may do something. */
interface Question {
  readonly principal?: string
  readonly action: Action
  readonly resource: string
  readonly space?: string
}

/** The name of the tool that a question is about, if somebody wants to call one. */
const toolIn = ({ action, resource }: Question): string | undefined =>
  action === "execute" && resource.startsWith("tools/") ? resource.slice("tools/".length) : undefined

const toolGate = ({ admission: { anyway, turn, wallet } }: KnownTool): Gate =>
  gate(
    "tool",
    (turn && wallet) || anyway,
    anyway || (turn && wallet)
      ? "There is such a tool."
      : turn
        ? "Only an agent with a wallet has it: one of its own, one that was lent to it, or its visitor's."
        : "Only a program has it, during its turn.",
  )

const toolsetGate = ({ admission: { anyway, toolset }, set }: KnownTool, { name, toolsets }: Principal): Gate =>
  gate(
    "toolset",
    toolset || anyway,
    anyway
      ? "Everybody may use it, whatever their toolsets."
      : set in toolNames
        ? `It is of the toolset ${set}; ${name} has ${toolsets.join(", ") || "none"}.`
        : "It is of no toolset: everybody has it whom rules and lists give it.",
  )

/** Why somebody cannot call in a space, in words about them. */
const notIn = (ref: string, { name }: Principal, refused: Missing | Forbidden | Ambiguous | WrongState): string => {
  switch (refused._tag) {
    case "Ambiguous":
      return `${name} can see several spaces of the name ${ref}.`
    case "WrongState":
      return refused.detail
    case "Forbidden":
      if (refused.action !== "read")
        return `${name} may not call tools in the space ${ref} (rule: ${refused.rule}). ${refused.instead ?? ""}`.trim()
  }
  return `${name} cannot see a space ${ref}.`
}

export class Explanations extends Context.Service<
  Explanations,
  {
    /** The judgement alone. About another principal, only for those who may read its rights. */
    readonly judge: (question: Question) => Effect.Effect<Judgement, Missing | Forbidden, Caller>
    /** The judgement with every rule that applies, for the same. */
    readonly explain: (question: Question) => Effect.Effect<Judgement, Missing | Forbidden, Caller>
    /**
     * The tools that a principal does not get, each with the first reason; undefined if the caller may not know of every
     * tool.
     */
    readonly leftOut: (who: Caller["Service"]) => Effect.Effect<ReadonlyArray<LeftOutTool> | undefined, never, Caller>
  }
>()("server/calls/catalogue/Explanations") {
  static readonly layer = Layer.effect(
    Explanations,
    Effect.gen(function* () {
      const grants = yield* Grants
      const catalogue = yield* Catalogue
      const allowLists = yield* AllowLists
      const servers = yield* Servers
      const pauses = yield* Pauses
      const limits = yield* Limits
      const callSpace = yield* makeCallSpace
      const typical = yield* makeTypicalCaller

      /** Only those who may read every right may know of tools that somebody does not see. */
      const mayLook = Effect.gen(function* () {
        return (yield* grants.judge(yield* Caller, "read", "grants/*")).verdict === "allow"
      })

      const listGate = Effect.fnUntraced(function* (known: KnownTool, { context }: Caller["Service"]) {
        const { admission, set, tool } = known
        if (admission.anyway) return gate("allow-list", true, "Everybody may use it, listed or not.")
        const { tools } = yield* allowLists.get(listOf(set), context)
        const words = `The allow list ${listOf(set)}/${context} ${admission.list ? "has" : "does not have"} it.`
        const allowList = { toolset: listOf(set), context, named: tools.includes(tool.definition.name) }
        return { ...gate("allow-list", admission.list, words), allowList }
      })

      const limitWords = Effect.fnUntraced(function* (tool: string, who: Caller["Service"]) {
        const limit = yield* limits.of(who, `tools/${tool}`)
        return limit === undefined ? "No limit counts it." : `At most ${limit.count} in ${limit.seconds} s.`
      })

      const spaceGate = Effect.fnUntraced(function* (ref: string, who: Caller["Service"]) {
        return yield* Effect.match(callSpace(ref, who), {
          onSuccess: () => gate("space", true, `${who.principal.name} may call tools in the space ${ref}.`),
          onFailure: (refused) => gate("space", false, notIn(ref, who.principal, refused)),
        })
      })

      /** A tool that is held because its definition changed is in no group. */
      const isHeld = Effect.map(servers.list, ({ items }) => {
        const held = new Set(items.flatMap(({ held: names, name }) => names.map((tool) => `${name}/${tool}`)))
        return (tool: string) => held.has(tool)
      })

      const gatesOf = Effect.fnUntraced(function* (
        tool: string,
        who: Caller["Service"],
        about: { readonly space?: string; readonly mayLook: boolean },
      ) {
        const { principal } = who
        const inSpace = about.space === undefined ? [] : [yield* spaceGate(about.space, who)]
        const seen = (yield* catalogue.view(who, { kind: "all" })).find(tool)
        // Several toolsets may have a tool of this name: the one it gets counts.
        const known = (yield* catalogue.every(who))
          .filter((one) => one.tool.definition.name === tool)
          .toSorted((one, other) => Number(isAdmitted(other.admission)) - Number(isAdmitted(one.admission)))[0]
        const held = about.mayLook && (yield* isHeld)(tool)
        if (held)
          return [
            ...inSpace,
            gate("pin", false, "Its definition has changed, and it is held until somebody accepts it."),
          ]
        if (known === undefined || (seen === undefined && !about.mayLook))
          return [...inSpace, gate("tool", false, `${principal.name} sees no tool of this name.`)]
        // If a rule asks, the list of rules shows it; here it is the tool or its risk that asks.
        const asks = (yield* catalogue.list(who, { kind: "all" })).some(
          (one) => one.asks && one.tool.definition.name === tool,
        )
        const stop = pausedBy(yield* pauses.now, { principal, tool, server: known.traits.server })
        return [
          toolGate(known),
          toolsetGate(known, principal),
          yield* listGate(known, who),
          ...(known.traits.server === undefined ? [] : [gate("pin", true, "It is as it was when it was pinned.")]),
          gate("pause", stop === undefined, stop === undefined ? "Nothing of it is paused." : `${stop} is paused.`),
          gate("limit", true, yield* limitWords(tool, who)),
          ...(asks ? [gate("approval", true, "A person is asked first, unless one has approved it from now on.")] : []),
          ...inSpace,
        ]
      })

      /** As the catalogue judges, if somebody wants to call a tool. */
      const judgeAbout = (who: Caller["Service"], question: Question) => {
        const { action, resource } = question
        const tool = toolIn(question)
        return tool === undefined
          ? Effect.map(grants.judge(who, action, resource), (judgement) => ({ action, resource, judgement }))
          : catalogue.judgeAbout(who, tool)
      }

      const judge: Explanations["Service"]["judge"] = Effect.fn("Explanations.judge")(function* ({
        action,
        principal: ref,
        resource,
      }) {
        const who = ref === undefined ? yield* Caller : yield* typical(ref)
        const { judgement } = yield* judgeAbout(who, { action, resource })
        return judgement
      })

      const explain: Explanations["Service"]["explain"] = Effect.fn("Explanations.explain")(function* (question) {
        const { principal: ref, space } = question
        const about = { mayLook: yield* mayLook, ...(space === undefined ? {} : { space }) }
        const who = ref === undefined ? yield* Caller : yield* typical(ref)
        const { action, judgement: judged, resource } = yield* judgeAbout(who, question)
        const all = yield* grants.fitting(who, action, resource)
        // Of several rules with the same name, the first with the decided effect is the one that decides.
        const decides = all.find(
          (one) => one.name === judged.rule && (one.effect === judged.verdict || one.lentBy !== undefined),
        )
        const rules = all
          .map((one) => shown(one, one === decides))
          .toSorted((one, other) => Number(other.decides) - Number(one.decides))
        const tool = toolIn(question)
        const gates = tool === undefined ? [] : yield* gatesOf(tool, who, about)
        return new Judgement({ verdict: judged.verdict, rule: judged.rule, rules, gates })
      })

      const leftOut: Explanations["Service"]["leftOut"] = Effect.fn("Explanations.leftOut")(function* (who) {
        if (!(yield* mayLook)) return undefined
        const has = new Set((yield* catalogue.list(who, { kind: "all" })).map(({ tool }) => tool.definition.name))
        const missing: Array<LeftOutTool> = []
        for (const known of yield* catalogue.every(who)) {
          const { set, tool } = known
          const { description, name } = tool.definition
          if (has.has(name) || missing.length >= maxLeftOut) continue
          const judged = yield* catalogue.judge(who, name)
          const stops = [
            toolsetGate(known, who.principal),
            toolGate(known),
            yield* listGate(known, who),
            gate(
              "rule",
              judged.verdict !== "deny",
              judged.rule === "silence" ? "No rule allows it." : `The rule ${judged.rule} refuses it.`,
            ),
          ].find(({ passes }) => !passes)
          if (stops !== undefined)
            missing.push({ name, set: listOf(set), description, gate: stops.gate, why: stops.words })
        }
        for (const { held, name } of (yield* servers.list).items)
          for (const tool of held)
            missing.push({
              name: `${name}/${tool}`,
              set: "upstream",
              description: "",
              gate: "pin",
              why: "Its definition has changed, and it is held until somebody accepts it.",
            })
        return missing.slice(0, maxLeftOut)
      })

      return Explanations.of({ judge, explain, leftOut })
    }),
  )
}
