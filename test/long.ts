/** `npm run test:long` does more of the same. */
export const isLong = process.env["STOA_TEST_LONG"] === "1"

/**
 * The databases of suites that take long and whose statements other suites run on both: on Postgres in `npm run test:long`.
 */
export const databases: ReadonlyArray<"sqlite" | "postgres"> = isLong ? ["sqlite", "postgres"] : ["sqlite"]

/** So many in `npm test`, so many in `npm run test:long`. */
export const times = (usual: number, long: number): number => (isLong ? long : usual)
