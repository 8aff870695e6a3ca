/** The one client of this page. It acts by the cookie of its session, which no script can read. */
import { connect, StoaError } from "@stoa/sdk"

/** A form of another site cannot send this header: the house takes no write by cookie without it. */
const asPage: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), "x-stoa-page": "1" } })

export const house = connect({ url: location.origin, fetch: asPage })

/** Who a token is, whoever is signed in: asked as a program would ask. */
export const bearerOf = (token: string) => connect({ url: location.origin, token }).principals.me()

export const isRefusal = (error: unknown, status: number): boolean =>
  error instanceof StoaError && error.status === status
