/** What has happened, as an agent is told: what woke it, what was said before, and what else it works on. Pure. */
import type { PrincipalKind, Provenance } from "@stoa/contract"
import { foreignText, foreignTextRule, inLine, markFor } from "../../models/text/ForeignText.ts"

export interface PromptMessage {
  readonly id: string
  readonly at: string
  readonly author: { readonly id: string; readonly name: string; readonly kind: PrincipalKind }
  readonly text: string
  readonly provenance: Provenance
  /** A visible call, summarised in a line. */
  readonly call: string | null
  readonly replyTo: string | null
  readonly seen: boolean
}

export interface PromptTrigger {
  readonly kind: string
  readonly message: string | null
  readonly text: string
  readonly author: { readonly id: string; readonly name: string; readonly kind: PrincipalKind } | null
  /** Whether its author waits for the answer. */
  readonly waits: boolean
}

export interface UserInput {
  readonly now: string
  readonly triggers: ReadonlyArray<PromptTrigger>
  readonly space: {
    readonly id: string
    readonly name: string
    readonly kind: string
    readonly members: ReadonlyArray<{ readonly name: string; readonly kind: PrincipalKind }>
    /** How many more members it has. */
    readonly more?: number
  } | null
  /** How many more woke it, before these. */
  readonly joined?: number
  /** A thread instead of the whole space. */
  readonly thread: boolean
  readonly history: ReadonlyArray<PromptMessage>
  /** What the run that called it was told. */
  readonly context?: string | null
  readonly others: ReadonlyArray<{ readonly id: string; readonly state: string; readonly summary: string }>
  /** How many more of its runs are open, of which not everybody here may know. */
  readonly elsewhere?: number
}

const words: Readonly<Record<Provenance, string>> = {
  person: "a person",
  agent: "an agent",
  tool: "a tool",
  outside: "an outside service",
  house: "the house",
}
const authors: Readonly<Record<PrincipalKind, string>> = {
  person: words.person,
  agent: words.agent,
  service: words.outside,
}

const line = (mark: string, message: PromptMessage, woke: ReadonlySet<string>): string => {
  const { author, at, call, id, provenance, replyTo, seen, text } = message
  const about = {
    id,
    at,
    author: author.name,
    from: words[provenance],
    mark: seen ? "SEEN" : "NEW",
    replyTo: replyTo ?? undefined,
    trigger: woke.has(id) ? "this woke you" : undefined,
  }
  return foreignText(mark, "message", about, call ?? text)
}

const triggerLines = (mark: string, { author, kind, message, text, waits }: PromptTrigger): ReadonlyArray<string> => {
  if (kind === "message")
    return [
      `A message woke you: ${message ?? "unknown"}, by ${author === null ? "somebody" : `${inLine(author.name)} (${author.kind}, ${author.id})`}${waits ? ", who waits for your answer" : ""}.`,
    ]
  const who =
    kind === "plan"
      ? "A plan of yours is due"
      : kind === "service"
        ? "An outside service called you"
        : "You were called"
  // Names the author of the words, not who delivers them: the house itself says nothing here.
  const from = kind === "service" || author === null ? words.outside : authors[author.kind]
  return [`${who}. What it says:`, foreignText(mark, "message", { author: author?.name, from }, text)]
}

const textsIn = ({ context, history, others, triggers }: UserInput): ReadonlyArray<string> => [
  ...triggers.flatMap(({ author, text }) => [author?.name ?? "", text]),
  ...history.flatMap(({ author, call, text }) => [author.name, call ?? "", text]),
  ...others.map(({ summary }) => summary),
  context ?? "",
]

export const userPrompt = (input: UserInput): string => {
  const { context = null, elsewhere = 0, joined = 0, history, now, others, space, thread, triggers } = input
  const mark = markFor(textsIn(input))
  const woke = new Set(triggers.flatMap(({ message }) => (message === null ? [] : [message])))
  return [
    [
      `It is ${now}. ${foreignTextRule(mark)}`,
      ...(joined === 0 ? [] : [`${joined} more messages woke you before these.`]),
      ...triggers.flatMap((one) => triggerLines(mark, one)),
    ].join("\n"),
    ...(space === null
      ? ["You stand in no space."]
      : [
          [
            `You stand in the ${space.kind} space "${inLine(space.name)}" (${space.id}) with ${space.members.map(({ kind, name }) => `${inLine(name)} (${kind})`).join(", ")}${(space.more ?? 0) === 0 ? "" : ` and ${space.more} more`}.`,
            ...(history.length === 0
              ? []
              : [thread ? "The thread so far, oldest first:" : "The last messages, oldest first:"]),
            ...history.map((message) => line(mark, message, woke)),
          ].join("\n"),
        ]),
    ...(context === null
      ? []
      : [
          `Whoever called you was told this:\n${foreignText(mark, "message", { from: "what your caller was told" }, context)}`,
        ]),
    ...(others.length === 0
      ? []
      : [
          [
            "You work on this beside it, in other runs:",
            ...others.map(
              ({ id, state, summary }) => `- ${id} (${state}): ${foreignText(mark, "message", {}, summary)}`,
            ),
          ].join("\n"),
        ]),
    ...(elsewhere === 0
      ? []
      : [
          `You work on ${elsewhere} ${others.length === 0 ? "other" : "more"} ${elsewhere === 1 ? "thing" : "things"} elsewhere.`,
        ]),
  ].join("\n\n")
}
