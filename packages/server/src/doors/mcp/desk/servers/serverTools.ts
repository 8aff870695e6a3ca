/** What servers say about their tools beyond what the house needs, by the tool's name here; and their order. */
import { isMCPIconList } from "@stoa/tools"
import type { ConnectedServer } from "../../../../servers/Servers.ts"
import { isObject } from "../../wire/message.ts"
import type { Endpoint, JsonObject, ListedTool } from "../Desk.ts"
import { metaOutward, type Naming, namesOf, ownNames } from "./names.ts"

interface Extra {
  readonly place: number
  readonly shown: Pick<ListedTool, "title" | "icons" | "meta">
}

const extraOf = (tool: JsonObject, naming: Naming): Extra["shown"] => {
  const { _meta, icons, title } = metaOutward(tool, naming)
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(Array.isArray(icons) && isMCPIconList(icons) ? { icons: icons.filter(isObject) } : {}),
    ...(isObject(_meta) ? { meta: _meta } : {}),
  }
}

export const extrasAt = (endpoint: Endpoint, servers: ReadonlyArray<ConnectedServer>) => {
  const extras = new Map<string, Extra>()
  const own = endpoint.kind === "server"
  for (const server of endpoint.kind === "toolset" ? [] : servers) {
    if (own && endpoint.name !== server.name) continue
    const naming = own ? ownNames : namesOf(server.name)
    for (const [at, tool] of server.tools.entries())
      extras.set(naming.prompt(String(tool["name"])), { place: own ? at : 0, shown: extraOf(tool, naming) })
  }
  return (name: string): Extra => extras.get(name) ?? { place: own ? extras.size : 0, shown: {} }
}
