/** Turns that use too much of the machine: each is ended with a sentence, and the house goes on. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { findBubblewrap } from "../../src/programs/isolation.ts"
import { ask, Guest } from "../house.ts"
import { programmed, teamHouse } from "./teamKit.ts"

const bwrap = findBubblewrap(process.getuid?.() === 0)

const shell = (script: string, bounds: object) => ({
  program: "command" as const,
  command: ["/bin/sh", "-c", script],
  bounds,
})

describe.skipIf(bwrap === undefined)("turns that use too much", () => {
  layer(teamHouse({ store: "sqlite", env: { STOA_PROGRAMS: "isolated" } }), {
    excludeTestServices: true,
    timeout: 90_000,
  })((it) => {
    /** Every script here ends by itself, or is small: what they try must not harm the machine if it is not stopped. */
    const turnOf = Effect.fnUntraced(function* (script: string, bounds: object, turns = 1) {
      const { admin } = yield* Guest
      const bot = yield* programmed({ thinker: { ...shell(script, bounds), turnSeconds: 60 } })
      for (let n = 0; n < turns; n++) {
        yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
        for (;;) {
          // The house answers meanwhile.
          yield* ask(() => admin.spaces.list())
          const { items } = yield* ask(() => admin.runs.list({ agent: bot.id }))
          if (items.filter(({ state }) => state === "failed" || state === "completed").length > n) break
          yield* Effect.sleep(50)
        }
      }
      const { items } = yield* ask(() => admin.runs.list({ agent: bot.id }))
      const { failure, id, state } = items[0]!
      return { id, state: state, failure: failure ?? null }
    })

    it.effect("processes: those that it may not start are refused, and the turn is ended", () =>
      Effect.gen(function* () {
        const many = `n=0; while [ $n -lt 120 ]; do sleep 20 & n=$((n+1)); done; wait`
        const { failure } = yield* turnOf(many, { processes: 40 })
        assert.match(failure!, /started 40 processes and threads or more|Cannot fork/)
        // Two turns have their own: what others started does not count.
        const few = `n=0; while [ $n -lt 20 ]; do sleep 1 & n=$((n+1)); done; wait`
        const both = yield* Effect.all([turnOf(few, { processes: 40 }), turnOf(few, { processes: 40 })], {
          concurrency: "unbounded",
        })
        for (const run of both) assert.deepStrictEqual([run.state, run.failure], ["completed", null])
      }),
    )

    it.effect("memory: of all processes together, and of the temporary folders", () =>
      Effect.gen(function* () {
        // Three of 60 MiB each.
        const one = `perl -e 'my $x = "x" x (60 * 1024 * 1024); sleep 20'`
        const { failure } = yield* turnOf(`${one} & ${one} & ${one} & wait`, { memoryMiB: 120 })
        assert.match(failure!, /used more than 120 MiB of memory \(bounds\.memoryMiB\), and was stopped/)
        const filled = yield* turnOf("head -c 80000000 /dev/zero > /tmp/file", { memoryMiB: 120 })
        assert.match(filled.failure!, /No space left/)
      }),
    )

    it.effect("open files: the next is refused", () =>
      Effect.gen(function* () {
        const open = `perl -e 'my @all; for (1..100) { open my $f, "<", "/dev/null" or die "no more: $!"; push @all, $f }'`
        assert.match((yield* turnOf(open, { openFiles: 32 })).failure!, /no more: Too many open files/)
      }),
    )

    it.effect(
      "disk: of its folders together, also in one that it has closed; whoever has too much may remove some",
      () =>
        Effect.gen(function* () {
          const files = (folder: string) => `for n in 1 2 3 4 5 6; do head -c 8000000 /dev/zero > ${folder}/f$n; done`
          const full = /filled its folders with more than 20 MiB \(bounds\.diskMiB\), and was stopped/
          const closed = `mkdir ~/in; ${files("~/in")}; chmod 000 ~/in; sleep 30; chmod 700 ~/in`
          assert.match((yield* turnOf(closed, { diskMiB: 20 })).failure!, full)
          // One file alone is refused by the kernel.
          const large = yield* turnOf("head -c 40000000 /dev/zero > file; ls -l file; exit 1", { diskMiB: 20 })
          assert.strictEqual(large.state, "failed")
          const again = `if [ -d in ]; then rm -r in; echo removed; else mkdir in; ${files("in")}; sleep 30; fi`
          const last = yield* turnOf(again, { diskMiB: 20 }, 2)
          assert.deepStrictEqual([last.state, last.failure], ["completed", null])
        }),
    )

    it.effect("output: on stdout and on stderr", () =>
      Effect.gen(function* () {
        for (const to of ["", " >&2"]) {
          const { failure } = yield* turnOf(`yes | head -c 30000000${to}; sleep 20`, {})
          assert.match(failure!, /printed more than 8 MiB in one turn, and was stopped/)
        }
      }),
    )

    it.effect("what is within the bounds is not disturbed", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const run = yield* turnOf("head -c 1000000 /dev/zero > file; ulimit -n; ulimit -c; echo done", {
          openFiles: 64,
        })
        assert.deepStrictEqual([run.state, run.failure], ["completed", null])
        const { items } = yield* ask(() => admin.runs.steps(run.id))
        assert.strictEqual(items.at(-1)!.finish, "stop")
      }),
    )
  })
})
