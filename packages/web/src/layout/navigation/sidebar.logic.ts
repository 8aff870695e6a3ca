/** The lists of the sidebar, from the page's initial data. */
import type { Member, Space } from "../../feed/types.ts"

const byName = (a: Space, b: Space) => a.name.localeCompare(b.name)

export interface SidebarLists {
  readonly spaces: ReadonlyArray<Space>
  readonly pairs: ReadonlyArray<{ readonly space: Space; readonly other: Member | undefined }>
}

/** Archived spaces are found by search, not listed. A DM is listed under the other person. */
export const sidebarLists = (all: ReadonlyArray<Space>, me: string): SidebarLists => {
  const open = all.filter(({ archivedAt }) => archivedAt === null)
  return {
    spaces: open.filter(({ kind }) => kind !== "dm").toSorted(byName),
    pairs: open
      .filter(({ kind }) => kind === "dm")
      .map((space) => ({ space, other: space.members.find(({ id }) => id !== me) }))
      .toSorted((a, b) => (a.other?.name ?? a.space.name).localeCompare(b.other?.name ?? b.space.name)),
  }
}

export const spaceIcon = (kind: Space["kind"]): string => (kind === "private" || kind === "dm" ? "lock" : "hash")
