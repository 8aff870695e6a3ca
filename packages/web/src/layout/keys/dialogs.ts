import { makeStore } from "../../feed/store.ts"

/** Whether "search or go to" is open. */
export const jumpOpen = makeStore(false)
/** Whether the list of keys is. */
export const keysOpen = makeStore(false)
