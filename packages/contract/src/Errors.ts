/**
 * Every failure a user can see: raised by a room, encoded by a door, explained at `docs/errors/<Tag>.md`. The words say
 * what is missing and who can give it, not which command to type: they are read over MCP and on the page, too.
 */
import { Schema } from "effect"
import { firstIssues, Issue } from "./Problem.ts"

/** Input that could not be understood; nothing was changed. */
export class BadInput extends Schema.TaggedError<BadInput>()(
  "BadInput",
  { issues: Schema.Array(Issue) },
  { httpApiStatus: 400 },
) {
  override get message(): string {
    const first = firstIssues(this.issues)
      .map((issue) => `${issue.path}: ${issue.message}`)
      .join("; ")
    return `The request could not be read. ${first.replace(/\.$/, "") || "See the API at /docs"}.`
  }
}

/** No token, or one that is unknown, expired or revoked. The cases look the same on purpose. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()(
  "Unauthenticated",
  { reason: Schema.Literals(["missing", "scheme", "refused", "signature", "service", "wallet"]) },
  { httpApiStatus: 401 },
) {
  override get message(): string {
    if (this.reason === "signature")
      return "The signature is wrong. It has the form t=<seconds>,v2=<hex>; it must cover the time, the call id and the exact body as docs/user/webhooks.md says, use the tool's key, and be at most 5 minutes old. Compare key and clock."
    if (this.reason === "service")
      return "The signature is wrong. Stoa-Service must name a service of the house; Stoa-Signature has the form t=<seconds>,v2=<hex> and must cover the time, the agent as the address names it, the Idempotency-Key if there is one, and the exact body, as docs/user/agents.md says, use that service's key, and be at most 5 minutes old. Compare key and clock."
    if (this.reason === "wallet")
      return "This wallet could not sign in. A challenge works once, within 5 minutes, and must be signed exactly as given; the wallet must belong to a principal of this house. Ask for a new challenge (POST /api/v1/wallet/challenge)."
    if (this.reason === "scheme") return 'The token was not sent as a bearer. Send "Authorization: Bearer <token>".'
    return this.reason === "missing"
      ? 'This needs a token. Send "Authorization: Bearer <token>"; an admin can make one for you.'
      : "This token is unknown, expired or revoked. An admin can make a new one for you."
  }
}

export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "Forbidden",
  {
    action: Schema.String,
    resource: Schema.String,
    rule: Schema.String,
    /** What helps, if it is not a grant. */
    instead: Schema.optionalKey(Schema.String),
  },
  { httpApiStatus: 403 },
) {
  override get message(): string {
    const { action, resource, rule } = this
    const { instead = `An admin can grant ${action} on ${resource}.` } = this
    return `You may not ${action} ${resource} (rule: ${rule}). ${instead}`
  }
}

/** What helps if no noun of its own says it. A client that knows how to list them replaces it. */
export const listYours = "List yours to find the right name or id."
const whereToLook: Readonly<Record<string, string>> = {
  call: "Only its caller and admins can see a call, by its id.",
  engram: "engram_search finds yours.",
}

/** Unknown, or hidden from the caller: the two look the same, so that asking reveals nothing. */
export class Missing extends Schema.TaggedError<Missing>()(
  "Missing",
  {
    noun: Schema.String,
    ref: Schema.String,
    /** The nearest of those that the caller can see. */
    meant: Schema.optionalKey(Schema.String),
    /** All that the caller has, where they are few. */
    yours: Schema.optionalKey(Schema.Array(Schema.String)),
  },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    const hint = this.meant === undefined ? "" : `Did you mean "${this.meant}"? `
    const yours = this.yours === undefined ? undefined : `Yours: ${this.yours.join(", ") || "none"}.`
    return `There is no ${this.noun} "${this.ref}" that you can see. ${hint}${yours ?? whereToLook[this.noun] ?? listYours}`
  }
}

