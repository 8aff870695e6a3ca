// oxlint runs, with types, and the house's own rules fire where they should and nowhere else.
import { expect, it } from "vitest"
import { lint } from "../../scripts/checks/lint.ts"
import { house } from "./fixture.ts"

const server = "packages/server/src"
const rulesAt = async (files: Record<string, string>) => {
  const { faults } = await lint(house(files))
  return faults.map((fault) => /^(\S+) (\S+)/.exec(fault)?.slice(1).join(" ")).toSorted()
}

const clocks = `export const times = () => [
  new Date(),
  Date.now(),
  setTimeout(() => {}, 1),
  globalThis.setInterval(() => {}, 1),
]
`
const promises = `export const wait = async () => {
  await Promise.resolve()
}
`

const wall = `import { Clock } from "effect"
// reason
export const now = (clock: Clock.Clock) => clock.currentTimeMillisUnsafe()
export const asked = Clock.currentTimeMillis // reason
`

const judges = `export const mayLook = (grants: { readonly judge: (what: string) => string }, judge: () => string) => [
  grants.judge("read") === "allow",
  judge(),
]
`
const reader = `export const reader = (principal: string) => ({ principal, all: true })\n`

it("each rule fires on its fault", async () => {
  const found = await rulesAt({
    [`${server}/store/env.ts`]: `import { env } from "node:process"
const { env: again } = process
export const all = [env, again, process.env["HOME"]]
`,
    [`${server}/store/clock.ts`]: clocks,
    [`${server}/store/wait.ts`]: promises,
    [`${server}/store/gen.ts`]: `import { Effect } from "effect"
export const a = Effect.gen(function* () {
  try {
    yield* Effect.void
  } finally {
    yield* Effect.void
  }
})
export const b = Effect.fn("b")(function* () {
  try {
    yield* Effect.void
  } finally {
    yield* Effect.void
  }
})
`,
    [`${server}/store/wall.ts`]: wall,
    [`${server}/store/named.ts`]: `export default 1\n`,
    [`${server}/doors/judging.ts`]: judges,
    [`${server}/toolsets/judging.ts`]: judges,
    [`${server}/runs/viewer.ts`]: reader,
    [`${server}/store/float.ts`]: `export const start = (work: () => Promise<void>) => {\n  work()\n}\n`,
  })
  expect(found).toEqual(
    [
      `${server}/store/env.ts:1 stoa(no-env)`,
      `${server}/store/env.ts:2 stoa(no-env)`,
      `${server}/store/env.ts:3 stoa(no-env)`,
      ...[2, 3, 4, 5].map((row) => `${server}/store/clock.ts:${row} stoa(no-clock)`),
      `${server}/store/wait.ts:1 stoa(no-async)`,
      ...[3, 4].map((row) => `${server}/store/wall.ts:${row} stoa(no-wall)`),
      `${server}/store/gen.ts:3 stoa(no-try-in-gen)`,
      `${server}/store/gen.ts:10 stoa(no-try-in-gen)`,
      `${server}/store/named.ts:1 stoa(no-default-export)`,
      ...[2, 3].map((row) => `${server}/doors/judging.ts:${row} stoa(no-judging)`),
      ...[2, 3].map((row) => `${server}/toolsets/judging.ts:${row} stoa(no-judging)`),
      `${server}/runs/viewer.ts:1 stoa(no-handmade-viewer)`,
      `${server}/store/float.ts:2 typescript(no-floating-promises)`,
    ].toSorted(),
  )
})

it("and is silent where its reason does not hold", async () => {
  const env = `export const all = process.env["HOME"]\n`
  const found = await rulesAt({
    [`${server}/Settings.ts`]: env,
    "packages/cli/src/Settings.ts": env,
    "scripts/tool.ts": `${env}${clocks}${promises}`,
    [`${server}/store/edge.ts`]: `// edge: the driver speaks callbacks\n${clocks}${promises}`,
    [`${server}/store/Store.test.ts`]: `${clocks}${promises}${env}`,
    [`${server}/store/moment.ts`]: wall.replaceAll("// reason", "// wall clock: it is stored"),
    [`${server}/access/rights/judging.ts`]: judges,
    [`${server}/access/rights/Viewer.ts`]: reader,
    [`${server}/runs/own.ts`]: reader.replace("true", "false"),
    [`${server}/store/parse.ts`]: `export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
`,
    [`${server}/migrations/0001_spaces.ts`]: `export default 1\n`,
    "packages/sdk/src/wait.ts": promises,
  })
  expect(found).toEqual([])
})
