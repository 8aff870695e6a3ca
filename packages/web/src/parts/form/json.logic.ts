import type { Json } from "../../feed/types.ts"

/** A JSON object with any values. */
export const isFields = (value: unknown): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
