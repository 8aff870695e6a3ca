/** How the house starts, refuses to start, and stops: real processes, real signals. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs"
import { connect as dial, createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { connect } from "@stoa/sdk"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { tempDatabase } from "../../../server/test/stores.ts"
import { Home, type House } from "../kit/home.ts"

const homes: Array<Home> = []
const newHome = (env?: Record<string, string>) => {
  const home = new Home(env)
  homes.push(home)
  return home
}
afterAll(() => Promise.all(homes.map((home) => home.remove())))

/** The addresses on which a process listens, as the kernel has them. */
const listening = (pid: number): ReadonlyArray<string> => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    ),
  )
  return ["tcp", "tcp6"].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && sockets.has(inode ?? ""))
      .map(([, local]) => {
        const [address = "", port = ""] = local!.split(":")
        const bytes = address.match(/../g)!.map((hex) => Number.parseInt(hex, 16))
        return `${family === "tcp" ? bytes.toReversed().join(".") : address}:${Number.parseInt(port, 16)}`
      }),
  )
}
const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

const headers = (token: string) => ({ authorization: `Bearer ${token}` })

describe("a first and a second start", () => {
  const home = newHome({ STOA_LOG: "info" })
  let house: House
  beforeAll(async () => {
    house = await home.start()
  })

  it("prints the address, the time it took, and a sign-in link that works", async () => {
    const [first, second, ...rest] = house.process.stdout.split("\n")
    expect(first).toMatch(/^Stoa is at http:\/\/127\.0\.0\.1:\d+ {2}\(ready in \d+ ms, data in \/.*\/data\)$/)
    expect(second).toBe(`Sign in, shown this once: ${house.url}/#token=${house.token}`)
    expect(rest).toEqual([""])
    expect(Number(/ready in (\d+) ms/.exec(first!)![1])).toBeGreaterThan(0)
    expect(await house.admin.principals.me()).toMatchObject({ name: "admin", roles: ["admin"] })
    expect(await (await fetch(`${house.url}/readyz`)).json()).toEqual({ status: "ok" })
  })

  it("keeps what it made to itself", () => {
    expect(statSync(home.data).mode & 0o777).toBe(0o700)
    for (const name of ["admin.token", "secret.key", "stoa.db", "address"])
      expect([name, statSync(join(home.data, name)).mode & 0o077]).toEqual([name, 0])
    expect(house.process.stderr).not.toContain(house.token)
  })

  it("G-44 S2-83 listens on loopback alone, and on one port, unless it is told otherwise", () => {
    expect(listening(house.process.child.pid!)).toEqual([`127.0.0.1:${house.port}`])
  })

  it("S3-72 a second process on the folder is refused at once, by the owner's pid", async () => {
    const second = await home.stoa("serve")
    expect(second).toMatchObject({ code: 2, stdout: "" })
    expect(second.stderr).toMatch(new RegExp(`^stoa: Another Stoa \\(process ${house.process.child.pid}\\) .*\\n$`))
    expect(await house.admin.health.alive()).toEqual({ status: "ok" })
  })

  it("a port that is taken is refused with the setting to change", async () => {
    const other = newHome({ STOA_PORT: String(house.port) })
    const ended = await other.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^stoa: .*STOA_PORT.*\n$/) })
    expect(ended.stderr).toContain(String(house.port))
  })

  it("SIGHUP reloads the file, and a faulty one changes nothing and is logged", async () => {
    home.configure({ agents: [{ name: "Hung" }] })
    house.process.child.kill("SIGHUP")
    await house.process.said(/Configuration reloaded/, "stderr")
    expect(await house.admin.principals.get("Hung")).toMatchObject({ source: "file" })
    home.configure({ agents: [{ nome: "Faulty" }] })
    house.process.child.kill("SIGHUP")
    await house.process.said(/was not applied, and nothing has changed/, "stderr")
    expect(await house.admin.principals.get("Hung")).toMatchObject({ retiredAt: null })
    home.configure({})
  })

  it("SIGTERM lets a running request finish, tells streams why, and exits 0", async () => {
    const stream = await fetch(`${house.url}/api/v1/events`, { headers: headers(house.token) })
    const body = JSON.stringify({ kind: "agent", name: "Late" })
    const upload = dial(house.port, "127.0.0.1").setEncoding("utf8")
    let answer = ""
    const heard = (pattern: RegExp) =>
      new Promise<void>((done, fail) => {
        const look = () => pattern.test(answer) && done()
        upload.on("data", (text: string) => ((answer += text), look()))
        upload.on("close", () => fail(new Error(`closed after: ${answer}`)))
        look()
      })
    // 100 Continue says that the house has begun to answer.
    const head = ["POST /api/v1/principals HTTP/1.1", `Host: 127.0.0.1:${house.port}`, "Expect: 100-continue"]
    const fields = [
      `Authorization: Bearer ${house.token}`,
      `Content-Length: ${body.length}`,
      "Content-Type: application/json",
    ]
    upload.write(`${[...head, ...fields].join("\r\n")}\r\n\r\n`)
    await heard(/100 Continue/)
    upload.write(body.slice(0, 10))
    house.process.child.kill("SIGTERM")
    await house.process.said(/SIGTERM: finishing running requests/, "stderr")
    const told = await stream.text()
    expect(told).toMatch(/event: close\ndata: \{"reason":"the house is closing; connect again shortly"\}\n\n$/)
    // Whoever asks meanwhile is told, not turned away at the socket.
    const ready = await fetch(`${house.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([503, { status: "draining" }])
    const late = await fetch(`${house.url}/api/v1/me`, { headers: headers(house.token) })
    expect([late.status, await late.json()]).toMatchObject([503, { tag: "Unavailable" }])
    // A second one, as npm and a terminal send it, must not cut the closing short.
    house.process.child.kill("SIGTERM")
    house.process.child.kill("SIGINT")
    upload.write(body.slice(10))
    await heard(/HTTP\/1\.1 201 [\s\S]*"name":"Late"/)
    upload.end()
    expect(await house.process.ended).toMatchObject({ code: 0, signal: null })
    await expect(fetch(`${house.url}/healthz`)).rejects.toThrow("fetch failed")
  })

  it("a second start has everything, shows no link, and says how to get one", async () => {
    house = await home.start()
    expect(await house.admin.principals.get("Late")).toMatchObject({ kind: "agent" })
    expect(house.process.stdout).not.toContain(house.token)
    expect(house.process.stdout).toMatch(/^Stoa is at .*\nFor a sign-in link run: npx stoa login\n$/)
    expect(await house.process.signal("SIGINT")).toMatchObject({ code: 0, signal: null })
  })

  it("a database that is newer than the program is refused and left alone", async () => {
    const file = join(home.data, "stoa.db")
    const database = new DatabaseSync(file)
    database.exec("INSERT INTO migrations (migration_id, name) VALUES (999, 'future')")
    database.close()
    const before = readFileSync(file)
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(
      /^stoa: The database is at version 999, this program knows \d+\. Run a newer Stoa.*\n$/,
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe("what is refused at the start: exit 2, one sentence, nothing made", () => {
  const refusals: ReadonlyArray<readonly [string, Record<string, string>, RegExp]> = [
    ["an unknown setting", { STOA_FOO: "1" }, /There is no setting STOA_FOO\. The settings are: STOA_HOST,/],
    ["a port that is none", { STOA_PORT: "many" }, /STOA_PORT is not valid\./],
    ["a port out of range", { STOA_PORT: "70000" }, /STOA_PORT must be a number from 0 to 65535\./],
    ["calls kept for no time", { STOA_CALLS_DAYS: "0" }, /STOA_CALLS_DAYS must be a number of days from 1 to 36500\./],
    ["a short admin token", { STOA_ADMIN_TOKEN: "short" }, /STOA_ADMIN_TOKEN has fewer than 16 characters\./],
    [
      "anonymous off loopback",
      { STOA_ANONYMOUS: "guest", STOA_HOST: "0.0.0.0" },
      /STOA_ANONYMOUS works on loopback only/,
    ],
    [
      "no Postgres address, with the hint in full",
      { DATABASE_URL: "mysql://x/y" },
      /DATABASE_URL is not a Postgres address\. Give postgres:\/\/HOST\/DATABASE, with USER:PASSWORD@ before HOST,/,
    ],
    [
      "a Postgres address that cannot be read",
      { DATABASE_URL: ["postgres://who", "pass#planted@127.0.0.1/house"].join(":") },
      /DATABASE_URL cannot be read as an address\..* write # as %23(?!.*planted)/,
    ],
    ["no public address", { STOA_PUBLIC_URL: "house" }, /STOA_PUBLIC_URL is not an address\./],
    ["an unknown log level", { STOA_LOG: "loud" }, /STOA_LOG is not valid\./],
  ]
  it.concurrent.for(refusals)("G-44 %s", async ([, env, words], { expect }) => {
    const home = newHome()
    const ended = await home.spawn(["serve"], { env }).ended
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(new RegExp(`^stoa: ${words.source}[^\\n]*\\n$`))
    expect(readdirSync(home.folder)).toEqual(["stoa.config.json"])
  })

  it("a command in the reason is named as it is typed in a checkout", async () => {
    for (const npm_command of ["exec", "run-script"]) {
      const env = { STOA_ANONYMOUS: "ghost", npm_command }
      const ended = await newHome().spawn(["serve"], { env }).ended
      expect(ended).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('add it with "npx stoa people add ghost"'),
      })
    }
  })

  it("a folder of somebody else's, which is left untouched", async () => {
    const home = newHome()
    mkdirSync(home.data, { mode: 0o755 })
    writeFileSync(join(home.data, "thesis.txt"), "years of work")
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^stoa: \S+ has files in it but is not a Stoa data folder\. Set STOA_DATA .*\n$/)
    expect(readdirSync(home.data)).toEqual(["thesis.txt"])
    expect(statSync(home.data).mode & 0o777).toBe(0o755)
  })

  it("a file in the folder's place", async () => {
    const home = newHome()
    writeFileSync(home.data, "not a folder")
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^stoa: The data folder \S+ cannot be used: [^\n]*STOA_DATA\.\n$/)
    expect(readFileSync(home.data, "utf8")).toBe("not a folder")
  })

  it("a database that is no database", async () => {
    const home = newHome()
    // Stopped the moment it told its address: that is a clean stop too.
    expect(await (await home.start()).stop()).toMatchObject({ code: 0, signal: null })
    writeFileSync(join(home.data, "stoa.db"), "not a database, but long enough to look at".repeat(100))
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^stoa: The database \S+ cannot be opened\.[^\n]*stoa restore[^\n]*\n$/)
  })

  it("G-44 a faulty configuration file, named with the path of its fault; the next start is as if it had not been", async () => {
    const home = newHome()
    home.configure({ agents: [{ name: "Fine" }, { name: "Bad", roles: ["king"] }] })
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^stoa: \S+stoa\.config\.json was not applied[^\n]*agents\.1\.roles\.0: [^\n]*\n$/)
    home.configure({})
    const house = await home.start()
    expect((await house.admin.principals.agents()).items).toEqual([])
    // The first start ended before it could be shown.
    expect(house.process.stdout).toContain(`Sign in, shown this once: ${house.url}/#token=${house.token}`)
    await house.stop()
  })

  it("a configuration file against what was set at run time, with advice that helps while the house is down", async () => {
    const home = newHome()
    const house = await home.start()
    await house.admin.allowLists.set("office", "agent", { tools: ["do_nothing"] })
    await house.stop()
    home.configure({ allowLists: { office: { agent: ["send_message"] } } })
    const ended = await home.stoa("serve")
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(
      /allowLists\.office\.agent: this list was set at run time and stays as it is; remove it from this file\. [^\n]*while the house runs without that line/,
    )
    home.configure({ agents: [{ name: "Bot", owner: "Nobody" }] })
    const orphan = await home.stoa("serve")
    expect(orphan).toMatchObject({ code: 2, stdout: "" })
    expect(orphan.stderr).toMatch(/there is no principal "Nobody"; declare it here too\.\n$/)
    // The advice, followed.
    home.configure({})
    await (await home.start()).stop()
  }, 60_000)

  it("a house may run without a configuration file; a reload says that there is none, with its path", async () => {
    const home = newHome({ STOA_CONFIG: "stoa.config.json" })
    rmSync(home.config)
    const house = await home.start()
    expect(house.process.stderr).not.toContain("stoa.config.json")
    const reloaded = await home.stoa("reload")
    expect(reloaded).toMatchObject({ code: 0, stdout: "stoa.config.json: nothing has changed\n" })
    expect(reloaded.stderr).toMatch(/There is no \/\S+\/stoa\.config\.json, and a house may run without one/)
    await house.stop()
  }, 60_000)

  it("a configuration file that was named and is not there", async () => {
    const home = newHome()
    const ended = await home.spawn(["serve"], { env: { STOA_CONFIG: join(home.folder, "none.json") } }).ended
    expect(ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^stoa: [^\n]*none\.json[^\n]*\n$/),
    })
  })

  it("a Postgres that is not there, or does not speak, within seconds", async () => {
    const mute = createServer()
    await new Promise<void>((done) => mute.listen(0, "127.0.0.1", done))
    const { port } = mute.address() as AddressInfo
    const planted = ["postgres://who", "pass-planted"].join(":")
    const began = performance.now()
    const ended = await Promise.all([
      newHome({ DATABASE_URL: `${planted}@127.0.0.1:1/house` }).stoa("serve"),
      newHome({ DATABASE_URL: `${planted}@127.0.0.1:${port}/house` }).stoa("serve"),
      // A user without a password, named as the database is: no secret.
      newHome({ DATABASE_URL: "postgres://house@127.0.0.1:1/house" }).stoa("serve"),
    ])
    for (const { code, stderr, stdout } of ended) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toMatch(
        /^stoa: postgres:\/\/127\.0\.0\.1:\d+\/house cannot be reached: [^\n]*DATABASE_URL[^\n]*\n$/,
      )
      expect(stderr).not.toContain("pass-planted")
    }
    expect(performance.now() - began).toBeLessThan(20_000)
    // Nor need anybody wait for it: a start can be called off.
    const starting = newHome({ DATABASE_URL: `postgres://who@127.0.0.1:${port}/house` }).spawn(["serve"])
    await new Promise((done) => mute.once("connection", done))
    expect(await starting.signal("SIGTERM")).toMatchObject({ code: 0, signal: null, stdout: "" })
    mute.close()
  })
})

