/** The kills of houses.test.ts, many times over. */
import { killing } from "./housesKilled.ts"

killing(200)
