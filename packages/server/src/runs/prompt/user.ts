/** What has happened, as an agent is told of it: what woke it, what was said before, and what else it works on. Pure. */
import type { PrincipalKind, Provenance } from "@stoa/contract"

export interface ShownMessage {
  readonly id: string
  readonly at: string
  readonly author: { readonly id: string; readonly name: string; readonly kind: PrincipalKind }
  readonly text: string
  readonly provenance: Provenance
  /** A visible call: what was done, in a line. */
  readonly call: string | null
  readonly replyTo: string | null
  readonly seen: boolean
}

export interface ShownTrigger {
  readonly kind: string
  readonly message: string | null
  readonly text: string
  readonly author: { readonly id: string; readonly name: string; readonly kind: PrincipalKind } | null
  /** Whether whoever wrote it waits for the answer. */
  readonly waits: boolean
}

export interface UserInput {
  readonly now: string
  readonly triggers: ReadonlyArray<ShownTrigger>
  readonly space: {
    readonly id: string
    readonly name: string
    readonly kind: string
    readonly members: ReadonlyArray<{ readonly name: string; readonly kind: PrincipalKind }>
  } | null
  /** A thread in place of the whole space. */
  readonly thread: boolean
  readonly history: ReadonlyArray<ShownMessage>
  /** What whoever called it was told. */
  readonly context?: string | null
  readonly others: ReadonlyArray<{ readonly id: string; readonly state: string; readonly summary: string }>
}

const words: Readonly<Record<Provenance, string>> = {
  person: "a person",
  agent: "an agent",
  tool: "a tool",
  outside: "an outside service",
  house: "the house",
}

/** What others wrote cannot end the frame it stands in. */
const fenced = (text: string): string => text.replaceAll("</message>", "<\\/message>")

const attribute = (text: string): string => text.replaceAll(/["<>\n]/g, " ")

const line = (message: ShownMessage, woke: ReadonlySet<string>): string => {
  const { author, at, call, id, provenance, replyTo, seen, text } = message
  const marks = [
    `id="${id}"`,
    `at="${at}"`,
    `author="${attribute(author.name)}"`,
    `from="${words[provenance]}"`,
    `mark="${seen ? "SEEN" : "NEW"}"`,
    ...(replyTo === null ? [] : [`replyTo="${replyTo}"`]),
    ...(woke.has(id) ? ['trigger="this woke you"'] : []),
  ]
  return `<message ${marks.join(" ")}>${fenced(call ?? text)}</message>`
}

const triggerLines = ({ author, kind, message, text, waits }: ShownTrigger): ReadonlyArray<string> => {
  if (kind === "message")
    return [
      `A message woke you: ${message ?? "unknown"}, by ${author === null ? "somebody" : `${author.name} (${author.kind}, ${author.id})`}${waits ? ", who waits for your answer" : ""}.`,
    ]
  const who =
    kind === "plan"
      ? "A plan of yours is due"
      : kind === "service"
        ? "An outside service called you"
        : "You were called"
  return [
    `${who}. What it says:`,
    `<message from="${kind === "service" ? words.outside : words.house}">${fenced(text)}</message>`,
  ]
}

export const userPrompt = ({ context = null, history, now, others, space, thread, triggers }: UserInput): string => {
  const woke = new Set(triggers.flatMap(({ message }) => (message === null ? [] : [message])))
  return [
    [`It is ${now}.`, ...triggers.flatMap(triggerLines)].join("\n"),
    ...(space === null
      ? ["You stand in no space."]
      : [
          [
            `You stand in the ${space.kind} space "${space.name}" (${space.id}) with ${space.members.map(({ kind, name }) => `${name} (${kind})`).join(", ")}.`,
            thread ? "The thread so far, oldest first:" : "The last messages, oldest first:",
            ...history.map((message) => line(message, woke)),
          ].join("\n"),
        ]),
    ...(context === null
      ? []
      : [`Whoever called you was told this:\n<message from="${words.house}">${fenced(context)}</message>`]),
    ...(others.length === 0
      ? []
      : [
          [
            "You work on this beside it, in other runs:",
            ...others.map(({ id, state, summary }) => `- ${id} (${state}): ${summary}`),
          ].join("\n"),
        ]),
  ].join("\n\n")
}
