/** The state of a server: always an icon and a word. */
import { useQuery } from "@tanstack/react-query"
import { house } from "../../feed/house.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

const looks = {
  connected: ["good", "check"],
  disconnected: ["warn", "plug"],
  error: ["bad", "x"],
} as const

export const useServers = () => useQuery({ queryKey: ["servers"], queryFn: () => house.mcpServers.list() })
export type Server = NonNullable<ReturnType<typeof useServers>["data"]>["items"][number]

export const ServerPill = ({ server }: { readonly server: Server }) => {
  const [tone, icon] = server.held.length > 0 ? (["warn", "triangle-alert"] as const) : looks[server.status]
  return (
    <span className="pill" data-tone={tone}>
      <Icon name={icon} />
      {server.held.length > 0 ? words.heldCount(server.held.length) : words.status[server.status]}
    </span>
  )
}
