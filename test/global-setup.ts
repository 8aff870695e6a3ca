// Once a run: a Postgres for every test that wants one, by `inject("databaseUrl")`. It costs 0.7 s.
import type { TestProject } from "vitest/node"
import { startPostgres } from "./postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    databaseUrl: string
  }
}

export default async function (project: TestProject) {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major < 22 || (major === 22 && minor < 19))
    throw new Error(`Tests need the Node that npm carried, this is ${process.version}: use npm test or npx vitest.`)
  const pg = await startPostgres()
  project.provide("databaseUrl", pg.url)
  return pg.stop
}
