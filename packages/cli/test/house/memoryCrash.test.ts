/** kill -9 in the middle: an import is whole or can be done again, an erasure and embedding go on by themselves, a plan is due once. */
import { afterAll, describe, expect, inject, it } from "vitest"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import pg from "pg"
import { embeddingConfig, startEmbedder } from "../../../../test/embedder.ts"
import { databases } from "../../../../test/long.ts"
import { Home, type House } from "../kit/home.ts"

const countOf = async (house: House): Promise<number> =>
  (await house.admin.memory.erase({ confirm: "admin", dryRun: true })).erased

/** Until it is so, or the test's time is over. A house that is asked without a pause does nothing else. */
const until = async (so: () => Promise<boolean>, pauseMs = 5): Promise<void> => {
  while (!(await so())) await new Promise((next) => setTimeout(next, pauseMs))
}

const asked = async (url: string, statement: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rowCount } = await client.query(statement)
  await client.end()
  return rowCount ?? 0
}

/** A database of its own, and nothing of a dead house on its way into it. */
const postgres = () => {
  const name = `test_memory_${process.pid}`
  const main = inject("databaseUrl")
  const url = main.replace(/\/postgres$/, `/${name}`)
  return {
    env: { DATABASE_URL: url },
    open: () => asked(main, `CREATE DATABASE ${name}`),
    quiet: () =>
      until(async () => (await asked(main, `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}'`)) === 0),
    close: () => asked(main, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}
const sqlite = () => ({
  env: {},
  open: () => Promise.resolve(0),
  quiet: () => Promise.resolve(),
  close: () => Promise.resolve(0),
})

const lines = Array.from({ length: 600 }, (_, n) => ({
  kind: "note",
  key: `talk/${n}`,
  content: `turn ${n} of many`,
}))
const fill = async (house: House, many = lines.length): Promise<void> => {
  for (let from = 0; from < many; from += 200) await house.admin.memory.import({ lines: lines.slice(from, from + 200) })
}

for (const store of databases)
  describe(`killed on ${store}`, () => {
    const database = { sqlite, postgres }[store]()
    const home = new Home(database.env)
    afterAll(async () => {
      await home.remove()
      await database.close()
    })
    let opened = false
    const start = async (): Promise<House> => {
      if (!opened) await database.open()
      opened = true
      return home.start()
    }
    const killed = async (house: House): Promise<House> => {
      await house.kill()
      await database.quiet()
      return home.restart(house)
    }

    it("G-21 S1-60 kill -9 during import and erase loses nothing and leaves nothing half; a plan that was due meanwhile fires once", async () => {
      let house = await start()
      await fill(house)
      const file = join(home.folder, "mine.jsonl")
      expect(await home.stoa("memory", "export", file)).toMatchObject({ code: 0 })
      const before = readFileSync(file, "utf8")
      expect(before.split("\n")).toHaveLength(601)

      // Erased to a part when it is killed; the next start goes on.
      const erasing = house.admin.memory.erase({ confirm: "admin" }).catch(() => undefined)
      await until(async () => (await countOf(house)) < 600)
      house = await killed(house)
      await erasing
      await until(async () => (await countOf(house)) === 0)

      // Imported to a part when it is killed; done again it is whole.
      const importing = home.stoa("memory", "import", file)
      await until(async () => (await countOf(house)) > 0)
      await house.kill()
      await importing
      await database.quiet()
      house = await home.restart(house)
      expect((await countOf(house)) % 200).toBe(0)
      expect(await home.stoa("memory", "import", file)).toMatchObject({ code: 0 })
      const again = join(home.folder, "again.jsonl")
      expect(await home.stoa("memory", "export", again)).toMatchObject({ code: 0 })
      expect(readFileSync(again, "utf8")).toBe(before)

      // Due while there is no house.
      const { admin } = house
      await admin.principals.add({ kind: "agent", name: "planner", toolsets: ["gateway"] })
      const { token } = await admin.tokens.add({ principal: "planner" })
      const plan = { name: "soon", instruction: "look", runAfter: "1 second" }
      const answer = await fetch(new URL("/api/v1/tools/set_plans/call", house.url), {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ input: { plans: [plan] } }),
      })
      expect(await answer.json()).toMatchObject({ state: "done" })
      house = await killed(house)
      const fired: Array<unknown> = []
      const seen = new AbortController()
      for await (const item of house.admin.feed({ after: 0, signal: seen.signal }))
        if (item.type === "event" && item.name === "timer.fired" && JSON.stringify(item.event).includes('"plan"')) {
          fired.push(item.event)
          break
        }
      house = await killed(house)
      const mark = await house.admin.memory.put({ kind: "note", key: "mark", content: "x" })
      for await (const item of house.admin.feed({ after: 0 })) {
        if (item.type !== "event") continue
        const told = JSON.stringify(item.event)
        if (item.name === "timer.fired" && told.includes('"purpose":"plan"')) fired.push(told)
        if (told.includes(mark.id)) break
      }
      // Once when it was awaited, and the same once when all was read again.
      expect(fired).toHaveLength(2)
      await house.kill()
      await database.quiet()
    }, 400_000)

    it("kill -9 during embedding anew costs a batch: it goes on where it was, and then everything has the new model's vectors", async () => {
      const model = await startEmbedder()
      home.configure({ models: { embed: embeddingConfig(model.url, 64, "one") } })
      let house = await start()
      await house.admin.memory.erase({ confirm: "admin" })
      await fill(house, 400)
      const embedding = () => house.admin.memory.embedding()
      const ready = () => until(async () => (await embedding()).state === "ready", 50)
      await ready()
      expect(await embedding()).toMatchObject({ model: "embed", records: 400, embedded: 400, refused: 0 })
      const first = model.embedded()

      home.configure({ models: { embed: embeddingConfig(model.url, 96, "two") } })
      await house.admin.house.reload()
      for (let kills = 0; kills < 2; kills++) {
        const stood = (await embedding()).embedded
        await until(async () => (await embedding()).embedded > stood || (await embedding()).state === "ready")
        // The next batch is with the model when the house dies.
        model.hold()
        if ((await embedding()).state !== "ready") await model.held()
        const kept = (await embedding()).embedded
        house = await killed(house)
        expect((await embedding()).embedded).toBeGreaterThanOrEqual(kept)
        model.release()
      }
      await ready()
      expect(await embedding()).toMatchObject({ records: 400, embedded: 400 })
      // What was done is not done again: at most the batch in flight, at each kill.
      expect(model.embedded() - first).toBeLessThanOrEqual(400 + 2 * 128)
      await house.kill()
      await model.close()
    }, 400_000)
  })

