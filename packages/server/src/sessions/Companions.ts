/** Seed 002's two agents. Each is an instance of one mechanism: its name is what its sessions and settings are kept under. */
import { nameKey } from "../access/identity/Principals.ts"

const companions = ["hecate", "moros"] as const
export type Companion = (typeof companions)[number]

/** A session may be held with one of them before it is a principal of the house. */
export const isCompanion = (name: string): boolean => (companions as ReadonlyArray<string>).includes(nameKey(name))
