/**
 * What a program is told at the beginning of a turn: its mail, what has come since, or that it was interrupted. Texts
 * of others are one line below their heading, or stand between tags that no text can contain, so that none can pass for
 * the house's. Pure.
 */
import { withoutPrefix } from "@stoa/contract"
import { foreignText, foreignTextRule, inLine, isPlain, markFor } from "../../models/text/ForeignText.ts"

export interface Mail {
  /** The sender's name; null if a plan or a service woke it. */
  readonly from: string | null
  readonly kind: string
  readonly message: string | null
  readonly text: string
  /** The message it answers. */
  readonly replyTo?: string | null
}

/** How a principal is named in mail: in a team, every person has the same name (S3-37). */
export const nameInMail =
  (isTeam: boolean) =>
  ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
    isTeam && kind === "person" ? "USER" : name

/** The outcome of a sync request. */
export interface ClosedRequest {
  readonly message: string
  readonly replies: ReadonlyArray<{ readonly from: string; readonly text: string }>
  /** Who will not answer any more, and why. */
  readonly missing: ReadonlyArray<{ readonly name: string; readonly why: string }>
  readonly state: string
}

/** A call whose result came later. */
interface LateResult {
  readonly call: string
  readonly tool: string
  readonly text: string
}

/** Formats a text written by somebody else. */
type Write = (text: string) => string

/**
 * All texts of one turn share a mark, which is explained at the end if it is used: what a program reads begins with a
 * heading.
 */
const told = (texts: ReadonlyArray<string>, body: (write: Write) => string): string => {
  if (texts.every(isPlain)) return body((text) => text)
  const mark = markFor(texts)
  return `${body((text) => (isPlain(text) ? text : foreignText(mark, "text", {}, text)))}\n\n${foreignTextRule(mark)}`
}

const one = ({ from, kind, message, replyTo, text }: Mail, write: Write): string => {
  if (replyTo != null && message !== null)
    return `Reply from ${inLine(from ?? "somebody")} (to message ${withoutPrefix(replyTo)}):\n${write(text)}`
  const who = from ?? (kind === "plan" ? "your plan" : kind === "service" ? "an outside service" : "the house")
  return `Message from ${inLine(who)}${message === null ? "" : ` (message ${withoutPrefix(message)})`}:\n${write(text)}`
}

const textsOf = (mail: ReadonlyArray<Mail>): ReadonlyArray<string> => mail.map(({ text }) => text)
const mailWith = (mail: ReadonlyArray<Mail>, write: Write): string => mail.map((each) => one(each, write)).join("\n\n")

export const mailText = (mail: ReadonlyArray<Mail>): string => told(textsOf(mail), (write) => mailWith(mail, write))

/** The house says who will not answer, so that nobody waits forever (S3-20). */
const missingText = (message: string, { name, why }: ClosedRequest["missing"][number]): string =>
  `No reply from ${inLine(name)} (to message ${withoutPrefix(message)}):\n${why}`

const closedText = ({ message, missing, replies }: ClosedRequest, write: Write): string =>
  [
    ...replies.map(
      ({ from, text }) => `Reply from ${inLine(from)} (to message ${withoutPrefix(message)}):\n${write(text)}`,
    ),
    ...missing.map((who) => missingText(message, who)),
  ].join("\n\n")

const lateText = ({ call, text, tool }: LateResult, write: Write): string =>
  `Result of ${inLine(tool)} (call ${call}):\n${write(text)}`

export interface News {
  /** The previous turn was interrupted: what it had done by then. */
  readonly cut?: { readonly why: string; readonly calls: ReadonlyArray<string>; readonly mail: ReadonlyArray<Mail> }
  readonly closed: ReadonlyArray<ClosedRequest>
  readonly late: ReadonlyArray<LateResult>
  /** How many messages are in its inbox. */
  readonly inbox: number
}

const newsWith = ({ closed, cut, inbox, late }: News, write: Write): string =>
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
          mailWith(cut.mail, write),
        ]),
    ...closed.map((each) => closedText(each, write)),
    ...late.map((each) => lateText(each, write)),
    ...(inbox === 0
      ? []
      : [`${inbox} other ${inbox === 1 ? "message is" : "messages are"} in your inbox: read with check_inbox.`]),
  ].join("\n\n")

export const newsText = (news: News): string =>
  told(
    [
      ...textsOf(news.cut?.mail ?? []),
      ...news.closed.flatMap(({ replies }) => replies.map(({ text }) => text)),
      ...news.late.map(({ text }) => text),
    ],
    (write) => newsWith(news, write),
  )
