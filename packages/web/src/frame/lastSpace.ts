/** The space that was looked at last, in this browser. */
import type { Space } from "../feed/types.ts"

const key = "stoa.space"

export const rememberSpace = (name: string): void => localStorage.setItem(key, name)

export const lastSpace = (spaces: ReadonlyArray<Space>): string | undefined => {
  const known = localStorage.getItem(key)
  const open = spaces.filter(({ archivedAt }) => archivedAt === null)
  return (open.find(({ name }) => name === known) ?? open[0])?.name
}
