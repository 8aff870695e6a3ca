/** The space last viewed in this browser. */
import type { Space } from "../../feed/types.ts"

const key = "stoa.space"

export const rememberSpace = (name: string): void => localStorage.setItem(key, name)

/** Before any was viewed: where the demo starts, or the first one. */
export const lastSpace = (spaces: ReadonlyArray<Space>, demo: string | null): string | undefined => {
  const known = localStorage.getItem(key)
  const open = spaces.filter(({ archivedAt }) => archivedAt === null)
  return (open.find(({ name }) => name === known) ?? open.find(({ id }) => id === demo) ?? open[0])?.name
}
