// The checks that run a tool: each is shown the fault it is there for.
import { describe, expect, it } from "vitest"
import { floors } from "../../scripts/checks/floors.ts"
import { format } from "../../scripts/checks/format.ts"
import { types } from "../../scripts/checks/types.ts"
import { unused } from "../../scripts/checks/unused.ts"
import { house } from "./fixture.ts"

const server = "packages/server/src"

it("format: names the file that is not formatted", async () => {
  const { faults } = await format(house({ [`${server}/store/Store.ts`]: "export const Store={rows:['general']};\n" }))
  expect(faults).toEqual([expect.stringContaining(`${server}/store/Store.ts: not formatted`)])
})

describe("types", () => {
  it("a floating effect is an error", async () => {
    const file = `${server}/store/start.ts`
    const { faults } = await types(house({ [file]: `import { Effect } from "effect"\nEffect.log("lost")\n` }))
    expect(faults).toEqual([expect.stringMatching(/store\/start\.ts\(2,1\).*effect\(floatingEffect\)/)])
  })

  it("a type that a declaration cannot name is an error", async () => {
    const faulty = {
      [`${server}/store/inner.ts`]:
        "interface Kept {\n  readonly at: number\n}\nexport const make = () => ({ keep: (it: Kept) => it })\n",
      [`${server}/store/outer.ts`]:
        'import { make } from "./inner.ts"\nexport const keeper = (inner = make()) => ({ put: inner.keep })\n',
    }
    const { faults } = await types(house(faulty))
    expect(faults).toEqual([expect.stringMatching(/store\/outer\.ts.*TS4023.*'Kept'/)])
  })

  it("notices when tsc does not look at effects", async () => {
    const bare = {
      module: "NodeNext",
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
    }
    const tsconfig = JSON.stringify({ compilerOptions: bare, include: ["packages/*/src"] })
    const { faults } = await types(house({ "tsconfig.json": tsconfig }))
    expect(faults).toEqual([expect.stringContaining("tsc accepted a floating Effect")])
  })
})

it("unused: an export, a file and a dependency that nobody uses", async () => {
  const contract = { name: "@stoa/contract", version: "0.1.0", license: "MIT", type: "module" }
  const { faults } = await unused(
    house({
      [`${server}/store/Store.ts`]: `export const Store = { rows: ["general"] }\nexport const spare = 1\n`,
      [`${server}/store/left.ts`]: `export const left = 1\n`,
      "packages/contract/package.json": JSON.stringify({
        ...contract,
        exports: { ".": "./src/index.ts" },
        dependencies: { effect: "4.1.0", pg: "8.23.1" },
      }),
    }),
  )
  expect(faults.toSorted()).toEqual([
    expect.stringMatching(/^packages\/contract\/package\.json.* pg: dependency/),
    expect.stringMatching(/^packages\/server\/src\/store\/Store\.ts:2 spare: exported/),
    expect.stringMatching(/^packages\/server\/src\/store\/left\.ts.* no file imports it/),
  ])
})

describe("floors", () => {
  it("names every import that goes where it may not", async () => {
    const spaces = `import { SpaceMissing } from "@stoa/contract"\nimport { find } from "./find.ts"\n`
    const { faults } = await floors(
      house({
        [`${server}/House.ts`]: `export const House = 1\n`,
        [`${server}/store/Store.ts`]: `import { Spaces } from "../spaces/Spaces.ts"\nexport const Store = [Spaces]\n`,
        [`${server}/spaces/Spaces.ts`]: `${spaces}export const Spaces = [SpaceMissing, find]\n`,
        [`${server}/access/grants.ts`]: `export const grants = 1\n`,
        [`${server}/access/Grants.ts`]: `import { Activity } from "effect/workflow"\nexport const Grants = Activity\n`,
        [`${server}/memory/Memory.ts`]: `import { grants } from "../access/grants.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { House } from "../House.ts"
import { HttpApi } from "effect/http-api"
import { gone } from "./gone.ts"
export const Memory = [grants, Spaces, House, HttpApi, gone]\n`,
        [`${server}/start/Opening.ts`]: `import { grants } from "../access/grants.ts"\nexport const Opening = grants\n`,
        [`${server}/decisions/Decisions.ts`]: `import { Opening } from "../start/Opening.ts"\nexport const Decisions = Opening\n`,
        [`${server}/doors/feed/Feed.ts`]: `export const Feed = 1\n`,
        [`${server}/doors/http/Http.ts`]: `import { Feed } from "../feed/Feed.ts"\nexport const Http = Feed\n`,
        [`${server}/attic/Attic.ts`]: `import { Store } from "../store/Store.ts"\nexport const Attic = Store\n`,
        [`${server}/calls/Calls.ts`]: `import { Limits } from "./Limits.ts"\nexport const Calls = [Limits]\n`,
        [`${server}/calls/Limits.ts`]: `import { Calls } from "./Calls.ts"\nexport const Limits = [Calls]\n`,
        "packages/contract/src/Ids.ts": `import { Spaces } from "@stoa/server"
import { readFileSync } from "node:fs"
export const ids = [Spaces, readFileSync]\n`,
        "packages/cli/package.json": JSON.stringify({ name: "@stoa/cli", license: "MIT", type: "module" }),
        "packages/cli/src/main.ts": `import { Spaces } from "@stoa/server"\nconsole.log(Spaces)\n`,
        "packages/cli/src/local.ts": `import { Spaces } from "@stoa/server"\nconsole.log(Spaces)\n`,
      }),
    )
    const found = faults.map((fault) =>
      /^packages\/(?:server\/src\/)?(\S+) -> .*\((\S+)\)/.exec(fault)?.slice(1).join(" "),
    )
    expect([...new Set(found)].toSorted()).toEqual([
      "access/Grants.ts no-replayed-code",
      "attic/Attic.ts room-of-the-plan",
      "calls/Calls.ts no-cycles",
      "cli/src/main.ts cli-imports-sdk-and-contract-and-importers",
      "contract/src/Ids.ts browser-safe",
      "contract/src/Ids.ts contract-imports-nothing-of-ours",
      "decisions/Decisions.ts floor-2-decisions",
      "decisions/Decisions.ts rooms-know-no-wiring",
      "doors/http/Http.ts doors-are-strangers",
      "memory/Memory.ts floor-2-memory",
      "memory/Memory.ts http-api-at-the-edge",
      "memory/Memory.ts lower-case-is-private",
      "memory/Memory.ts nothing-unresolved",
      "memory/Memory.ts rooms-know-no-wiring",
      "store/Store.ts floor-0-store",
    ])
  })

  it("notices when dependency-cruiser does not see the .ts files", async () => {
    const blind = `module.exports = { forbidden: [], options: { exclude: { path: "[.]ts$" } } }\n`
    const { faults, looked } = await floors(house({ ".dependency-cruiser.cjs": blind }))
    expect(looked).toBe(0)
    expect(faults).toContain(`${server}/spaces/Spaces.ts: not seen by dependency-cruiser`)
  })
})
