/** Seed 002's memory units: records of the namespace `engrams`, owned by the principal that has the wallet. */
import { Schema } from "effect"

/** The types of an engram (S2-10). A chat session is one too, of a type that users cannot create (S2-40). */
export const EngramType = Schema.Literals(["persona", "preference", "strategy", "knowledge", "compliance"])
export type EngramType = typeof EngramType.Type
