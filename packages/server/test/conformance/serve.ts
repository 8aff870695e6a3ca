// The suite's fixtures, as a toolset of a house and behind servers of another house, for a suite that has no token: whoever
// comes acts as one agent. Started by scripts/conformance.ts; prints one line of JSON with the addresses, and lives until it
// is told to stop.
import { Context, Effect, Layer } from "effect"
import { Guest, house, roomy } from "../house.ts"
import { oldOnly } from "./oldOnly.ts"
import { withFixtures } from "./toolset.ts"

const suiteHouse = (mcpServers: object) =>
  Layer.fresh(
    house({
      store: "sqlite",
      config: { ...roomy, agents: [{ name: "suite" }], mcpServers },
      env: { STOA_ANONYMOUS: "suite" },
      log: "error",
    }),
  )

/** Waits a while until the house is connected to both: their tools are there from the beginning. */
const connected = (guest: Guest["Service"]) =>
  Effect.promise(async () => {
    for (let tries = 0; tries < 200; tries++) {
      const { items } = await guest.admin.mcpServers.list()
      if (items.every(({ status }) => status === "connected")) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })

const stopped = Effect.callback<void>((resume) => {
  process.once("SIGTERM", () => resume(Effect.void))
  process.once("disconnect", () => resume(Effect.void))
})

await Effect.runPromise(
  Effect.gen(function* () {
    const first = Context.get(yield* Layer.build(suiteHouse({}).pipe(Layer.provide(withFixtures))), Guest)
    const toolset = `${first.url}/mcp/conformance`
    const old = yield* Effect.acquireRelease(
      Effect.promise(() => oldOnly(new URL(toolset))),
      ({ server }) => Effect.sync(() => server.close().closeAllConnections()),
    )
    const second = Context.get(yield* Layer.build(suiteHouse({ new: { url: toolset }, old: { url: old.url } })), Guest)
    yield* connected(second)
    const behind = `${second.url}/mcp/servers`
    console.log(JSON.stringify({ toolset, "new-server": `${behind}/new`, "old-server": `${behind}/old` }))
    yield* stopped
  }).pipe(Effect.scoped),
)
// The channel to whoever started this would keep it alive.
process.exit(0)
