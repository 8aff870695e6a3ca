/** Programs that will not go, and what they started: ended as a whole, whoever ends and however. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isProgramHere } from "../src/program/lookup.ts"
import { openProgram, Program, type ProgramOptions } from "../src/program/Program.ts"
import { until } from "./mcp/mcpKit.ts"

/** A dead process that nobody has asked after yet is dead all the same. */
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== "linux") return true
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}

/** Writes down the pids of itself and of what it has started, in a tree of three, and then does as it is told. */
const family = (leader: string, others: string): ReadonlyArray<string> => [
  "-c",
  `echo $$ >> "$LOG"
   ( ${others}; sh -c 'echo $PPID >> "$LOG"'
     ( ${others}; sh -c 'echo $PPID >> "$LOG"; echo ready >> "$LOG"'; while :; do sleep 0.05; done ) &
     while :; do sleep 0.05; done ) &
   ${leader}`,
]
const stays = "while :; do sleep 0.05; done"
const deaf = 'trap "" TERM INT HUP'
const polite = ":"

const leaders = {
  "leaves when its stdin ends": "cat > /dev/null",
  "stays until it is told": stays,
  "hears nothing": `${deaf}; ${stays}`,
  "falls over by itself": 'while ! grep -q ready "$LOG"; do sleep 0.05; done; exit 3',
}

const pidsOf = new Map<string, () => ReadonlyArray<number>>()
const withLog = <A, E>(
  use: (log: string, pids: () => ReadonlyArray<number>, isReady: () => boolean) => Effect.Effect<A, E>,
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-program-"))),
    (folder) => {
      const log = join(folder, "log")
      const lines = () => {
        try {
          return readFileSync(log, "utf8").trim().split("\n")
        } catch {
          return []
        }
      }
      pidsOf.set(folder, () => pids())
      const pids = () => lines().flatMap((line) => (/^\d+$/.test(line) ? [Number(line)] : []))
      return use(log, pids, () => lines().includes("ready"))
    },
    (folder) =>
      Effect.sync(() => {
        // A test that fails leaves nobody behind either.
        for (const pid of pidsOf.get(folder)?.() ?? []) if (alive(pid)) process.kill(pid, "SIGKILL")
        rmSync(folder, { recursive: true, force: true })
      }),
  )

const optionsOf = (args: ReadonlyArray<string>, log: string, env: Record<string, string> = {}): ProgramOptions => ({
  command: "/bin/sh",
  args,
  env: { PATH: "/usr/bin:/bin", LOG: log, ...env },
  graceMs: 200,
})

describe("programs of this machine", () => {
  it.effect("are found by their path, or by their name in the PATH that they would have", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "stoa-lookup-"))
      const [tool, text] = [join(folder, "my-tool"), join(folder, "text")]
      writeFileSync(tool, "#!/bin/sh\n", { mode: 0o755 })
      writeFileSync(text, "no program", { mode: 0o644 })
      for (const [command, added, at, here] of [
        ["sh", {}, ".", true],
        ["my-tool", {}, ".", false],
        ["my-tool", { PATH: folder }, ".", true],
        ["text", { PATH: folder }, ".", false],
        [tool, {}, ".", true],
        [text, {}, ".", false],
        [folder, {}, ".", false],
        ["./my-tool", {}, folder, true],
        ["./my-tool", {}, ".", false],
      ] as const)
        assert.strictEqual(yield* isProgramHere(command, added, at), here, command)
      rmSync(folder, { recursive: true })
    }),
  )
})

describe("S4-78 programs", () => {
  for (const [how, leader] of Object.entries(leaders))
    for (const [kind, others] of [
      ["polite", polite],
      ["deaf", deaf],
    ] as const)
      it.live(`one that ${how}, and its ${kind} children: all are gone when its end has come`, () =>
        withLog((log, pids, isReady) =>
          Effect.gen(function* () {
            const program = new Program(optionsOf(family(leader, others), log))
            yield* until(isReady)
            const all = pids()
            assert.lengthOf(all, 3)
            if (how !== "falls over by itself") assert.isTrue(all.every(alive))
            yield* Effect.promise(() => program.end())
            assert.deepStrictEqual(all.filter(alive), [])
          }),
        ),
      )

  it.live("its children go with one that fell over, though nobody ends it", () =>
    withLog((log, pids, isReady) =>
      Effect.gen(function* () {
        const program = new Program(optionsOf(family(leaders["falls over by itself"], deaf), log))
        yield* until(isReady)
        assert.strictEqual(yield* Effect.promise(() => program.exited), 3)
        yield* until(() => !pids().some(alive))
      }),
    ),
  )

  for (const [kind, others] of [
    ["polite", polite],
    ["deaf", deaf],
  ] as const)
    it.live(
      `kill -9 of the house: nothing of a ${kind} family is left`,
      () =>
        withLog((log, pids, isReady) =>
          Effect.gen(function* () {
            const host = fileURLToPath(new URL("fixtures/programHost.ts", import.meta.url))
            const options = optionsOf(family(`${others}; ${stays}`, others), log)
            const house = spawn(process.execPath, [host, JSON.stringify(options)], { stdio: "ignore" })
            yield* until(isReady)
            assert.isTrue(pids().every(alive))
            house.kill("SIGKILL")
            yield* until(() => !pids().some(alive))
          }),
        ),
      20_000,
    )

  it.live("its own PATH is no concern of whoever watches it; it lives until it is ended", () =>
    withLog((log, pids, isReady) =>
      Effect.gen(function* () {
        const args = ["-c", `echo $$ >> "$LOG"; echo ready >> "$LOG"; read _`]
        yield* Effect.scoped(
          Effect.gen(function* () {
            const program = yield* openProgram(optionsOf(args, log, { PATH: "/nowhere" }))
            yield* until(isReady)
            // Longer than all the steps towards an end together.
            yield* Effect.sleep("900 millis")
            assert.isTrue(alive(pids()[0]!))
            assert.isFalse(program.unstartable)
          }),
        )
        assert.isFalse(alive(pids()[0]!))
      }),
    ),
  )

  it.live("stdin, stdout and the end of stderr are there; a program that is not there says so", () =>
    Effect.gen(function* () {
      const program = yield* openProgram(
        optionsOf(
          ["-c", "read line; echo got $line; i=0; while [ $i -lt 3000 ]; do echo x$i >&2; i=$((i+1)); done"],
          "",
        ),
      )
      program.stdin.write("word\n")
      const text = yield* Effect.promise(async () => {
        let all = ""
        for await (const chunk of program.stdout.setEncoding("utf8")) all += String(chunk)
        return all
      })
      assert.strictEqual(text, "got word\n")
      assert.strictEqual(yield* Effect.promise(() => program.exited), 0)
      assert.isAtMost(program.stderr.length, 2000)
      assert.isTrue(program.stderr.endsWith("x2999"))
      const none = yield* openProgram({ ...optionsOf([], ""), command: "/nowhere/at-all" })
      yield* Effect.promise(() => none.exited)
      assert.isTrue(none.unstartable)
    }).pipe(Effect.scoped),
  )
})
