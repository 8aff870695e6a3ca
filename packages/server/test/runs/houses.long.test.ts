/** The kills of houses.test.ts and runsCrash.test.ts many times over, and faults that are no death. STOA_FAULTS: how often, for a shorter look. */
import { cuttingOff, freezing, restarting } from "./housesFaults.ts"
import { killing } from "./housesKilled.ts"
import { killingAlone } from "./runsKilled.ts"

const most = Number(process.env["STOA_FAULTS"] ?? 200)

killing(most)
killingAlone(most)
freezing(Math.ceil(most / 20), 20)
restarting(Math.ceil(most / 10))
cuttingOff(Math.ceil(most / 20), 20)
