/** What stands before every endpoint. The doors implement these; clients only learn their failures. */
import { Context, type Schema } from "effect"
import { HttpApiMiddleware, HttpApiSchema, HttpApiSecurity } from "effect/http-api"
import type { Caller } from "../access/Caller.ts"
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
import type { Principal } from "../access/Principal.ts"
import { problem } from "../Problem.ts"
import { WaitingChange } from "../access/WaitingChange.ts"

/** Turns the bearer token into a caller. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Caller }>()(
  "contract/api/Authentication",
  {
    security: { bearer: HttpApiSecurity.bearer },
    error: [problem(Unauthenticated), problem(TooManyRequests), problem(Forbidden)],
  },
) {}

/** Marks an endpoint to which a service may come with a signature instead of a token. */
export const TakesSignature = Context.Reference<boolean>("contract/api/TakesSignature", { defaultValue: () => false })

/** Whoever brings a result: a principal, or nobody where a signature speaks for the service that was called. */
export class Submitter extends Context.Service<Submitter, { readonly principal: Principal | null }>()(
  "contract/api/Submitter",
) {}

/** Asks for a token or a signature before the body is read: whoever has neither costs nothing. */
export class Submitting extends HttpApiMiddleware.Service<Submitting, { provides: Submitter }>()(
  "contract/api/Submitting",
  { error: [problem(Unauthenticated), problem(TooManyRequests), problem(Forbidden)] },
) {}

/** For what is asked without a credential: its body is small, and a larger one is not read. */
export class SmallBody extends HttpApiMiddleware.Service<SmallBody>()("contract/api/SmallBody", {
  error: problem(TooLarge),
}) {}

/** What could not be read becomes a BadInput that names the path. */
export class Reading extends HttpApiMiddleware.Service<Reading>()("contract/api/Reading", {
  error: [problem(BadInput), problem(TooLarge), problem(DiskFull), problem(Internal)],
}) {}

/** A repeated Idempotency-Key gives the first answer, with status 200 instead of 201. */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: Caller }>()(
  "contract/api/Idempotency",
  { error: [problem(WrongState), problem(BadInput)] },
) {}

/** What a create answers: 201, or 200 with the first object when its key was repeated. A handler's answer is the former. */
export const made = <S extends Schema.Top>(schema: S) => [schema.pipe(HttpApiSchema.status(201)), schema] as const

/** What a change of rights answers, where a policy wants a second person to agree first. */
export const waiting = WaitingChange.pipe(HttpApiSchema.status(202))
