/** Twenty thousand mutated messages: each gets a well-formed answer or a proper refusal, and nothing stays behind. */
import { fuzzed } from "./mcpFuzzed.ts"

fuzzed({ rounds: 1, milliseconds: 120_000 })