export class NameTaken extends Schema.TaggedError<NameTaken>()(
  "NameTaken",
  {
    noun: Schema.String,
    name: Schema.String,
    /** The name of the other one, if it only reads like this name. */
    like: Schema.optionalKey(Schema.String),
  },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    if (this.like !== undefined)
      return `"${this.name}" reads like the name of the ${this.noun} "${this.like}". Choose a name that nobody can take for it, or use that one.`
    if (this.noun === "wallet")
      return `The wallet "${this.name}" already belongs to another principal. Remove it there first, or use another one.`
    return `There is already ${/^(?:[aeiou]|MCP)/.test(this.noun) ? "an" : "a"} ${this.noun} named "${this.name}". Choose another name, or use that one.`
  }
}

/** A name that means more than one thing to the caller, who has to say which. */
export class Ambiguous extends Schema.TaggedError<Ambiguous>()(
  "Ambiguous",
  { noun: Schema.String, name: Schema.String, ids: Schema.Array(Schema.String) },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `"${this.name}" is the name of ${this.ids.length} ${this.noun}s that you can see: ${this.ids.join(", ")}. Use the id of the one you mean.`
  }
}

/** Declared in the configuration file, which owns it. */
export class OwnedByFile extends Schema.TaggedError<OwnedByFile>()(
  "OwnedByFile",
  { noun: Schema.String, name: Schema.String, file: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return `The ${this.noun} "${this.name}" is declared in ${this.file}. Change it there; the house reads it at the next reload or start.`
  }
}

/** The request contradicts the present state. */
export class WrongState extends Schema.TaggedError<WrongState>()(
  "WrongState",
  { detail: Schema.String },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    return this.detail
  }
}

/** Somebody else wrote meanwhile: read the present version, then write. */
export class StaleVersion extends Schema.TaggedError<StaleVersion>()(
  "StaleVersion",
  { noun: Schema.String, ref: Schema.String, expected: Schema.Int, current: Schema.Int },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    const { current, expected, noun, ref } = this
    return `The ${noun} "${ref}" is at version ${current}, not ${expected}: nothing was written. Read it again, and write with expectedVersion ${current}.`
  }
}

export class TooLarge extends Schema.TaggedError<TooLarge>()(
  "TooLarge",
  { noun: Schema.String, size: Schema.NullOr(Schema.Int), limit: Schema.Int },
  { httpApiStatus: 413 },
) {
  override get message(): string {
    const size = this.size === null ? "more" : `${this.size} bytes`
    return `The ${this.noun} may have ${this.limit} bytes at most; this one has ${size}. Send less, or split it.`
  }
}

export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()(
  "TooManyRequests",
  { resource: Schema.String, limit: Schema.String, retryAfter: Schema.Int },
  { httpApiStatus: 429 },
) {
  override get message(): string {
    return `The limit of ${this.limit} for ${this.resource} is used up. Try again in ${this.retryAfter} s.`
  }
}

/** The configuration file was refused as a whole; the previous one stays in force. */
export class ConfigFaulty extends Schema.TaggedError<ConfigFaulty>()(
  "ConfigFaulty",
  { file: Schema.String, issues: Schema.Array(Issue) },
  { httpApiStatus: 409 },
) {
  override get message(): string {
    const faults = firstIssues(this.issues)
      .map((issue) => `${issue.path}: ${issue.message}`)
      .join("; ")
    const end = /[.?!]$/.test(faults) ? "" : "."
    return `${this.file} was not applied, and nothing has changed. ${faults}${end}`
  }
}

/** A request whose Host or Origin is not this house's: DNS rebinding or a foreign page. */
export class ForeignOrigin extends Schema.TaggedError<ForeignOrigin>()(
  "ForeignOrigin",
  { header: Schema.Literals(["Host", "Origin"]), value: Schema.String },
  { httpApiStatus: 403 },
) {
  override get message(): string {
    return `The ${this.header} "${this.value}" is not an address of this house. Set STOA_PUBLIC_URL to the address people use.`
  }
}

