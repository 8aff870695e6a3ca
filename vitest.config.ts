import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"
import { LongestFirst } from "./test/longestFirst.ts"

const long = process.env["STOA_TEST_LONG"] === "1"

export default defineConfig({
  test: {
    pool: "forks",
    // Two more than the machine has: many tests wait for a process, a disk or a browser.
    maxWorkers: Math.min(8, availableParallelism() + 2),
    // A worker loads and compiles the server once, not once a file. So no file may leave anything in a module or in
    // process; what is to happen once a file is in test/setup.ts.
    isolate: false,
    setupFiles: ["test/setup.ts"],
    sequence: { sequencer: LongestFirst },
    include: ["packages/*/{src,test}/**/*.test.{ts,tsx}", "test/**/*.test.ts", "examples/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(long ? [] : ["**/*.long.test.ts"])],
    globalSetup: ["test/global-setup.ts"],
    // They end what hangs. A machine that is busy or old is no reason to fail, so they are long.
    testTimeout: long ? 600_000 : 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
