/** The server, which the kit runs in this process. It is an optional peer: only tests need it. */
import type { Clock } from "effect"

interface Server {
  readonly embed: (options: {
    readonly environment: Readonly<Record<string, string | undefined>>
    readonly ready: (url: string) => void
    readonly stop: AbortSignal
    readonly clock: Clock.Clock
  }) => Promise<void>
}

// Not a literal: the server is built from this package's declarations, so its own do not exist yet at that time.
const name = "@stoa/server"

export const loadServer = async (): Promise<Server> => {
  try {
    return (await import(name)) as Server
  } catch (cause) {
    throw new Error("@stoa/sdk/testing runs a house in this process: install @stoa/server beside it.", { cause })
  }
}
