/**
 * The page behind a signed link: it shows one decision and takes one answer, as the person the link was made for.
 * Opening it changes nothing, because mail programs open links by themselves.
 */
import {
  BadInput,
  type Caller,
  Decision,
  type DecisionId,
  type DiffTextLine,
  inputIn,
  issuesOf,
  NewAnswer,
  NoRoute,
  questionIn,
  WrongState,
} from "@stoa/contract"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Decisions } from "../../../decisions/Decisions.ts"
import { currentCause } from "../../../store/journal/Correlation.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { Acting, headersOf } from "../../Acting.ts"
import { problemResponse } from "../../Problems.ts"
import { senderOf } from "../guards/Authentication.ts"
import { builtLink } from "./builtPage.ts"
import { htmlPage } from "./html.ts"

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const page = (title: string, body: string, status = 200) =>
  HttpServerResponse.setStatus(
    htmlPage(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${escape(title)}</title><link rel="stylesheet" href="/assets/decision.css"></head>
<body><main><h1>${escape(title)}</h1>${body}</main></body></html>`),
    status,
  )

/** What others wrote is framed, under a line by the house that says whose it is. */
const framed = (tag: "pre" | "blockquote", lines: ReadonlyArray<string>) =>
  `<${tag}>${escape(lines.join("\n"))}</${tag}>`

const tags = { head: "b", same: "span", del: "del", ins: "ins" } as const

const diffed = (lines: ReadonlyArray<DiffTextLine>) =>
  `<pre class="diff">${lines.map(({ kind, text }) => `<${tags[kind]}>${escape(text)}</${tags[kind]}>`).join("\n")}</pre>`

/** The content without a script; with one, the usual card replaces it. */
const asked = (decision: Decision, token: string): string => {
  const question = questionIn(decision)
  const input = inputIn(decision)
  const button = (verdict: string, label: string) =>
    `<form method="post" action="/d/${token}/${verdict}"><button type="submit">${label}</button></form>`
  return [
    question.heading === null
      ? `<p>${escape(question.lines.join(" "))}</p>`
      : `<p>${escape(question.heading)}</p>${framed("blockquote", question.lines)}`,
    input === null ? "" : `<p>${escape(input.heading!)}</p>${framed("pre", input.lines)}`,
    ...(input?.diffs ?? []).map(({ heading, lines }) => `<p>${escape(heading)}</p>${diffed(lines)}`),
    decision.kind === "approval"
      ? button("approve", "Approve") + button("deny", "Deny")
      : `<p>This asks for a value; answer it in the space, or with "stoa decide".</p>${button("deny", "Decline")}`,
  ].join("")
}

/**
 * The same answer for a link that was used, has expired, is no longer valid for its person, or never existed: it
 * reveals nothing.
 */
const dead = (status: 404 | 409) => page("Nothing here", "<p>This link was used or is no longer valid.</p>", status)
const over = new WrongState({ detail: "This link was used or is no longer valid." })

const encode = Schema.encodeSync(Schema.toCodecJson(Decision))
const readAnswer = Schema.decodeUnknownEffect(NewAnswer, { errors: "all", onExcessProperty: "error" })

/** Every failure becomes a problem with its headers, as everywhere else. */
const told = <E extends { readonly message: string }, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
) =>
  Effect.catch(app, (error) =>
    Effect.succeed(HttpServerResponse.setHeaders(problemResponse(error as never), headersOf(error))),
  )

interface Bearer {
  readonly token: string
  readonly verdict: string | undefined
  readonly id: DecisionId
  readonly caller: Caller["Service"]
  readonly found: Effect.Success<ReturnType<Decisions["Service"]["byLink"]>>
}

export const decisionPage = Layer.unwrap(
  Effect.gen(function* () {
    const decisions = yield* Decisions
    const acting = yield* Acting
    const { transact } = yield* Journal

    /** Acts as the person of the link, on its decision; `use` gets nothing if the link is not valid for them. */
    const asBearer = Effect.fnUntraced(function* <E, R>(
      action: "read" | "answer",
      use: (who: Bearer | undefined) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    ) {
      const { token = "", verdict } = yield* HttpRouter.params
      const sender = senderOf(yield* HttpServerRequest.HttpServerRequest)
      const link = yield* acting
        .identifyLink(sender, token)
        .pipe(Effect.catchTag("Unauthenticated", () => Effect.succeed(undefined)))
      if (link === undefined) return yield* use(undefined)
      const { caller, decision } = link
      const who = acting.recorded(decisions.byLink({ decision, principal: caller.principal }, action)).pipe(
        Effect.map((found): Bearer => ({ token, verdict, id: decision, caller, found })),
        Effect.catchTag("Forbidden", () => Effect.succeed(undefined)),
      )
      const { correlationId } = yield* currentCause
      return yield* acting.as(caller, correlationId, Effect.flatMap(who, use))
    })

    const look = asBearer(
      "read",
      Effect.fnUntraced(function* (who) {
        if (who?.found.is !== "asked") return dead(404)
        const { decision } = who.found
        const { cookies, headers } = yield* HttpServerRequest.HttpServerRequest
        if (!(headers["accept"] ?? "").includes("text/html") && (headers["accept"] ?? "").includes("application/json"))
          return HttpServerResponse.setHeader(
            HttpServerResponse.jsonUnsafe({
              person: { id: who.caller.principal.id, name: who.caller.principal.name },
              decision: encode(decision),
            }),
            "cache-control",
            "no-store",
          )
        const title = "A decision is asked of you"
        const body = asked(decision, who.token)
        return builtLink(`<main class="page alone"><h1>${title}</h1>${body}</main>`, cookies) ?? page(title, body)
      }),
    )

    const answerAs = ({ caller, id }: Bearer, given: NewAnswer) =>
      transact(decisions.answer(id, caller, given, "link")).pipe(Effect.catchTag("WrongState", () => Effect.fail(over)))

    const press = asBearer(
      "answer",
      Effect.fnUntraced(function* (who) {
        const verdict = who?.verdict
        if (who === undefined || (verdict !== "approve" && verdict !== "deny")) return dead(404)
        if (who.found.is === "over") return dead(409)
        return yield* Effect.matchEffect(answerAs(who, { verdict }), {
          onFailure: (error) => (error._tag === "WrongState" ? Effect.succeed(dead(409)) : Effect.fail(error)),
          onSuccess: ({ state, verdict: final }) => {
            const outcome = final === null ? ", and waits for a second person" : `: ${final}`
            return Effect.succeed(page("Thank you", `<p>The decision is ${state}${outcome}.</p>`))
          },
        })
      }),
    )

    const submit = asBearer(
      "answer",
      Effect.fnUntraced(function* (who) {
        if (who === undefined) return yield* new NoRoute({ method: "POST", path: "/d/…" })
        if (who.found.is === "over") return yield* over
        const request = yield* HttpServerRequest.HttpServerRequest
        const body = yield* Effect.mapError(
          request.json,
          () => new BadInput({ issues: [{ path: "body", message: "is not JSON" }] }),
        )
        const given = yield* Effect.mapError(readAnswer(body), (error) => new BadInput({ issues: issuesOf(error) }))
        return HttpServerResponse.jsonUnsafe(encode(yield* decisions.show(yield* answerAs(who, given))))
      }),
    )

    return Layer.mergeAll(
      HttpRouter.add("GET", "/d/:token", told(look)),
      HttpRouter.add("POST", "/d/:token", told(submit)),
      HttpRouter.add("POST", "/d/:token/:verdict", told(press)),
    )
  }),
)
