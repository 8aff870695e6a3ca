/** `npm run test:long` does more of the same. */
export const isLong = process.env["STOA_TEST_LONG"] === "1"

/** So many in `npm test`, so many in `npm run test:long`. */
export const times = (usual: number, long: number): number => (isLong ? long : usual)
