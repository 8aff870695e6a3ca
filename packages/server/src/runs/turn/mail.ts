/** What a program is told at the beginning of a turn: its mail, what has come since, or that it was cut off. Pure. */

export interface Mail {
  /** The sender's name; nobody's, where a plan or a service woke it. */
  readonly from: string | null
  readonly kind: string
  readonly message: string | null
  readonly text: string
  /** What it answers. */
  readonly replyTo?: string | null
}

/** What a sync request has come to. */
export interface Closed {
  readonly message: string
  readonly replies: ReadonlyArray<{ readonly from: string; readonly text: string }>
  /** Who will not answer any more, and why. */
  readonly missing: ReadonlyArray<{ readonly name: string; readonly why: string }>
  readonly state: string
}

/** A call that was not waited for. */
export interface LateResult {
  readonly call: string
  readonly tool: string
  readonly text: string
}

/** Seeds promise bare uuids. */
const bare = (id: string): string => id.slice(id.indexOf("_") + 1)

const one = ({ from, kind, message, replyTo, text }: Mail): string => {
  if (replyTo != null && message !== null)
    return `Reply from ${from ?? "somebody"} (to message ${bare(replyTo)}):\n${text}`
  const who = from ?? (kind === "plan" ? "your plan" : kind === "service" ? "an outside service" : "the house")
  return `Message from ${who}${message === null ? "" : ` (message ${bare(message)})`}:\n${text}`
}

export const mailText = (mail: ReadonlyArray<Mail>): string => mail.map(one).join("\n\n")

/** Who is not heard of any more is said in words of the house, so that nobody waits for ever (S3-20). */
const missingText = (message: string, { name, why }: Closed["missing"][number]): string =>
  `No reply from ${name} (to message ${bare(message)}):\n${why}`

const closedText = ({ message, missing, replies }: Closed): string =>
  [
    ...replies.map(({ from, text }) => `Reply from ${from} (to message ${bare(message)}):\n${text}`),
    ...missing.map((who) => missingText(message, who)),
  ].join("\n\n")

const lateText = ({ call, text, tool }: LateResult): string => `Result of ${tool} (call ${call}):\n${text}`

export interface News {
  /** The turn before was cut off: what it did by then. */
  readonly cut?: { readonly why: string; readonly calls: ReadonlyArray<string>; readonly mail: ReadonlyArray<Mail> }
  readonly closed: ReadonlyArray<Closed>
  readonly late: ReadonlyArray<LateResult>
  /** How many messages lie in its inbox. */
  readonly inbox: number
}

export const newsText = ({ closed, cut, inbox, late }: News): string =>
  [
    ...(cut === undefined
      ? []
      : [
          [
            `Your last turn was cut off: ${cut.why} What you did by then stays done.`,
            ...(cut.calls.length === 0
              ? ["You had called no tool."]
              : ["You had called:", ...cut.calls.map((call) => `- ${call}`)]),
            "You were told this:",
          ].join("\n"),
          mailText(cut.mail),
        ]),
    ...closed.map(closedText),
    ...late.map(lateText),
    ...(inbox === 0
      ? []
      : [`${inbox} other ${inbox === 1 ? "message is" : "messages are"} in your inbox: read with check_inbox.`]),
  ].join("\n\n")
