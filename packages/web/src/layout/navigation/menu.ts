/**
 * The parts of the house that have a screen, in the order of the sidebar. One line each; only `admins` see some of them.
 */
import type { Principal } from "../../feed/types.ts"
import { words } from "../../words/en.ts"

export interface MenuEntry {
  readonly to: string
  readonly icon: string
  readonly name: string
  /** The second key after `g`. */
  readonly key?: string
  readonly admins?: boolean
}

const all: ReadonlyArray<MenuEntry> = [
  { to: "/agents", icon: "bot", name: words.agents, key: "a" },
  { to: "/memory", icon: "book-open", name: words.memory, key: "m" },

  { to: "/tools", icon: "wrench", name: words.tools, key: "t" },
  { to: "/servers", icon: "server", name: words.servers, key: "s", admins: true },
  { to: "/connect", icon: "plug", name: words.connect, key: "c", admins: true },
  { to: "/why", icon: "shield-check", name: words.rights, key: "w", admins: true },
  { to: "/overview", icon: "gauge", name: words.overview, key: "o" },
  { to: "/people", icon: "users", name: words.people, key: "p" },
  { to: "/me", icon: "key-round", name: words.you, key: "y" },
]

export const menuFor = (me: Principal): ReadonlyArray<MenuEntry> =>
  all.filter(({ admins }) => admins !== true || me.roles.includes("admin"))