/** What anybody does with a house, over two lives of it. */
const story = async (home: Home) => {
  const first = await home.start()
  const pam = await first.admin.principals.add({ kind: "agent", name: "Pam" })
  const { token } = await first.admin.tokens.add({ principal: "Pam" })
  expect(await first.stop()).toMatchObject({ code: 0 })
  const second = await home.start()
  expect(await connect({ url: second.url, token }).principals.me()).toEqual(pam)
  const kinds: Array<string> = []
  for await (const item of second.admin.feed({ after: 0 })) {
    if (item.type === "event") kinds.push(item.event.kind)
    if (kinds.filter((kind) => kind === "house.started").length === 2) break
  }
  expect(kinds).toEqual(expect.arrayContaining(["principal.added", "token.issued"]))
  const report = await home.stoa("doctor", "--json")
  expect(report).toMatchObject({ code: 0 })
  expect(JSON.parse(report.stdout)).toMatchObject({ findings: expect.arrayContaining([expect.anything()]) })
  return { second, report: report.stdout }
}

describe("on Postgres", () => {
  it("the same story passes, and the database's password is shown nowhere", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(tempDatabase, ({ name, url }) =>
          Effect.promise(async () => {
            const home = newHome({ DATABASE_URL: Redacted.value(url) })
            const { report, second } = await story(home)
            expect(report).toContain(`/${name}`)
            expect(report).toMatch(/postgres \d+/)
            const { password } = new URL(Redacted.value(url))
            const shown = report + second.process.stdout + second.process.stderr
            expect(password === "" || !shown.includes(password)).toBe(true)
            // One folder, one house, on Postgres too.
            expect(await home.stoa("serve")).toMatchObject({ code: 2 })
            expect(await second.stop()).toMatchObject({ code: 0 })
          }),
        ),
      ),
    ))
})