/** The path exists in no version of this API. */
export class NoRoute extends Schema.TaggedError<NoRoute>()(
  "NoRoute",
  { method: Schema.String, path: Schema.String },
  { httpApiStatus: 404 },
) {
  override get message(): string {
    return `There is nothing at ${this.method} ${this.path}. The API is listed at /docs.`
  }
}

export class UnsupportedBody extends Schema.TaggedError<UnsupportedBody>()(
  "UnsupportedBody",
  { contentType: Schema.String },
  { httpApiStatus: 415 },
) {
  override get message(): string {
    return `A body of type "${this.contentType}" is not accepted. Send application/json.`
  }
}

/** A bug of ours. The correlation id finds it in the log. */
export class Internal extends Schema.TaggedError<Internal>()(
  "Internal",
  { correlationId: Schema.String },
  { httpApiStatus: 500 },
) {
  override get message(): string {
    return `Something failed inside the house. The log has the details under ${this.correlationId}.`
  }
}

export class Unavailable extends Schema.TaggedError<Unavailable>()(
  "Unavailable",
  { reason: Schema.String },
  { httpApiStatus: 503 },
) {
  override get message(): string {
    return `The house cannot answer now: ${this.reason}. Try again shortly.`
  }
}

/** Nothing was written because the disk is full. Reads still work, and writes will once there is room again. */
export class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", {}, { httpApiStatus: 507 }) {
  override get message(): string {
    return "The house's disk is full, so nothing was written. Reads still work. Try again when the operator has made room."
  }
}

// The six failures of a tool call (S4-15 … S4-20), with seed 004's fields. Each is written for a model to act on: what
// was wrong, what is right, what to try (G-32).

export class ToolNotFoundError extends Schema.TaggedError<ToolNotFoundError>()(
  "ToolNotFoundError",
  {
    message: Schema.String,
    toolName: Schema.String,
    /** Only those the caller may use (S4-23). */
    availableTools: Schema.optionalKey(Schema.Array(Schema.String)),
  },
  { httpApiStatus: 404 },
) {}

export class ToolExecutionError extends Schema.TaggedError<ToolExecutionError>()(
  "ToolExecutionError",
  {
    message: Schema.String,
    toolName: Schema.String,
    input: Schema.optionalKey(Schema.Unknown),
    cause: Schema.optionalKey(Schema.Unknown),
  },
  { httpApiStatus: 502 },
) {}

export class ToolTimeoutError extends Schema.TaggedError<ToolTimeoutError>()(
  "ToolTimeoutError",
  { message: Schema.String, toolName: Schema.String, timeoutMs: Schema.Finite },
  { httpApiStatus: 504 },
) {}

export class ToolValidationError extends Schema.TaggedError<ToolValidationError>()(
  "ToolValidationError",
  {
    message: Schema.String,
    toolName: Schema.String,
    parameter: Schema.String,
    expected: Schema.String,
    received: Schema.String,
  },
  { httpApiStatus: 400 },
) {}

export class MCPConnectionError extends Schema.TaggedError<MCPConnectionError>()(
  "MCPConnectionError",
  {
    message: Schema.String,
    serverName: Schema.String,
    transport: Schema.String,
    cause: Schema.optionalKey(Schema.Unknown),
  },
  { httpApiStatus: 502 },
) {}

export class ToolAuthorizationError extends Schema.TaggedError<ToolAuthorizationError>()(
  "ToolAuthorizationError",
  {
    message: Schema.String,
    toolName: Schema.String,
    agentId: Schema.String,
    /** The question to be answered first, if the call waits for a person instead of being refused. */
    decision: Schema.optionalKey(Schema.String),
    /** The rule, the pause, or anything else that refused it. */
    rule: Schema.optionalKey(Schema.String),
  },
  { httpApiStatus: 403 },
) {}
