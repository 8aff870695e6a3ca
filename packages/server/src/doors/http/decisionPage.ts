/**
 * The page behind a signed link: it shows one decision and takes one answer, as the person the link was made for. Looking
 * changes nothing: mail programs open links by themselves.
 */
import { Decision, issuesOf, NewAnswer, NoRoute, BadInput } from "@stoa/contract"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Principals } from "../../access/identity/Principals.ts"
import { DecisionLinks } from "../../decisions/DecisionLinks.ts"
import { Decisions } from "../../decisions/Decisions.ts"
import { causedBy, currentCause } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { problemResponse } from "../Problems.ts"

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const page = (title: string, body: string) =>
  HttpServerResponse.html(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${escape(title)}</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
pre{background:#f4f4f4;padding:1rem;overflow:auto;border-radius:.4rem}
form{display:inline}button{font:inherit;padding:.5rem 1.2rem;margin-right:.5rem;border-radius:.4rem;border:1px solid #555;cursor:pointer}
</style></head><body><main><h1>${escape(title)}</h1>${body}</main></body></html>`).pipe(
    HttpServerResponse.setHeaders({
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    }),
  )

const asked = (decision: Decision, token: string) => {
  const what =
    decision.call === null
      ? ""
      : `<p>Tool: <b>${escape(decision.call.tool)}</b></p><pre>${escape(JSON.stringify(decision.call.input, null, 2))}</pre>`
  const button = (verdict: string, label: string) =>
    `<form method="post" action="/d/${token}/${verdict}"><button type="submit">${label}</button></form>`
  const choices =
    decision.state !== "open"
      ? `<p>This decision is ${decision.state}${decision.verdict === null ? "" : `: ${decision.verdict}`}.</p>`
      : decision.kind === "approval"
        ? button("approve", "Approve") + button("deny", "Deny")
        : `<p>This asks for a value; answer it in the space, or with "stoa decide".</p>${button("deny", "Decline")}`
  return page("A decision is asked of you", `<p>${escape(decision.question)}</p>${what}${choices}`)
}

const encode = Schema.encodeSync(Schema.toCodecJson(Decision))
const readAnswer = Schema.decodeUnknownEffect(NewAnswer, { errors: "all", onExcessProperty: "error" })

/** Whatever fails is told as a problem, as everywhere else. */
const told = <E extends { readonly message: string }, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
) => Effect.catch(app, (error) => Effect.succeed(problemResponse(error as never)))

export const decisionPage = Layer.unwrap(
  Effect.gen(function* () {
    const links = yield* DecisionLinks
    const principals = yield* Principals
    const decisions = yield* Decisions
    const { transact } = yield* Journal

    const bearer = Effect.gen(function* () {
      const { token = "", verdict } = yield* HttpRouter.params
      const known = links.read(token)
      if (known === undefined) return yield* new NoRoute({ method: "GET", path: "/d/…" })
      return { token, verdict, decision: known.decision, principal: yield* principals.get(known.principal) }
    })

    const look = Effect.gen(function* () {
      const { decision, principal, token } = yield* bearer
      // Whoever may no longer see it sees it by an old link no more.
      if (!(yield* decisions.seenBy(decision, principal))) return yield* new NoRoute({ method: "GET", path: "/d/…" })
      return asked(yield* decisions.get(decision, { principal, all: true }), token)
    })

    const answerAs = Effect.fnUntraced(function* (given: NewAnswer) {
      const { decision, principal } = yield* bearer
      const { correlationId } = yield* currentCause
      return yield* causedBy(
        { correlationId, actor: principal.id, provenance: "person" },
        transact(decisions.answer(decision, principal, given)),
      )
    })

    const press = Effect.gen(function* () {
      const { verdict } = yield* bearer
      if (verdict !== "approve" && verdict !== "deny") return yield* new NoRoute({ method: "POST", path: "/d/…" })
      const done = yield* answerAs({ verdict })
      const outcome = done.verdict === null ? ", and waits for a second person" : `: ${done.verdict}`
      return page("Thank you", `<p>The decision is ${done.state}${outcome}.</p>`)
    })

    const submit = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const body = yield* Effect.mapError(
        request.json,
        () => new BadInput({ issues: [{ path: "body", message: "is not JSON" }] }),
      )
      const given = yield* Effect.mapError(readAnswer(body), (error) => new BadInput({ issues: issuesOf(error) }))
      return HttpServerResponse.jsonUnsafe(encode(yield* answerAs(given)))
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", "/d/:token", told(look)),
      HttpRouter.add("POST", "/d/:token", told(submit)),
      HttpRouter.add("POST", "/d/:token/:verdict", told(press)),
    )
  }),
)
