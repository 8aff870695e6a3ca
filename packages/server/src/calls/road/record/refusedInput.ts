/**
 * What is stored of the input of a refused call: a small one completely; of a large one its size, its digest and its
 * beginning. Somebody without rights must not be able to fill the disk.
 */
import { createHash } from "node:crypto"
import { isTooDeep } from "@stoa/tools"

/** In characters: enough for a person who looks at it. */
export const maxKept = 4096

export const refusedInput = (input: Readonly<Record<string, unknown>>): string => {
  // Input nested too deep cannot be serialised.
  if (isTooDeep(input)) return "{}"
  const text = JSON.stringify(input)
  if (text.length <= maxKept) return text
  const digest = createHash("sha256").update(text).digest("hex")
  const start = text.slice(0, maxKept).toWellFormed()
  return JSON.stringify({ cut: { bytes: Buffer.byteLength(text), sha256: digest, start } })
}
