/** The name that was probably meant: fewest edits, and at most a third of its letters. Two letters swapped are one edit. */

const distance = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let earlier: ReadonlyArray<number> = []
  let before = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1]
      const swapped = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]
      line.push(
        Math.min(
          before[at]! + 1,
          line[at - 1]! + 1,
          before[at - 1]! + (same ? 0 : 1),
          swapped ? earlier[at - 2]! + 1 : Infinity,
        ),
      )
    }
    if (Math.min(...line) > most) return most + 1
    earlier = before
    before = line
  }
  return before[other.length]!
}

/** Models confuse case, dashes and underscores most often. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")

export const nearest = (wanted: string, names: Iterable<string>): string | undefined => {
  // A hostile name must not cost more than a look-up.
  if (wanted.length > 200) return undefined
  const goal = plain(wanted)
  const limit = Math.max(1, Math.floor(goal.length / 3))
  let best: string | undefined
  let least = limit + 1
  for (const name of names) {
    const candidate = plain(name)
    const cost = candidate === goal ? 0 : distance(goal, candidate, least)
    if (cost < least) {
      least = cost
      best = name
    }
  }
  return best
}