describe("as a folder", () => {
  const home = new Home()
  afterAll(() => home.remove())

  it("memory goes into a folder of Markdown files, is edited there, and comes back", async () => {
    const folder = join(home.folder, "notes")
    const house = await home.start({ STOA_DATA: join(home.folder, "other") }).catch(() => undefined)
    expect(house).toBeDefined()
    const run = (...args: ReadonlyArray<string>) =>
      home.stoa(
        ...args,
        "--url",
        house!.url,
        "--token",
        readFileSync(join(home.folder, "other/admin.token"), "utf8").trim(),
      )
    expect(await run("memory", "set", "trip/../../plan", "by train\non Friday")).toMatchObject({ code: 0, stderr: "" })
    const { id } = JSON.parse((await run("memory", "ls", "--json")).stdout)[0] as { readonly id: string }
    expect(await run("memory", "export", folder, "--markdown")).toMatchObject({ code: 0 })
    const file = join(folder, `stoa/note/trip-plan--${id.slice(-12)}.md`)
    expect(existsSync(file)).toBe(true)
    expect(await run("memory", "import", folder)).toMatchObject({ stdout: "0 written, 1 were there already\n" })
    writeFileSync(file, readFileSync(file, "utf8").replace("Friday", "Saturday"))
    writeFileSync(join(folder, "by hand.md"), "a note without particulars\n")
    expect(await run("memory", "import", folder)).toMatchObject({ stdout: "2 written, 0 were there already\n" })
    expect((await run("memory", "diff", id)).stdout).toBe("  by train\n- on Friday\n+ on Saturday\n")
    expect((await run("memory", "search", "particulars", "--json")).stdout).toContain('"key":"by hand"')
    const asked = await run("memory", "erase")
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/2 records of admin would be erased/) })
    expect(await run("memory", "erase", "--confirm", "admin")).toMatchObject({
      code: 0,
      stdout: "2 records are erased\n",
    })
    await house!.kill()
  }, 300_000)
})
