/** The calls of a host as server-sent frames, on a connection that the host's process has opened. */
// edge: writes a node response.
import type { ServerResponse } from "node:http"
import type { Caller, TokenId } from "@stoa/contract"
import { Clock, Duration, Effect, Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import { Grants } from "../../../access/rights/Grants.ts"
import { rightsEpoch } from "../../../access/rights/Rights.ts"
import { Tokens } from "../../../access/identity/Tokens.ts"
import { type HostRow, Hosts, type Line } from "../../../calls/hosts/Hosts.ts"
import { newId } from "../../../store/journal/Correlation.ts"
import { Endings } from "../../Endings.ts"
import { NodeServer } from "../../node/NodeServer.ts"
import type { Takeover } from "../../node/Response.ts"

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that buffer would delay calls.
  "x-accel-buffering": "no",
}

const heartbeatEvery = Duration.seconds(20)
/** Milliseconds of silence before a TCP keep-alive: a dead connection is found before the next heartbeat. */
const keepAlive = 5000
/** A process that does not read is sent no more than this. */
const mostUnsent = 1024 * 1024

const lineOf = (
  response: ServerResponse,
  instance: string,
  token: TokenId | null,
  stands: Effect.Effect<boolean>,
): Line => ({
  instance,
  token,
  stands,
  call: (call) => void response.write(`id: ${call.id}\nevent: call\ndata: ${JSON.stringify(call)}\n\n`),
  ended: (end) => void response.write(`event: settled\ndata: ${JSON.stringify(end)}\n\n`),
  hasRoom: () => !response.destroyed && response.writableLength < mostUnsent,
  close: (reason) => {
    if (!response.writableEnded) response.end(`event: close\ndata: ${JSON.stringify({ reason })}\n\n`)
  },
})

export const makeHostStream = Effect.gen(function* () {
  const hosts = yield* Hosts
  const grants = yield* Grants
  const tokens = yield* Tokens
  const endings = yield* Endings
  const epochNow = yield* rightsEpoch
  const server = yield* NodeServer
  const open = new Set<ServerResponse>()
  server.beforeClose(
    Effect.andThen(
      hosts.closing,
      Effect.sync(() => {
        for (const response of open) response.end('event: close\ndata: {"reason":"closing"}\n\n')
      }),
    ),
  )

  /** The present state: the token is valid, and tools offered to everybody still may be. */
  const asked = Effect.fnUntraced(
    function* (caller: Caller["Service"], host: HostRow) {
      if (!(yield* tokens.stillStands(caller))) return { stands: false, lasting: false }
      if (!host.shared) return { stands: true, lasting: true }
      const { judge, lasting } = yield* grants.viewerNow(caller.principal.id, "hosts")
      return { stands: judge("write", `hosts/${host.name}`).verdict === "allow", lasting }
    },
    Effect.catchTag("Missing", () => Effect.succeed({ stands: false, lasting: false })),
  )

  /** Asked again only when rights have changed, because it is checked before every call that is sent. */
  const standing = (caller: Caller["Service"], host: HostRow): Effect.Effect<boolean> => {
    let since: number | undefined
    return Effect.gen(function* () {
      const { expiresAt } = caller
      // wall clock: tokens end at a moment.
      if (expiresAt !== null && expiresAt.epochMilliseconds <= (yield* Clock.currentTimeMillis)) return false
      const epoch = yield* epochNow()
      if (epoch === since) return true
      const { lasting, stands } = yield* asked(caller, host)
      since = stands && lasting ? epoch : undefined
      return stands
    })
  }

  const serve = Effect.fnUntraced(function* (
    response: ServerResponse,
    caller: Caller["Service"],
    host: HostRow,
    instance: string,
  ) {
    const context = yield* Effect.context<never>()
    const run = Effect.runForkWith(context)
    open.add(response)
    response.socket?.setKeepAlive(true, keepAlive)
    response.write(": stoa\n\n")
    const stands = standing(caller, host)
    const line = lineOf(response, instance, caller.token, stands)
    const connected = yield* Effect.option(hosts.connect(host, line))
    if (connected._tag === "None") {
      open.delete(response)
      return line.close("removed")
    }
    const { leave, pump } = connected.value
    const forget = endings.watch(caller, () => line.close("revoked"))
    // From here on calls are sent here.
    response.write(`event: ready\ndata: ${JSON.stringify({ host: host.id })}\n\n`)
    const beat = Effect.gen(function* () {
      yield* Effect.sleep(heartbeatEvery)
      if (yield* stands) response.write(": heartbeat\n\n")
      else response.end('event: close\ndata: {"reason":"your rights have changed; connect again"}\n\n')
    })
    const beating = run(Effect.forever(beat))
    const gone = () => {
      open.delete(response)
      forget()
      run(Effect.andThen(Fiber.interrupt(beating), leave))
    }
    response.on("drain", () => void run(pump))
    if (response.destroyed) gone()
    else response.on("close", gone)
  })

  return Effect.fnUntraced(function* (caller: Caller["Service"], host: HostRow, instance: string | undefined) {
    const context = yield* Effect.context<never>()
    const takeover: Takeover = (response) =>
      // A process that sends no instance name counts as a new instance with each connection.
      void Effect.runForkWith(context)(serve(response, caller, host, instance ?? newId("one")))
    return HttpServerResponse.raw(takeover, { headers })
  })
})
