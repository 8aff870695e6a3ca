/** A house whose disk is full, as a real process: it reads on, answers writes with 507, and goes on by itself. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeSync, openSync, closeSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, inject, it, vi } from "vitest"
import { newRequest } from "../../../server/test/mcp/mcpKit.ts"
import { askDatabase } from "../../../server/test/stores.ts"
import { Home, type House } from "../kit/home.ts"

interface Way {
  readonly name: string
  readonly start: () => Promise<House>
  readonly fill: (house: House) => Promise<void>
  readonly makeRoom: (house: House) => Promise<void>
  readonly home: Home
}

const homes: Array<Home> = []
const newHome = (env: Record<string, string> = {}) => {
  const home = new Home(env)
  homes.push(home)
  return home
}
afterAll(() => Promise.all(homes.map((home) => home.remove())))

/** The kernel refuses every write to a file of this process, as for a quota that is used up: needs no rights of root. */
const limitFiles = (house: House, bytes: number | "unlimited") =>
  void execFileSync("prlimit", ["--pid", String(house.process.child.pid), `--fsize=${bytes}:unlimited`])

const byLimit = (): Way => {
  const home = newHome()
  return {
    name: "sqlite, with a limit on files",
    home,
    start: () => home.start(),
    fill: async (house) => limitFiles(house, 0),
    makeRoom: async (house) => limitFiles(house, "unlimited"),
  }
}

/** A file system of 24 MB in a mount namespace of the house's own: it goes with the process, whatever happens here. */
const inNamespace = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c"]
const mounted = `mount -t tmpfs -o size=24m tmpfs "$STOA_DATA" && exec "$@"`
const canMount =
  spawnSync(inNamespace[0]!, [...inNamespace.slice(1), "mount -t tmpfs -o size=1m tmpfs /mnt"]).status === 0
if (!canMount) console.warn("no file system can be mounted here: full disks are tried with a limit on files only")

const byFileSystem = (): Way => {
  // Its folder is not seen from here, and the token that would be made in it neither.
  const home = newHome({ STOA_ADMIN_TOKEN: "the_admin_of_a_small_disk" })
  const main = join(import.meta.dirname, "../../bin/stoa.mjs")
  // Seen through the process, for nobody else has it mounted.
  const filler = (house: House) => join(`/proc/${house.process.child.pid}/root`, home.data, "filler")
  return {
    name: "sqlite, on a small file system",
    home,
    start: async () => {
      mkdirSync(home.data, { mode: 0o700 })
      const house = home.program(inNamespace[0]!, [
        ...inNamespace.slice(1),
        mounted,
        "sh",
        process.execPath,
        main,
        "serve",
      ])
      return home.waitForHouse(house)
    },
    fill: async (house) => {
      const file = openSync(filler(house), "w")
      try {
        for (let size = 1 << 20; size >= 1; size >>= 1) fillBy(file, Buffer.alloc(size, 1))
      } finally {
        closeSync(file)
      }
    },
    makeRoom: async (house) => rmSync(filler(house)),
  }
}

const fillBy = (file: number, bytes: Buffer) => {
  try {
    for (;;) if (writeSync(file, bytes) < bytes.length) return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
  }
}

