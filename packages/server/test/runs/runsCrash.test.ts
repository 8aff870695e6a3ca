/** kill -9 of a whole house, twenty times, while agents work: each step once, each tool once, nothing lost or stuck. */
import { killingAlone } from "./runsKilled.ts"

killingAlone(20)
