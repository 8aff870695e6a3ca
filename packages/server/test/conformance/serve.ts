// A house with the suite's fixtures in it, for a suite that has no token: whoever comes acts as one agent. Started by
// scripts/conformance.ts; prints one line of JSON with its addresses, and lives until it is told to stop.
import { Effect, Layer } from "effect"
import { NodeServer } from "../../src/doors/NodeServer.ts"
import { OtherFaces } from "../../src/doors/mcp/houseDesk.ts"
import { house, roomy } from "../house.ts"
import { conformanceFace } from "./face.ts"

const fixtures = conformanceFace()
const faces = Layer.succeed(OtherFaces, (_, endpoint) =>
  endpoint.kind === "toolset" && endpoint.name === "conformance" ? fixtures() : undefined,
)
const config = { ...roomy, agents: [{ name: "suite" }] }
const Suite = house({ store: "sqlite", config, env: { STOA_ANONYMOUS: "suite" }, log: "error" }).pipe(
  Layer.provide(faces),
)

const stopped = Effect.callback<void>((resume) => {
  process.once("SIGTERM", () => resume(Effect.void))
  process.once("disconnect", () => resume(Effect.void))
})

await Effect.runPromise(
  Effect.gen(function* () {
    const { url } = yield* NodeServer
    console.log(JSON.stringify({ toolset: `${url}/mcp/conformance` }))
    yield* stopped
  }).pipe(Effect.provide(Suite), Effect.scoped),
)
// The channel to whoever started this would keep it alive.
process.exit(0)
