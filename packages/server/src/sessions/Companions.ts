/**
 * The two agents of seed 002. Both use the same mechanism; their sessions and settings are stored under their names.
 */
import { nameKey } from "../access/identity/Principals.ts"

const companions = ["hecate", "moros"] as const
export type Companion = (typeof companions)[number]

/** A session with one of them can exist before it is a principal of the house. */
export const isCompanion = (name: string): boolean => (companions as ReadonlyArray<string>).includes(nameKey(name))
