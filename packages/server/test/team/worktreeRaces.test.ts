/** Programs that change their worktree while the house looks at it: links in place of folders, again and again. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { execFileSync } from "node:child_process"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { findBubblewrap } from "../../src/programs/isolation.ts"
import { ask, Guest } from "../house.ts"
import { times } from "../../../../test/long.ts"
import { inState } from "../runs/runsKit.ts"
import { fresh } from "../spaces/spacesGuests.ts"
import { programmed, teamHouse, use } from "./teamKit.ts"

const bwrap = findBubblewrap(process.getuid?.() === 0)

const git = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  })

/** Exchanges folders for links to a folder of the machine, without a moment in which neither is there, and without end. */
const swapping = (target: string, files: ReadonlyArray<readonly [name: string, size: number]>) => `
  mkdir "d"; symlink "${target}", ".git/z";
  ${files.map(([name, size]) => `open my $f, ">", "d/${name}"; print $f "m" x ${size}; close $f;`).join("\n")}
  open my $f, ">", "begun"; close $f;
  my ($d, $z) = ("d", ".git/z");
  for (;;) { syscall 316, -100, $d, -100, $z, 2; select undef, undef, undef, rand 0.06 }`

describe.skipIf(bwrap === undefined)("a worktree that changes while it is merged", () => {
  layer(teamHouse({ store: "sqlite", env: { STOA_PROGRAMS: "isolated" } }), {
    excludeTestServices: true,
    timeout: 240_000,
  })((it) => {
    it.effect("no link leads the house's git to its own data, or to a folder of the machine, however often", () =>
      Effect.gen(function* () {
        const { admin, folder } = yield* Guest
        const repo = join(dirname(folder), fresh("repo"))
        mkdirSync(repo)
        git(repo, "init", "-q", "-b", "main")
        // Between the look at its folders and the reading of their files, git reads this.
        writeFileSync(join(repo, "large"), Buffer.alloc(32 * 1024 * 1024))
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", "first")
        const secret = `taken-${"s".repeat(40)}`
        writeFileSync(join(folder, "taken"), secret, { mode: 0o600 })
        const bot = yield* programmed({
          toolsets: ["team"],
          thinker: {
            program: "command",
            command: ["/usr/bin/perl", "-e", swapping(folder, [["taken", secret.length]])],
            workspace: { git: repo },
          },
        })
        yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
        const { id } = yield* inState(bot, "running")
        while (!existsSync(join(folder, "workspaces", bot.id.slice(4), "begun"))) yield* Effect.sleep(20)
        let seen = 0
        for (let turn = 0; turn < times(20, 400); turn++) {
          const asked = yield* use(bot, "merge_work", {})
          const call = asked["call"]
          const shown = typeof call === "string" ? JSON.stringify((yield* ask(() => admin.calls.get(call))).input) : ""
          if (shown !== "") seen++
          assert.notInclude(`${shown}${JSON.stringify(asked)}`, secret, `try ${turn}`)
        }
        assert.isAbove(seen, 0)
        yield* ask(() => admin.runs.cancel(id))
      }),
    )
  })
})
