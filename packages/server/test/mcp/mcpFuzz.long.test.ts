/** A million mutated messages, and memory that does not grow with them. */
import { fuzzed } from "./mcpFuzzed.ts"

fuzzed({ rounds: 50, milliseconds: 3_600_000 })
