/** The calls of a host as server-sent frames, on a connection that the host's process has opened. */
// edge: writes a node response.
import type { ServerResponse } from "node:http"
import type { Caller } from "@stoa/contract"
import { Duration, Effect, Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import { type HostRow, Hosts, type HostConnection } from "../../../calls/hosts/Hosts.ts"
import { newId } from "../../../store/journal/Correlation.ts"
import { Endings } from "../../../access/identity/Endings.ts"
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
const maxUnsent = 1024 * 1024

const connectionOf = (response: ServerResponse, instance: string): HostConnection => ({
  instance,
  call: (call) => void response.write(`id: ${call.id}\nevent: call\ndata: ${JSON.stringify(call)}\n\n`),
  ended: (end) => void response.write(`event: settled\ndata: ${JSON.stringify(end)}\n\n`),
  hasRoom: () => !response.destroyed && response.writableLength < maxUnsent,
  close: (reason) => {
    if (!response.writableEnded) response.end(`event: close\ndata: ${JSON.stringify({ reason })}\n\n`)
  },
})

export const makeHostStream = Effect.gen(function* () {
  const hosts = yield* Hosts
  const endings = yield* Endings
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
    const connection = connectionOf(response, instance)
    // Watched before it is connected: no end of the token falls between the two.
    const forget = endings.watch(caller, () => connection.close("revoked"))
    const connected = yield* Effect.option(hosts.connect(caller, host, connection))
    if (connected._tag === "None") {
      open.delete(response)
      forget()
      return connection.close("removed")
    }
    const { leave, pump, stands } = connected.value
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
