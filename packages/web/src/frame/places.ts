/** The parts of the house that have a screen, in the order of the side. One line each; `admins` alone see some of them. */
import type { Principal } from "../feed/types.ts"
import { words } from "../words/en.ts"

export interface Place {
  readonly to: string
  readonly icon: string
  readonly name: string
  /** The second key after `g`. */
  readonly key?: string
  readonly admins?: boolean
}

const all: ReadonlyArray<Place> = [{ to: "/me", icon: "users", name: words.you, key: "y" }]

export const placesFor = (me: Principal): ReadonlyArray<Place> =>
  all.filter(({ admins }) => admins !== true || me.roles.includes("admin"))
