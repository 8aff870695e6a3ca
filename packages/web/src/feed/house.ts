/** The one client of this page. It uses the cookie of its session, which no script can read. */
import { connect, StoaError } from "@stoa/sdk"

/** A form of another site cannot send this header: without it, the house accepts no write by cookie. */
const asPage: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), "x-stoa-page": "1" } })

export const house = connect({ url: location.origin, fetch: asPage })

/** The principal of a token, whoever is signed in: requested without the cookie, like a program. */
export const bearerOf = (token: string) => connect({ url: location.origin, token }).principals.me()

export const isRefusal = (error: unknown, status: number): boolean =>
  error instanceof StoaError && error.status === status