describe("kill -9 amid writes", () => {
  it("everything acknowledged is there, and a retry under the same key finds the first", async () => {
    const home = newHome()
    const before = await home.start()
    const acknowledged = new Map<string, string>()
    const cut = new Set<string>()
    let made = 0
    const write = (house: House, name: string) =>
      house.admin.principals.add({ kind: "agent", name }, { idempotencyKey: `key-${name}` })
    const writer = async () => {
      for (;;) {
        const name = `Agent ${made++}`
        try {
          acknowledged.set(name, (await write(before, name)).id)
        } catch {
          cut.add(name)
          return
        }
        if (acknowledged.size === 40) void before.kill()
      }
    }
    await Promise.all(Array.from({ length: 12 }, writer))
    await before.process.ended
    expect(acknowledged.size).toBeGreaterThanOrEqual(40)
    expect(cut.size).toBe(12)
    const after = await home.restart(before)
    for (const [name, id] of acknowledged) expect(await after.admin.principals.get(name)).toMatchObject({ id, name })
    for (const name of cut) {
      const found = await write(after, name)
      expect(await write(after, name)).toEqual(found)
    }
    const all: Array<string> = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await after.admin.principals.agents({ limit: 100, ...(cursor === undefined ? {} : { cursor }) })
      all.push(...page.items.map(({ name }) => name))
      cursor = page.next
    }
    expect(all.toSorted()).toEqual([...acknowledged.keys(), ...cut].toSorted())
    expect(await home.stoa("doctor")).toMatchObject({ code: 0 })
    await after.stop()
  })
})

describe("npm start", () => {
  it("a house that npm started ends with npm, though npm's shell passes no signal on", async () => {
    const home = newHome()
    const root = fileURLToPath(new URL("../../../..", import.meta.url))
    const npm = spawn("npm", ["start", "--silent"], {
      cwd: root,
      env: { ...process.env, STOA_DATA: home.data, STOA_PORT: "0", STOA_DEMO: "off" },
      stdio: ["ignore", "pipe", "ignore"],
    })
    let said = ""
    await new Promise<void>((found) =>
      npm.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (/Stoa is at/.test((said += text))) found()
      }),
    )
    npm.kill("SIGTERM")
    // Its end of the pipe closes when the last process that holds it is gone: npm, the shell, the launcher, the house.
    await once(npm, "close")
    await expect(fetch(/Stoa is at (\S+)/.exec(said)![1]!)).rejects.toThrow("fetch failed")
  })
})
