/**
 * Splits a text into as many passages as the index has rows for it, so that words and meaning have the same positions.
 * Pure.
 */
import { passagesIn } from "../index/entries.ts"
import { wordsIn } from "./terms.ts"

export const passagesOf = (text: string): ReadonlyArray<string> => {
  const count = passagesIn(text)
  if (count === 1) return [text]
  const words = wordsIn(text)
  const startOf = (part: number): number =>
    part === 0 ? 0 : part === count ? text.length : (words[Math.floor((part * words.length) / count)]?.at ?? 0)
  return Array.from({ length: count }, (_, part) => text.slice(startOf(part), startOf(part + 1)))
}
