/** Removes the demo: exactly what its rows list. If it is interrupted, the next start continues. */
import type { PrincipalId } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { Principals } from "../access/identity/Principals.ts"
import { houseViewer } from "../access/rights/Viewer.ts"
import { Tools } from "../calls/catalogue/Tools.ts"
import { Portability } from "../memory/portability/Portability.ts"
import { Languages } from "../models/Languages.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { Journal } from "../store/journal/Journal.ts"
import { Servers } from "../servers/Servers.ts"
import { makeRows, type PartRow } from "./rows.ts"

export const makeRemoval = Effect.gen(function* () {
  const journal = yield* Journal
  const rows = yield* makeRows
  const principals = yield* Principals
  const languages = yield* Languages
  const spaces = yield* Spaces
  const portability = yield* Portability
  const tools = yield* Tools
  const servers = yield* Servers
  const now = Effect.map(DateTime.now, DateTime.formatIso)

  /** Archives the space with its messages, so that people can still read them, and frees its name. */
  const closeSpace = Effect.fnUntraced(function* (id: string) {
    const viewer = houseViewer(yield* Effect.orDie(principals.get("admin")))
    const space = yield* spaces.get(id, viewer)
    yield* spaces.change(space, { name: `${space.name.slice(0, 40)}-demo-${id.slice(-6)}` }, viewer)
    if (space.archivedAt === null) yield* spaces.change(space, { archived: true }, viewer)
  })

  // Errors are ignored: a part that somebody has already removed is fine.
  const takeAway = ({ kind, name, ref }: PartRow) => {
    switch (kind) {
      case "agent":
        return Effect.ignore(principals.retire(ref))
      case "space":
        return Effect.ignore(closeSpace(ref))
      case "tool":
        return Effect.ignore(tools.remove(name))
      case "model":
        return languages.drop(name)
      case "server":
        return Effect.ignore(servers.remove(name))
    }
  }

  /** First retires the agents and archives the spaces: from then on nobody works and nothing can be called. */
  const begin = journal.transact(
    Effect.gen(function* () {
      if (!(yield* rows.move("on", "removing", yield* now))) return false
      for (const part of yield* rows.parts) if (part.kind === "agent" || part.kind === "space") yield* takeAway(part)
      yield* journal.append({ kind: "demo.changed", body: { state: "removing", step: null } })
      return true
    }),
  )

  const finish = Effect.gen(function* () {
    for (const part of yield* rows.parts) {
      if (part.kind === "agent") yield* portability.erase(part.ref as PrincipalId)
      else if (part.kind !== "space") yield* journal.transact(takeAway(part))
      yield* rows.forget(part.kind, part.ref)
    }
    yield* journal.transact(
      Effect.gen(function* () {
        if (yield* rows.move("removing", "removed", yield* now))
          yield* journal.append({ kind: "demo.changed", body: { state: "removed", step: null } })
      }),
    )
    yield* tools.refresh
  })

  return { begin, finish }
})
