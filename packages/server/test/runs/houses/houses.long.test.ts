/** The kills of houses.test.ts and runsCrash.test.ts many times over, and faults that are no death. STOA_FAULTS: how often, for a shorter look. */
import { it } from "@effect/vitest"
import { homes } from "../../killedHouse.ts"
import { cuttingOff, freezing, restarting } from "./housesFaults.ts"
import { killing } from "./housesKilled.ts"
import { killedAlone } from "./runsKilled.ts"

const most = Number(process.env["STOA_FAULTS"] ?? 200)

killing(most)
for (const [name, home] of homes)
  it.live(`${most} random kills of a house alone, on ${name}`, () => killedAlone(home, most), 30_000 * most)
freezing(Math.ceil(most / 20), 20)
restarting(Math.ceil(most / 10))
cuttingOff(Math.ceil(most / 20), 20)
