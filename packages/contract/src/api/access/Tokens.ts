import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Missing, WrongState } from "../../Errors.ts"
import { TokenId } from "../../Ids.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import { IssuedToken, NewToken, Token } from "../../access/identity/Token.ts"
import { Idempotency, createdResponses } from "../guards.ts"

export class TokensApi extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("list", "/tokens", {
      query: { ...pageQuery, principal: Schema.optionalKey(PrincipalRef) },
      success: pageOfMany(Token),
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("add", "/tokens", {
      payload: NewToken,
      success: createdResponses(IssuedToken),
      error: [problem(Missing), problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.post("rotate", "/tokens/:id/rotate", {
      params: { id: TokenId },
      success: createdResponses(IssuedToken),
      error: [problem(Missing), problem(WrongState)],
    }).middleware(Idempotency),
    HttpApiEndpoint.delete("revoke", "/tokens/:id", {
      params: { id: TokenId },
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}
