/** A number with its noun: one tool, two tools. Pure. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
