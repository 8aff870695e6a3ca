import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Approval, Decision, DecisionLink, DecisionState, NewAnswer } from "../../decisions/Decision.ts"
import { BadInput, Forbidden, Missing, WrongState } from "../../Errors.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"

const ref = { decision: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)) }

const DecisionPage = Schema.Struct({
  ...pageOfMany(Decision).fields,
  /** How many wait for the caller, if requested: a thousand at most. */
  count: Schema.optionalKey(Schema.Int),
})

const NewLink = Schema.Struct({ principal: Schema.optionalKey(PrincipalRef) })

export class DecisionsApi extends HttpApiGroup.make("decisions")
  .add(
    HttpApiEndpoint.get("list", "/decisions", {
      query: {
        ...pageQuery,
        state: Schema.optionalKey(DecisionState),
        /** Only those whose id begins so, open or closed: whoever gives a part of an id learns what else it may mean. */
        begins: Schema.optionalKey(
          Schema.String.check(
            Schema.isPattern(/^dcs_[0-9a-f-]{6,36}$/, { message: "must be dcs_ and at least 6 characters of an id" }),
          ),
        ),
        /** Only the open ones that wait for the caller, with their number. */
        for: Schema.optionalKey(Schema.Literal("me")),
      },
      success: DecisionPage,
    }),
    HttpApiEndpoint.get("get", "/decisions/:decision", { params: ref, success: Decision, error: problem(Missing) }),
    HttpApiEndpoint.post("answer", "/decisions/:decision/answer", {
      params: ref,
      payload: NewAnswer,
      success: Decision,
      error: [problem(Missing), problem(WrongState), problem(Forbidden), problem(BadInput)],
    }),
    HttpApiEndpoint.post("link", "/decisions/:decision/link", {
      params: ref,
      payload: NewLink,
      success: DecisionLink.pipe(HttpApiSchema.status(201)),
      error: [problem(Missing), problem(WrongState), problem(Forbidden)],
    }),
    HttpApiEndpoint.get("approvals", "/approvals", { query: pageQuery, success: pageOfMany(Approval) }),
    HttpApiEndpoint.delete("revoke", "/approvals/:approval", {
      params: { approval: Schema.String },
      success: HttpApiSchema.NoContent,
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
