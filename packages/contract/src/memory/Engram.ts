/** Seed 002's memory units: records of the namespace `engrams`, whose owner is the principal that has the wallet. */
import { Schema } from "effect"

/** What an engram may be (S2-10). A chat session is one too, of a kind that nobody creates by hand (S2-40). */
export const EngramType = Schema.Literals(["persona", "preference", "strategy", "knowledge", "compliance"])
export type EngramType = typeof EngramType.Type
