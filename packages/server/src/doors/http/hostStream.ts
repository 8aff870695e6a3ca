/** The calls of a host as server-sent frames, on a connection that the host's process has opened. */
// edge: writes a node response.
import type { ServerResponse } from "node:http"
import type { Caller, TokenId } from "@stoa/contract"
import { Duration, Effect, Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import { Grants } from "../../access/rights/Grants.ts"
import { Principals } from "../../access/identity/Principals.ts"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type HostRow, Hosts, type Line } from "../../calls/hosts/Hosts.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { NodeServer } from "../NodeServer.ts"
import type { Takeover } from "../Response.ts"

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that buffer would hold calls back.
  "x-accel-buffering": "no",
}

const heartbeatEvery = Duration.seconds(20)
/** Milliseconds until a silent connection is asked for life: found dead before the next heartbeat waits on it. */
const keepAlive = 5000
/** A process that does not read is sent no more than this. */
const mostUnsent = 1024 * 1024

const lineOf = (response: ServerResponse, instance: string, token: TokenId | null): Line => ({
  instance,
  token,
  call: (call) => void response.write(`id: ${call.id}\nevent: call\ndata: ${JSON.stringify(call)}\n\n`),
  ended: (end) => void response.write(`event: settled\ndata: ${JSON.stringify(end)}\n\n`),
  hasRoom: () => !response.destroyed && response.writableLength < mostUnsent,
  close: (reason) => void response.end(`event: close\ndata: ${JSON.stringify({ reason })}\n\n`),
})

export const makeHostStream = Effect.gen(function* () {
  const hosts = yield* Hosts
  const grants = yield* Grants
  const tokens = yield* Tokens
  const principals = yield* Principals
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

  /** As things are now: the token lives, and what is offered to everybody still may be. */
  const still = Effect.fnUntraced(
    function* (caller: Caller["Service"], host: HostRow) {
      if (caller.token !== null && !(yield* tokens.isAlive(caller.token))) return false
      if (!host.shared) return true
      const principal = yield* principals.get(caller.principal.id)
      return (yield* grants.judgeOf(principal, "write", `hosts/${host.name}`)).verdict === "allow"
    },
    Effect.catchTag("Missing", () => Effect.succeed(false)),
  )

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
    const { leave, pump } = yield* hosts.connect(host, lineOf(response, instance, caller.token))
    // From here on calls come here.
    response.write(`event: ready\ndata: ${JSON.stringify({ host: host.id })}\n\n`)
    const beat = Effect.gen(function* () {
      yield* Effect.sleep(heartbeatEvery)
      if (yield* still(caller, host)) response.write(": heartbeat\n\n")
      else response.end('event: close\ndata: {"reason":"your rights have changed; connect again"}\n\n')
    })
    const beating = run(Effect.forever(beat))
    const gone = () => {
      open.delete(response)
      run(Effect.andThen(Fiber.interrupt(beating), leave))
    }
    response.on("drain", () => void run(pump))
    if (response.destroyed) gone()
    else response.on("close", gone)
  })

  return Effect.fnUntraced(function* (caller: Caller["Service"], host: HostRow, instance: string | undefined) {
    const context = yield* Effect.context<never>()
    const takeover: Takeover = (response) =>
      // Who does not name itself is another with each connection.
      void Effect.runForkWith(context)(serve(response, caller, host, instance ?? newId("one")))
    return HttpServerResponse.raw(takeover, { headers })
  })
})
