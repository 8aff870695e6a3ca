import { configDefaults, defineConfig } from "vitest/config"

const long = process.env["STOA_TEST_LONG"] === "1"

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    include: ["packages/*/{src,test}/**/*.test.{ts,tsx}", "test/**/*.test.ts", "examples/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(long ? [] : ["**/*.long.test.ts"])],
    globalSetup: ["test/global-setup.ts"],
    testTimeout: long ? 600_000 : 30_000,
    hookTimeout: 30_000,
  },
})
