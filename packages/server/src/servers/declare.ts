/**
 * Compares the servers of the configuration file with the rows: added, changed, retired. A name that was taken at run
 * time is refused.
 */
import type { MCPServerSpec, PrincipalId } from "@stoa/contract"
import { Effect } from "effect"
import { nameKey } from "../access/identity/Principals.ts"
import { newId } from "../store/journal/Correlation.ts"
import type { Journal } from "../store/journal/Journal.ts"
import { placeOf } from "./connections/connectionConfig.ts"
import { type makeRows, type Server, serverKey } from "./rows.ts"

export interface DeclaredServer {
  readonly name: string
  readonly owner: PrincipalId | null
  readonly spec: MCPServerSpec
  /** Its path in the file. */
  readonly path: string
}

export interface AppliedServers {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly retired: ReadonlyArray<string>
}

const sameSpec = (a: MCPServerSpec, b: MCPServerSpec): boolean =>
  JSON.stringify(Object.entries(a).toSorted()) === JSON.stringify(Object.entries(b).toSorted())

export const declareServers = Effect.fnUntraced(function* (
  rows: ReturnType<typeof makeRows>,
  journal: Journal["Service"],
  wanted: ReadonlyArray<DeclaredServer>,
) {
  const all = yield* rows.all
  const done = { added: [] as Array<string>, changed: [] as Array<string>, retired: [] as Array<string> }
  const keyOf = ({ name, owner }: Pick<Server, "name" | "owner">) => serverKey(name, owner)
  const keys = new Set(wanted.map(keyOf))
  for (const server of all) {
    if (server.source !== "file" || keys.has(keyOf(server))) continue
    yield* rows.remove(server.id)
    yield* journal.append({ kind: "server.removed", body: { server: server.name, owner: server.owner } })
    done.retired.push(`mcpServers.${server.name}`)
  }
  for (const { name, owner, path, spec } of wanted) {
    if (all.some((one) => one.source !== "file" && nameKey(one.name) === nameKey(name)))
      return yield* Effect.fail({
        path,
        message: `a server made at run time is named "${name}"; rename one of the two`,
      })
    const before = all.find((one) => one.source === "file" && keyOf(one) === serverKey(name, owner))
    if (before === undefined) {
      yield* Effect.orDie(rows.insert({ id: newId<string>("srv"), name, spec, source: "file", owner }))
      yield* journal.append({ kind: "server.added", body: { server: name, owner } })
      done.added.push(`mcpServers.${name}`)
    } else if (before.spec === undefined || before.name !== name || !sameSpec(before.spec, spec)) {
      const elsewhere = before.spec === undefined || placeOf(before.spec) !== placeOf(spec)
      yield* rows.update(before.id, name, spec, elsewhere)
      yield* journal.append({ kind: "server.changed", body: { server: name, owner } })
      done.changed.push(`mcpServers.${name}`)
    }
  }
  return done
})
