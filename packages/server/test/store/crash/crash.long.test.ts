/** The kills of crash.test.ts, many times over and at odd moments. */
import { crashing } from "./crashRounds.ts"

crashing(Array.from({ length: 40 }, (_, n) => 1 + ((n * 389) % 1700)))
