/** Looking the house over, copying it, and bringing a copy back: while it runs and while it does not. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
  await house.admin.principals.add({ kind: "agent", name: "Kept" })
  await house.admin.secrets.set("KEPT", { value: "planted-secret" })
})
afterAll(() => home.remove())

interface Report {
  readonly findings: ReadonlyArray<{ readonly check: string; readonly state: string; readonly detail: string }>
}
const statesOf = (stdout: string) =>
  Object.fromEntries((JSON.parse(stdout) as Report).findings.map(({ check, state }) => [check, state]))
const inFile = (file: string) => join(home.folder, file)
const sentence = (words: RegExp) => expect.stringMatching(new RegExp(`^stoa: [^\\n]*${words.source}[^\\n]*\\n$`))

describe("while it runs", () => {
  it("doctor prints the HTTP object, or a line a check", async () => {
    const [json, words] = await Promise.all([home.stoa("doctor", "--json"), home.stoa("doctor")])
    expect(json).toMatchObject({ code: 0, stderr: "" })
    expect(Object.keys(JSON.parse(json.stdout) as object)).toEqual(["findings"])
    const states = statesOf(json.stdout)
    expect(Object.keys(states)).toEqual(
      expect.arrayContaining(["store", "schema", "integrity", "folder", "audit", "secrets"]),
    )
    expect(new Set(Object.values(states))).toEqual(new Set(["ok"]))
    expect(words).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok {4}store +sqlite [\d.]+ at .*\/stoa\.db$/m),
    })
    // Most events are not for most readers: the distance to the end is no fault, and nothing sounds like one.
    const readers = words.stdout.split("\n").filter((line) => /^\S+ +reader /.test(line))
    expect(readers.length).toBeGreaterThan(5)
    for (const line of readers)
      expect(line).toMatch(
        /^ok {4}reader \S+ +(up to date( \(its last event was \d+ of \d+\))?|\d+ events? to handle)$/,
      )
    expect(readers.some((line) => line.includes("up to date"))).toBe(true)
    const figures = await home.stoa("figures")
    expect(figures.stdout).toMatch(/^house .*, (every reader is up to date|\d+ events? to handle)$/m)
  })

  it("backup makes one file, says whether the key is inside, and never writes over one", async () => {
    const [without, withKey] = await Promise.all([
      home.stoa("backup", "without.db", "--json"),
      home.stoa("backup", "with.db", "--with-key"),
    ])
    expect(without).toMatchObject({
      code: 0,
      stdout: '{"file":"without.db","secretKey":false}\n',
      stderr: expect.stringMatching(/except the secret key: without STOA_SECRET_KEY or secret\.key of the data folder/),
    })
    expect(withKey).toMatchObject({
      code: 0,
      stdout: "with.db\n",
      stderr: expect.stringContaining("including the secret key"),
    })
    expect(statSync(inFile("without.db")).mode & 0o077).toBe(0)
    const key = readFileSync(join(home.data, "secret.key"), "utf8")
    const holds = (file: string, text: string) => readFileSync(inFile(file)).includes(text)
    expect([holds("without.db", key), holds("with.db", key)]).toEqual([false, true])
    expect([holds("without.db", "Kept"), holds("with.db", "planted-secret")]).toEqual([true, false])
    const before = readFileSync(inFile("without.db"))
    expect(await home.stoa("backup", "without.db")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: sentence(/without\.db already exists/),
    })
    expect(readFileSync(inFile("without.db")).equals(before)).toBe(true)
  })

  it("a copy that fails leaves no file that looks whole", async () => {
    const { items: before } = await house.admin.audit.list({ limit: 100 })
    const taken = before.filter(({ action }) => action.startsWith("back up")).length
    const [refused, nowhere] = await Promise.all([
      home.stoa("backup", "refused.db", "--token", "wrong"),
      home.stoa("backup", "no/such/folder.db"),
    ])
    expect(refused).toMatchObject({ code: 2, stdout: "" })
    expect(nowhere).toMatchObject({ code: 1, stdout: "", stderr: sentence(/could not be finished \(ENOENT/) })
    // Where no file can be written, no copy is taken, and none is recorded.
    const { items } = await house.admin.audit.list({ limit: 100 })
    expect(items.filter(({ action }) => action.startsWith("back up"))).toHaveLength(taken)
    // This one breaks off amid the bytes.
    const broken = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/vnd.sqlite3" })
      response.write("SQLite format 3", () => response.destroy())
    })
    await new Promise<void>((done) => broken.listen(0, "127.0.0.1", done))
    const { port } = broken.address() as AddressInfo
    expect(await home.stoa("backup", "broken.db", "--url", `http://127.0.0.1:${port}`)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: sentence(/The backup could not be finished \(.*\), and nothing of it was kept\./),
    })
    broken.close()
    expect(readdirSync(home.folder).filter((name) => /refused|broken|part/.test(name))).toEqual([])
  })

  it("a copy can be poured through stdout", async () => {
    const poured = home.spawn(["api", "house", "backup"])
    const chunks: Array<Buffer> = []
    poured.child.stdout!.setEncoding("latin1").on("data", (text: string) => chunks.push(Buffer.from(text, "latin1")))
    expect(await poured.ended).toMatchObject({ code: 0, stderr: "" })
    expect(Buffer.concat(chunks).subarray(0, 15).toString()).toBe("SQLite format 3")
  })

  it("restore is refused, by the pid", async () => {
    const ended = await home.stoa("restore", "without.db", "--replace")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(new RegExp(`^stoa: Another Stoa \\(process ${house.process.child.pid}\\)`))
    expect(await house.admin.principals.get("Kept")).toMatchObject({ name: "Kept" })
  })
})

describe("while it does not run", () => {
  const away = new Home()
  afterAll(() => away.remove())

  it("doctor and backup work where it lies", async () => {
    await house.stop()
    const report = await home.stoa("doctor", "--json")
    expect(report).toMatchObject({ code: 0, stderr: "" })
    expect(new Set(Object.values(statesOf(report.stdout)))).toEqual(new Set(["ok"]))
    expect(await home.stoa("backup", "offline.db")).toMatchObject({ code: 0, stdout: "offline.db\n" })
    expect(statSync(inFile("offline.db")).size).toBeGreaterThan(10_000)
  })

  it("another house that answers at the usual port is not taken for it, and is not sent its token", async () => {
    const elsewhere = new Home()
    const other = await elsewhere.start()
    const env = { STOA_PORT: String(other.port) }
    const report = await home.spawn(["doctor", "--json"], { env }).ended
    expect(report.code).toBe(0)
    expect(report.stdout).toContain(home.data)
    // Killed, it leaves its address behind; that no longer is a house.
    writeFileSync(join(home.data, "address"), `${other.url}\n`)
    writeFileSync(join(home.data, "pid"), "999999999\n")
    expect((await home.spawn(["doctor", "--json"], { env }).ended).stdout).toContain(home.data)
    expect((await home.spawn(["agents", "ls"], { env }).ended).stderr).toContain(
      "There is no token. Give --token or STOA_TOKEN;",
    )
    await other.stop()
    // With nobody at the usual port, its last address is named.
    const away = await home.spawn(["agents", "ls"], { env: { STOA_PORT: "1" } }).ended
    expect(away).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`its last address was ${other.url}. `),
    })
    await elsewhere.remove()
  })

  it("a changed audit row is found: exit 1, and the row is named", async () => {
    const database = new DatabaseSync(join(home.data, "stoa.db"))
    const { seq } = database.prepare("SELECT min(seq) + 2 AS seq FROM audit").get() as { seq: number }
    database.prepare("UPDATE audit SET action = 'harmless' WHERE seq = ?").run(seq)
    database.close()
    const [report, words] = [await home.stoa("doctor", "--json"), await home.stoa("doctor")]
    expect(report).toMatchObject({ code: 1, stderr: sentence(/The house has problems/) })
    expect(statesOf(report.stdout)).toMatchObject({ audit: "fail", integrity: "ok" })
    expect(words.code).toBe(1)
    expect(words.stdout).toMatch(new RegExp(`^fail {2}audit .*breaks at row ${seq}`, "m"))
  })

  it("restore brings everything back into an empty folder, with the key if it is inside", async () => {
    const done = await away.stoa("restore", inFile("with.db"))
    expect(done).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/\d+ rows of .* are restored\..*secret key is in place, in \S+secret\.key\./),
    })
    expect(done.stderr).toContain(join(away.data, "secret.key"))
    const back = await away.start()
    expect(await back.admin.principals.get("Kept")).toMatchObject({ kind: "agent" })
    expect((await back.admin.house.doctor()).findings.filter(({ state }) => state !== "ok")).toEqual([])
    await back.admin.principals.add({ kind: "agent", name: "Since" })
    // The trail goes on under the seal it came with.
    const { findings } = await back.admin.house.doctor()
    expect(findings.find(({ check }) => check === "audit")).toMatchObject({
      state: "ok",
      detail: expect.not.stringContaining("signed since"),
    })
    await back.stop()
  })

  it("a house restored from when a space had left its file starts with the file that has it again", async () => {
    const moved = new Home()
    try {
      moved.configure({ spaces: [{ name: "archive", kind: "public" }] })
      const first = await moved.start()
      const { id } = await first.admin.spaces.get("archive")
      await first.admin.spaces.post("archive", { text: "kept" })
      moved.configure({ spaces: [] })
      expect((await first.admin.house.reload()).retired).toEqual(["spaces/archive"])
      expect(await moved.stoa("backup", "retired.db")).toMatchObject({ code: 0 })
      await first.stop()
      expect(await moved.stoa("restore", "retired.db", "--replace")).toMatchObject({ code: 0 })
      moved.configure({ spaces: [{ name: "archive", kind: "public" }] })
      const back = await moved.start()
      expect(await back.admin.spaces.get("archive")).toMatchObject({ id, archivedAt: null })
      expect((await back.admin.spaces.messages("archive")).items.map(({ text }) => text)).toEqual(["kept"])
      await back.stop()
    } finally {
      await moved.remove()
    }
  }, 60_000)

  it("restore does not take the place of a house unasked, and keeps aside what was there", async () => {
    const unasked = await away.stoa("restore", inFile("without.db"))
    expect(unasked).toMatchObject({ code: 2, stdout: "", stderr: sentence(/--replace/) })
    const asked = await away.stoa("restore", inFile("without.db"), "--replace")
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringMatching(/What was there before is kept at (\S+)\./) })
    expect(asked.stderr).toContain(
      `has no secret key: before the next start, set STOA_SECRET_KEY to the key it was made under, or put that key into ${join(away.data, "secret.key")}.`,
    )
    const [, kept] = /kept at (\S+)\./.exec(asked.stderr)!
    expect(existsSync(kept!)).toBe(true)
    const back = await away.start()
    await expect(back.admin.principals.get("Since")).rejects.toMatchObject({ tag: "Missing" })
    await back.stop()
  })

  it("restore and doctor name both places of the secret key: the variable, and the file with its path", async () => {
    const file = join(away.data, "secret.key")
    const env = { STOA_SECRET_KEY: "another key, which is long enough" }
    const left = await away.spawn(["restore", inFile("with.db"), "--replace"], { env }).ended
    expect(left.stderr).toContain("STOA_SECRET_KEY is set, and is used.")
    expect(left.stderr).toContain(`unset STOA_SECRET_KEY and restore again: it is put into ${file}.`)
    const other = await away.spawn(["doctor"], { env }).ended
    expect(other.stdout).toMatch(/^fail {2}secrets /m)
    expect(other.stdout).toContain(
      `(STOA_SECRET_KEY or, if that is not set, ${file}), or set them again with "stoa secrets set`,
    )
    expect(other.stdout).toContain(`another secret key (STOA_SECRET_KEY or, if that is not set, ${file})`)
    const key = readFileSync(file, "utf8")
    rmSync(file)
    const none = await away.stoa("doctor")
    expect(none.stdout).toContain(`STOA_SECRET_KEY is not set, and there is no ${file}. Set the variable or restore`)
    const backup = await away.stoa("backup", inFile("keyless.db"), "--with-key")
    expect(backup.stderr).toContain(`STOA_SECRET_KEY is not set, and there is no ${file}. Set`)
    writeFileSync(file, key, { mode: 0o600 })
  })

  it("what is no backup is refused, and nothing is changed: a new folder gets no database", async () => {
    writeFileSync(inFile("noise.db"), "no backup".repeat(1000))
    const unused = new Home()
    expect(await unused.stoa("restore", inFile("noise.db"))).toMatchObject({ code: 2, stderr: sentence(/noise\.db/) })
    expect(readdirSync(unused.data).toSorted()).toEqual(["lock", "stoa.folder"])
    await unused.remove()
    const [noise, none] = [
      await away.stoa("restore", inFile("noise.db"), "--replace"),
      await away.stoa("restore", inFile("none.db"), "--replace"),
    ]
    expect(noise).toMatchObject({ code: 2, stdout: "", stderr: sentence(/noise\.db/) })
    expect(none).toMatchObject({ code: 2, stdout: "", stderr: sentence(/none\.db/) })
    const back = await away.start()
    expect(await back.admin.principals.get("Kept")).toMatchObject({ kind: "agent" })
    await back.stop()
  })
})
