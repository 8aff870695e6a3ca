// Each README says under **May use** what the files of its folder import: shown a file that does more, and a line that
// names too much.
import { expect, it } from "vitest"
import { imports } from "../../scripts/checks/imports.ts"
import { house } from "./fixture.ts"

const server = "packages/server/src"
const faultsOf = async (line: string, ...words: ReadonlyArray<string>) => {
  const { faults } = await imports(
    house({
      [`${server}/spaces/README.md`]: `# Spaces\n\n- **May use**: ${line}\n- **Never**: anything.\n`,
      [`${server}/spaces/other.ts`]: `${words.join("\n")}\n`,
      [`${server}/access/Rights.ts`]: "export const rights = 1\nexport type Right = 1\n",
    }),
  )
  return faults
}
const rights = `import { rights } from "../access/Rights.ts"`
const unsaid = (to: string) =>
  `${server}/spaces/other.ts: imports ${to}, which ${server}/spaces/README.md does not allow`

it("an import that the line does not name", async () => {
  expect(await faultsOf("`store`.", rights)).toEqual([unsaid(`${server}/access/Rights.ts`)])
  expect(await faultsOf("`store`.", `const it = await import("../access/Rights.ts")`)).toHaveLength(1)
  expect(await faultsOf("`store`.", `export * from "../access/Rights.ts"`)).toHaveLength(1)
  expect(await faultsOf("`store`.", `import {\n  rights,\n} from "../access/Rights.ts"`)).toHaveLength(1)
  expect(await faultsOf("`store`.", `import pg from "pg"`)).toEqual([unsaid("pg")])
})

it("a room, a folder, a file with or without its ending, and a phrase for all rooms", async () => {
  for (const name of [
    "`access`",
    "`access/`",
    "`../access`",
    "`access/Rights.ts`",
    "`access/Rights`",
    "`server/src/access`",
  ])
    expect(await faultsOf(`\`store\`, ${name}.`, rights)).toEqual([])
  expect(await faultsOf("the rooms below.", rights)).toEqual([])
  expect(await faultsOf("`store`, access.", rights)).toHaveLength(1)
})

it("types of a folder are not its values", async () => {
  expect(await faultsOf("`store`, types of `access`.", `import type { Right } from "../access/Rights.ts"`)).toEqual([])
  expect(await faultsOf("`store`, types of `access`.", rights)).toContain(unsaid(`${server}/access/Rights.ts`))
})

it("what one file also may, another may not", async () => {
  expect(await faultsOf("`store`; `other.ts` also `access`.", rights)).toEqual([])
  expect(await faultsOf("`store`; `find.ts` and `Spaces.ts` also `access`.", rights)).toContain(
    unsaid(`${server}/access/Rights.ts`),
  )
  expect(await faultsOf("`store`; `gone.ts` also `access`.", rights)).toEqual([
    unsaid(`${server}/access/Rights.ts`),
    `${server}/spaces/README.md: may use access, but nothing in the folder imports it`,
  ])
})

it("a package holds for the folders below, unless their line begins with nothing; Node and effect need no word", async () => {
  const free = [
    `import { Effect } from "effect"`,
    `import { join } from "node:path"`,
    `import { find } from "./find.ts"`,
  ]
  expect(await faultsOf("`store`.", `import { Ids } from "@stoa/contract"`, ...free)).toEqual([])
  expect(await faultsOf("nothing but `store`.", ...free)).toEqual([
    `${server}/spaces/Spaces.ts: imports @stoa/contract, which ${server}/spaces/README.md does not allow`,
  ])
})

it("a name that leads nowhere, and one that nothing in the folder imports", async () => {
  expect(await faultsOf("`store`, `acess`, `access`, `pg`.")).toEqual([
    `${server}/spaces/README.md: may use acess, which is nowhere`,
    `${server}/spaces/README.md: may use access, but nothing in the folder imports it`,
    `${server}/spaces/README.md: may use pg, which is nowhere`,
  ])
})

it("tests and scripts: any source and package, test/ and what is above them, but kits of other folders only if named", async () => {
  const test = "packages/server/test"
  const { faults } = await imports(
    house({
      [`${test}/kit.ts`]: "export {}\n",
      [`${test}/calls/callsKit.ts`]: "export {}\n",
      "test/pause.ts": "export {}\n",
      [`${test}/spaces/README.md`]: "- **May use**: every room, `../kit.ts`.\n",
      [`${test}/spaces/spaces.test.ts`]: [
        "vitest",
        "../../src/spaces/find.ts",
        "../kit.ts",
        "../../../../test/pause.ts",
        "../calls/callsKit.ts",
      ]
        .map((path) => `import "${path}"\n`)
        .join(""),
    }),
  )
  expect(faults).toEqual([
    `${test}/spaces/spaces.test.ts: imports ${test}/calls/callsKit.ts, which ${test}/spaces/README.md does not allow`,
  ])
})
