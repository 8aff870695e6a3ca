/**
 * `dbos.mjs DATABASE_URL`: DBOS's durable workflows as their makers document them, with steps that do nothing. Asked to
 * drive so many at once, or to hold some that wait for a message.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { driven } from "./driven.mjs"

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

driven(async (steps) => {
  const handle = await DBOS.startWorkflow(work)(steps)
  await handle.getResult()
})
