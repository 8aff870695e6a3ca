/** The leak test, many times over. */
import { leaking } from "./spacesLeak.ts"

for (const seed of [1, 2, 3]) leaking({ principals: 200, spaces: 36, steps: 12_000, workers: 24, seed }, 600_000)
