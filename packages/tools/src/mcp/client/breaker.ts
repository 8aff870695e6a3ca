/**
 * A circuit breaker as a value (G-25): after some failures in a row no request passes for a while, then one, whose
 * outcome decides. A hanging server then costs a few slow calls and not all of them.
 */
export interface Breaker {
  readonly failures: number
  /** Until then calls are refused; 0 means closed. */
  readonly openUntil: number
  /** One call is under way to test whether the server is back. */
  readonly trying: boolean
}

export interface BreakerRules {
  readonly failures: number
  readonly coolDownMs: number
}

export const closed: Breaker = { failures: 0, openUntil: 0, trying: false }

/** Whether a call may pass, and the breaker after that. */
export const admit = (breaker: Breaker, now: number): { readonly pass: boolean; readonly next: Breaker } => {
  if (breaker.openUntil === 0) return { pass: true, next: breaker }
  if (now < breaker.openUntil || breaker.trying) return { pass: false, next: breaker }
  return { pass: true, next: { ...breaker, trying: true } }
}

export const failed = (breaker: Breaker, rules: BreakerRules, now: number): Breaker => {
  const failures = breaker.failures + 1
  return failures < rules.failures
    ? { failures, openUntil: 0, trying: false }
    : { failures, openUntil: now + rules.coolDownMs, trying: false }
}

/** The call was given up before the server showed anything: the next call tests again. */
export const abandoned = (breaker: Breaker): Breaker => ({ ...breaker, trying: false })
