import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Missing, OwnedByFile } from "../../Errors.ts"
import { Action, Delegation, Grant, Judgement, NewDelegation, NewGrant } from "../../access/rights/Grant.ts"
import { DelegationId, GrantId } from "../../Ids.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import { Idempotency, createdResponses, waitingResponse } from "../guards.ts"

export class GrantsApi extends HttpApiGroup.make("grants")
  .add(
    HttpApiEndpoint.get("list", "/grants", {
      query: { ...pageQuery, principal: Schema.optionalKey(PrincipalRef) },
      success: pageOfMany(Grant),
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("add", "/grants", {
      payload: NewGrant,
      success: [...createdResponses(Grant), waitingResponse],
      error: [problem(Missing), problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.delete("revoke", "/grants/:id", {
      params: { id: GrantId },
      // In this order: an empty answer could be written for anything.
      success: [waitingResponse, HttpApiSchema.NoContent],
      error: [problem(Missing), problem(OwnedByFile)],
    }),
    HttpApiEndpoint.get("judge", "/judge", {
      query: {
        principal: Schema.optionalKey(PrincipalRef),
        action: Action,
        resource: Schema.String,
        /** With all matching rules, and the gates; `space`: as for a call made there. */
        explain: Schema.optionalKey(Schema.Literals(["true", "false"])),
        space: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100))),
      },
      success: Judgement,
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}

export class DelegationsApi extends HttpApiGroup.make("delegations")
  .add(
    HttpApiEndpoint.get("list", "/delegations", { query: pageQuery, success: pageOfMany(Delegation) }),
    HttpApiEndpoint.post("add", "/delegations", {
      payload: NewDelegation,
      success: createdResponses(Delegation),
      error: [problem(Missing), problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.delete("revoke", "/delegations/:id", {
      params: { id: DelegationId },
      success: HttpApiSchema.NoContent,
      error: problem(Missing),
    }),
  )
  .prefix("/api/v1") {}