let made = 0
/** Every table of the house answers as Postgres does when it cannot extend a file. */
const byPostgres = (): Way => {
  const name = `full_${process.pid}_${++made}`
  const url = inject("databaseUrl").replace(/\/postgres$/, `/${name}`)
  // One table after the other: held together, they and a transaction of the house would wait for each other.
  const each = (statement: string) => `DO $$ DECLARE t record; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP EXECUTE format('${statement}', t.tablename); COMMIT; END LOOP; END $$`
  const home = newHome({ DATABASE_URL: url })
  return {
    name: "postgres, that says 53100",
    home,
    start: async () => {
      await askDatabase(inject("databaseUrl"), `CREATE DATABASE ${name}`)
      return home.start()
    },
    fill: () =>
      askDatabase(
        url,
        `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
        each(
          "CREATE TRIGGER no_room BEFORE INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION no_room()",
        ),
      ),
    makeRoom: () => askDatabase(url, each("DROP TRIGGER no_room ON %I"), "DROP FUNCTION no_room"),
  }
}
afterAll(async () => {
  for (let n = 1; n <= made; n++)
    await askDatabase(inject("databaseUrl"), `DROP DATABASE IF EXISTS full_${process.pid}_${n} WITH (FORCE)`)
})

const call = async (house: House, method: string, path: string, body?: unknown, token = house.token) => {
  const answer = await fetch(new URL(path, house.url), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const type = answer.headers.get("content-type") ?? ""
  const text = await answer.text()
  return {
    status: answer.status,
    type,
    body: (/^application\/(?:problem\+)?json\b/.test(type) ? JSON.parse(text) : {}) as Record<string, unknown>,
  }
}

const mcp = (house: House, name: string) =>
  newRequest(`${house.url}/mcp`, house.token, "tools/call", { name, arguments: {} })

/** Every list and every page that needs no name, from the API's own description. */
const readsOf = async (house: House): Promise<ReadonlyArray<string>> => {
  const { body } = await call(house, "GET", "/openapi.json")
  const paths = body["paths"] as Record<string, Record<string, unknown>>
  const streams = /\/events$|\/host$/
  const plain = Object.keys(paths).filter((path) => "get" in paths[path]! && !path.includes("{") && !streams.test(path))
  return [...plain, "/", "/docs", "/openapi.json", "/healthz"]
}

const ways = [byLimit, ...(canMount ? [byFileSystem] : []), byPostgres].map((make) => make())

describe.each(ways)("G-29 a full disk: $name", (way) => {
  it(
    "writes answer 507, reads and refusals go on, and it is over when there is room",
    { timeout: 120_000 },
    async () => {
      const house = await way.start()
      const { home } = way
      const agent = await house.admin.principals.add({ kind: "agent", name: "reader" })
      const { token } = await house.admin.tokens.add({ principal: agent.id })
      const space = await house.admin.spaces.add({ name: "hall", kind: "public" })
      const tool = {
        name: "hello",
        description: "Says hello",
        inputSchema: { type: "object", properties: {} },
        executionType: "internal",
        execution: { output: { hello: "there" } },
      }
      expect((await call(house, "POST", "/api/v1/tools", tool)).status).toBe(201)
      expect((await call(house, "POST", `/api/v1/spaces/${space.id}/messages`, { text: "before" })).status).toBe(201)

      let nth = 0
      // New names each time: none of them is refused for having been tried before.
      const writes = () => {
        const name = `new${++nth}`
        return [
          ["POST", "/api/v1/principals", { kind: "agent", name }],
          ["POST", "/api/v1/tokens", { principal: "reader", label: name }],
          ["POST", "/api/v1/spaces", { name, kind: "public" }],
          ["POST", `/api/v1/spaces/${space.id}/messages`, { text: name }],
          ["PUT", `/api/v1/secrets/${name.toUpperCase()}`, { value: "a secret of some length" }],
          ["POST", "/api/v1/tools", { ...tool, name }],
          ["POST", "/api/v1/tools/hello/call", { input: {} }],
          [
            "POST",
            "/api/v1/grants",
            { principal: "reader", resource: `spaces/${name}`, actions: ["read"], effect: "allow" },
          ],
          ["POST", "/api/v1/pauses", { subject: "tools/hello", reason: name }],
        ] as const
      }
      const refusals = async () => [
        (await call(house, "GET", "/api/v1/principals", undefined, "stoa_wrong")).status,
        (await call(house, "POST", "/api/v1/principals", { kind: "agent", name: "nope" }, token)).status,
        (await call(house, "GET", "/api/v1/audit", undefined, token)).status,
        (await call(house, "GET", "/api/v1/principals/nobody")).status,
        (await call(house, "POST", "/api/v1/principals", {})).status,
        (await call(house, "GET", "/nowhere")).status,
      ]
      const reads = await readsOf(house)
      const readAll = async () => {
        const statuses: Array<readonly [string, number]> = []
        for (const path of reads) statuses.push([path, (await call(house, "GET", path)).status])
        return statuses
      }
      const [readBefore, refusedBefore] = [await readAll(), await refusals()]
      expect(refusedBefore).toEqual([401, 403, 403, 404, 400, 404])
      expect(reads.length).toBeGreaterThan(20)
      expect((await call(house, "GET", "/readyz")).body).toEqual({ status: "ok" })

      // It ends while there is no room to write that down.
      const waits = { input: { seconds: 2 }, wait: 0 }
      const began = performance.now()
      const waiting = await call(house, "POST", "/api/v1/tools/wait_for_messages/call", waits, token)
      expect(waiting.status).toBe(202)
      const waited = `/api/v1/calls/${String(waiting.body["id"])}`

      await way.fill(house)
      for (const [method, path, body] of writes()) {
        const answer = await call(house, method, path, body)
        expect([path, answer.status, answer.type]).toEqual([path, 507, "application/problem+json"])
        expect(answer.body).toMatchObject({ tag: "DiskFull", status: 507, type: "/docs/errors/DiskFull" })
      }
      expect((await mcp(house, "hello")).body.error).toMatchObject({
        code: -32603,
        data: { tag: "DiskFull", status: 507, type: "/docs/errors/DiskFull" },
      })
      expect(await call(house, "GET", "/readyz")).toMatchObject({ status: 200, body: { status: "ok", disk: "full" } })
      expect(await refusals()).toEqual(refusedBefore)
      // All at once: those that share a transaction hear the same.
      const together = await Promise.all(
        Array.from({ length: 20 }, () => call(house, "POST", `/api/v1/spaces/${space.id}/messages`, { text: "lost" })),
      )
      expect(new Set(together.map(({ status }) => status))).toEqual(new Set([507]))
      expect(await readAll()).toEqual(readBefore)
      const told = await call(house, "GET", "/api/v1/doctor")
      expect(told.body["findings"]).toContainEqual(expect.objectContaining({ check: "disk", state: "fail" }))

      await vi.waitUntil(() => performance.now() - began > 2500, { timeout: 5000 })
      expect((await call(house, "GET", waited)).body["state"]).toBe("running")

      await way.makeRoom(house)
      expect((await call(house, "GET", `${waited}?wait=20`)).body).toMatchObject({
        state: "done",
        output: { timedOut: true },
      })
      await vi.waitUntil(async () => (await call(house, "GET", "/readyz")).body["disk"] === undefined, {
        timeout: 20_000,
        interval: 100,
      })
      for (const [method, path, body] of writes().slice(0, -1)) {
        const { status } = await call(house, method, path, body)
        expect([path, status < 300]).toEqual([path, true])
      }
      expect((await mcp(house, "hello")).body.result).toMatchObject({ structuredContent: { hello: "there" } })
      // Nothing of what was refused is there.
      const { body } = await call(house, "GET", `/api/v1/spaces/${space.id}/messages`)
      const texts = (body["items"] as ReadonlyArray<{ text: string }>).map(({ text }) => text)
      expect(texts).toEqual(["before", "new2"])
      const after = await call(house, "GET", "/api/v1/doctor")
      const failed = (after.body["findings"] as ReadonlyArray<{ state: string }>).filter(
        ({ state }) => state === "fail",
      )
      expect(failed).toEqual([])
      await home.remove()
    },
  )
})

describe("a start on a full disk", () => {
  it(
    "is refused with a sentence, and the next one with room is as if it had not been",
    { timeout: 120_000 },
    async () => {
      const home = newHome()
      const main = join(import.meta.dirname, "../../bin/stoa.mjs")
      const tight = (blocks: number) =>
        home.program("/bin/sh", ["-c", `ulimit -f ${blocks}; exec "$@"`, "sh", process.execPath, main, "serve"]).ended
      for (const blocks of [0, 8, 64]) {
        const { code, stderr, stdout } = await tight(blocks)
        expect([blocks, code, stdout]).toEqual([blocks, 2, ""])
        expect(stderr.trim().split("\n").at(-1)).toMatch(/^stoa: The disk .* is full/)
      }
      const house = await home.start()
      expect(await house.admin.health.alive()).toEqual({ status: "ok" })
      await home.remove()
    },
  )
})
