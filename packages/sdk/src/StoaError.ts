/** A refusal by the house: its tag, its message, and where the input was wrong. */
export class StoaError extends Error {
  override readonly name = "StoaError"
  readonly status: number
  readonly tag: string
  readonly issues: ReadonlyArray<{ readonly path: string; readonly message: string }>
  /** Seconds to wait, if the house said so. */
  readonly retryAfter: number | undefined
  readonly problem: Readonly<Record<string, unknown>>

  constructor(status: number, problem: Readonly<Record<string, unknown>>, retryAfter?: number) {
    super(typeof problem["detail"] === "string" ? problem["detail"] : `The house answered ${status}.`)
    this.status = status
    this.problem = problem
    this.tag = typeof problem["tag"] === "string" ? problem["tag"] : "Unknown"
    this.issues = Array.isArray(problem["issues"]) ? problem["issues"] : []
    const told = typeof problem["retryAfter"] === "number" ? problem["retryAfter"] : retryAfter
    this.retryAfter = told !== undefined && Number.isFinite(told) && told >= 0 ? told : undefined
  }
}

/** The house did not answer at all. */
export class StoaUnreachable extends Error {
  override readonly name = "StoaUnreachable"
  constructor(url: string, cause: unknown) {
    super(`No house answers at ${url}. Is it running? Start it with "npm start", or give its address.`, { cause })
  }
}
