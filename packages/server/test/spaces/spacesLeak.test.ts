/** Nobody sees what is not theirs, whatever happens at once. */
import { leaking } from "./spacesLeak.ts"

leaking({ principals: 200, spaces: 24, steps: 800, workers: 12, seed: 71 }, 180_000)
