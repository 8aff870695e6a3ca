/**
 * `dbos.mjs DATABASE_URL`: DBOS's durable workflows as their makers document them, with steps that do nothing. Asked to
 * drive so many at once, or to hold some that wait for a message.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"

const [databaseUrl] = process.argv.slice(2)
DBOS.setConfig({ name: "peer", systemDatabaseUrl: databaseUrl, systemDatabasePoolSize: 20, logLevel: "error" })

const nothing = async () => ({ ok: true })
const work = DBOS.registerWorkflow(
  async (steps) => {
    for (let at = 0; at < steps; at++) await DBOS.runStep(nothing, { name: "step" })
    return steps
  },
  { name: "work" },
)
await DBOS.launch()

/** Callers who each start the next as soon as their last has ended. */
const drive = async ({ callers, millis, steps }) => {
  let ended = 0
  const started = performance.now()
  const one = async () => {
    while (performance.now() < started + millis) {
      const handle = await DBOS.startWorkflow(work)(steps)
      await handle.getResult()
      ended++
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: ended / ((performance.now() - started) / 1000) }
}

process.on("message", (question) => {
  drive(question).then(
    (answer) => process.send(answer),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.once("disconnect", () => process.exit(0))
process.send({ port: 0 })
