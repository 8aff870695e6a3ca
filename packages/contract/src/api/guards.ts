/** The checks before every endpoint. The doors implement these; clients only see their failures. */
import { Context, type Schema } from "effect"
import { HttpApiMiddleware, HttpApiSchema, HttpApiSecurity } from "effect/http-api"
import type { Caller } from "../access/identity/Caller.ts"
import {
  BadInput,
  DiskFull,
  Forbidden,
  Internal,
  TooLarge,
  TooManyRequests,
  Unauthenticated,
  WrongState,
} from "../Errors.ts"
import { problem } from "../Problem.ts"
import { WaitingChange } from "../access/rights/WaitingChange.ts"

/** Turns the bearer token into a caller. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Caller }>()(
  "contract/api/Authentication",
  {
    security: { bearer: HttpApiSecurity.bearer },
    error: [problem(Unauthenticated), problem(TooManyRequests), problem(Forbidden)],
  },
) {}

/** Marks an endpoint that a service may call with a signature instead of a token. */
export const TakesSignature = Context.Reference<boolean>("contract/api/TakesSignature", { defaultValue: () => false })

/**
 * Proof that the tool's service has signed the result of a call. Only the room that checks signatures creates it, and it
 * recognises its own.
 */
export interface ResultSignature {
  readonly call: string
  readonly tool: string
}

/** Who submits a result: a caller, or the called service, by its signature. */
export class Submitter extends Context.Service<Submitter, { readonly by: Caller["Service"] | ResultSignature }>()(
  "contract/api/Submitter",
) {}

/** Requires a token or a signature before the body is read: a request with neither costs nothing. */
export class Submitting extends HttpApiMiddleware.Service<Submitting, { provides: Submitter }>()(
  "contract/api/Submitting",
  { error: [problem(Unauthenticated), problem(TooManyRequests), problem(Forbidden)] },
) {}

/** For endpoints without a credential: a larger body is not read. */
export class SmallBody extends HttpApiMiddleware.Service<SmallBody>()("contract/api/SmallBody", {
  error: problem(TooLarge),
}) {}

/** Refuses misspelled query parameters of the endpoint: inside the other guards, so that a stranger is told 401. */
export class KnownQuery extends HttpApiMiddleware.Service<KnownQuery>()("contract/api/KnownQuery", {
  error: problem(BadInput),
}) {}

/** Undecodable input becomes a BadInput that names the path. */
export class Decoding extends HttpApiMiddleware.Service<Decoding>()("contract/api/Decoding", {
  error: [problem(BadInput), problem(TooLarge), problem(DiskFull), problem(Internal)],
}) {}

/** A repeated Idempotency-Key gives the first answer, with status 200 instead of 201. */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: Caller }>()(
  "contract/api/Idempotency",
  { error: [problem(WrongState), problem(BadInput)] },
) {}

/** The answers of a create: 201, or 200 with the first object if its key was repeated. A handler returns the former. */
export const createdResponses = <S extends Schema.Top>(schema: S) =>
  [schema.pipe(HttpApiSchema.status(201)), schema] as const

/** The answer to a change of rights if a policy requires a second person to agree first. */
export const waitingResponse = WaitingChange.pipe(HttpApiSchema.status(202))
