/** `stoa memory` as a person gives it, against a real house. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())
const stoa = (...args: ReadonlyArray<string>) => home.stoa(...args)

it("a note is written, asked for, changed, looked up in its history, brought back, shared and deleted", async () => {
  await house.admin.principals.add({ kind: "agent", name: "Pam" })
  const set = await stoa("memory", "set", "trip/1", "we bought a blue tent in Oslo", "--tag", "travel", "--json")
  const { id } = JSON.parse(set.stdout) as { readonly id: string }
  expect(JSON.parse(set.stdout)).toMatchObject({ kind: "note", key: "trip/1", version: 1, tags: ["travel"] })
  const found = await stoa("memory", "search", "where did we buy the tent?")
  expect(found.stdout).toMatch(new RegExp(`^${id} +trip/1 +\\S*buy\\S* +we bought a blue tent in Oslo$`, "m"))
  expect(await stoa("memory", "edit", id, "we bought a red tent", "--version", "1")).toMatchObject({ code: 0 })
  expect(await stoa("memory", "edit", id, "late", "--version", "1")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/at version 2, not 1.* write with --version 2\./),
  })
  expect((await stoa("memory", "history", id)).stdout).toMatch(
    /^2 .*admin.*red tent\n1 .*admin.*travel +we bought a blue/m,
  )
  expect((await stoa("memory", "revert", id, "1")).stdout).toBe(`${id}  version 3\n`)
  expect(await stoa("memory", "show", id)).toMatchObject({ stdout: "we bought a blue tent in Oslo\n" })
  expect(await stoa("memory", "share", id, "Pam")).toMatchObject({
    code: 0,
    stderr: `${id} is shared with Pam to read: an offer until they take it, unless you administer them\n`,
  })
  expect((await house.admin.memory.shares(id)).items).toMatchObject([{ right: "read", state: "taken" }])
  const bot = await house.admin.principals.add({ kind: "agent", name: "Bot" })
  await house.admin.memory.share(id, bot.id, { right: "read" })
  expect((await stoa("memory", "offers", "--for", "Bot", "--state", "taken")).stdout).toMatch(
    new RegExp(`^${id} +admin `, "m"),
  )
  expect(await stoa("memory", "decline", id, "--for", "Bot")).toMatchObject({ code: 0, stderr: `${id} is declined\n` })
  expect((await stoa("memory", "offers", "--for", "Bot", "--state", "declined")).stdout).toContain(id)
  expect(await stoa("memory", "take", id, "--for", "Bot")).toMatchObject({ code: 0, stderr: `${id} is taken\n` })
  expect((await stoa("memory", "offers")).stdout).not.toContain(id)
  expect(await stoa("memory", "rm", id)).toMatchObject({ code: 0 })
  expect(await stoa("memory", "show", id)).toMatchObject({ code: 2, stderr: expect.stringMatching(/stoa memory ls/) })
  expect((await stoa("memory", "restore", id)).stdout).toBe(`${id}  version 4\n`)
  expect((await stoa("memory", "ls", "--kind", "note", "--json")).stdout).toContain(id)
  expect((await stoa("memory", "embedding")).stdout).toMatch(/^off: a search compares words only/)
  expect(JSON.parse((await stoa("memory", "embedding", "--json")).stdout)).toMatchObject({ state: "off", model: null })
}, 120_000)

it("a folder is edited by hand and brought back; what cannot be read is named by its file", async () => {
  const folder = join(home.folder, "notes")
  await stoa("memory", "set", "garden/1", "beans", "--tag", "green")
  await stoa("memory", "export", folder, "--markdown")
  const name = readdirSync(join(folder, "stoa", "note")).find((file) => file.startsWith("garden-1"))!
  const file = join(folder, "stoa", "note", name)
  const edited = readFileSync(file, "utf8")
    .replace('tags: ["green"]', "tags:\n  - green\n  - bed")
    .replace("beans", "peas")
  writeFileSync(file, edited.replaceAll("\n", "\r\n"))
  mkdirSync(join(folder, "mine"))
  writeFileSync(join(folder, "mine", "idea.md"), "---\nkind: two words\n---\nPlant more.\n")
  expect(await stoa("memory", "import", folder)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/mine\/idea\.md: kind: must be a word of at most 64/),
  })
  writeFileSync(join(folder, "mine", "idea.md"), "---\nkind: idea\n---\nPlant more.\n")
  expect((await stoa("memory", "import", folder)).stdout).toMatch(/^2 written/)
  const whole = join(home.folder, "mine.jsonl")
  expect(await stoa("memory", "export", whole)).toMatchObject({ code: 0 })
  expect(await stoa("memory", "export", whole)).toMatchObject({
    code: 2,
    stderr: `stoa: ${whole} already exists. Give the name of a new file.\n`,
  })
  const { items } = await house.admin.memory.list({ q: "peas" })
  expect(items[0]).toMatchObject({ key: "garden/1", content: "peas", tags: ["green", "bed"], version: 2 })
}, 120_000)

it("a text may begin with @: @@ says so, and @ alone reads a file that is there", async () => {
  const text = join(home.folder, "a note.txt")
  writeFileSync(text, "from a file\n")
  const shown = async (...given: ReadonlyArray<string>) => {
    const { code, stdout } = await stoa("memory", "set", "at/1", ...given, "--json")
    expect(code).toBe(0)
    return (JSON.parse(stdout) as { readonly content: string }).content
  }
  expect(await shown("@@pam asked")).toBe("@pam asked")
  expect(await shown("@@@twice")).toBe("@@twice")
  expect(await shown(`@${text}`)).toBe("from a file")
  expect(await stoa("memory", "set", "at/1", "@pam asked")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^stoa: There is no file "pam asked": .*begins with @, write @@\.\n$/),
  })
}, 60_000)
