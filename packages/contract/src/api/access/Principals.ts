import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Missing, NameTaken, OwnedByFile, WrongState } from "../../Errors.ts"
import {
  Name,
  NewPrincipal,
  Principal,
  PrincipalKind,
  PrincipalRef,
  Role,
  Wallet,
} from "../../access/identity/Principal.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { problem } from "../../Problem.ts"
import { ToolsetName } from "../../tools/Toolset.ts"
import { Idempotency, createdResponses, waitingResponse } from "../guards.ts"

export const PrincipalChange = Schema.Struct({
  name: Schema.optionalKey(Name),
  roles: Schema.optionalKey(Schema.Array(Role).check(Schema.isMaxLength(8))),
  toolsets: Schema.optionalKey(Schema.Array(ToolsetName).check(Schema.isMaxLength(8))),
  /** `null` removes it. A wallet belongs to one principal. */
  wallet: Schema.optionalKey(Schema.NullOr(Wallet)),
})

/** Ids with commas between them, a hundred at most. If given, only these principals are listed, including retired ones. */
const Ids = Schema.String.check(Schema.isPattern(/^prn_[\w-]{1,64}(?:,prn_[\w-]{1,64}){0,99}$/))

const ref = { principal: PrincipalRef }

export class PrincipalsApi extends HttpApiGroup.make("principals")
  .add(
    HttpApiEndpoint.get("list", "/principals", {
      query: { ...pageQuery, kind: Schema.optionalKey(PrincipalKind), ids: Schema.optionalKey(Ids) },
      success: pageOfMany(Principal),
    }),
    HttpApiEndpoint.get("agents", "/agents", { query: pageQuery, success: pageOfMany(Principal) }),
    HttpApiEndpoint.get("me", "/me", { success: Principal }),
    HttpApiEndpoint.get("get", "/principals/:principal", {
      params: ref,
      success: Principal,
      error: problem(Missing),
    }),
    HttpApiEndpoint.post("add", "/principals", {
      payload: NewPrincipal,
      success: createdResponses(Principal),
      error: [problem(NameTaken), problem(Missing)],
    }).middleware(Idempotency),
    HttpApiEndpoint.patch("change", "/principals/:principal", {
      params: ref,
      payload: PrincipalChange,
      success: [Principal, waitingResponse],
      error: [problem(Missing), problem(NameTaken), problem(OwnedByFile), problem(WrongState)],
    }),
    HttpApiEndpoint.get("signingKey", "/principals/:principal/signing-key", {
      params: ref,
      success: Schema.Struct({ key: Schema.String }),
      error: [problem(Missing), problem(WrongState)],
    }),
    HttpApiEndpoint.delete("retire", "/principals/:principal", {
      params: ref,
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(OwnedByFile), problem(WrongState)],
    }),
  )
  .prefix("/api/v1") {}
