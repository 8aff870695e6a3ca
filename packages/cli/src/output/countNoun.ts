/** A number with its noun: one tool, two tools. Pure. */
export const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
