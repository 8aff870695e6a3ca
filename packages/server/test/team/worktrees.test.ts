/** Worktrees of agents, merged when a person has seen the diff; and what a program asks before it uses a tool of its own. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { findBubblewrap } from "../../src/programs/isolation.ts"
import { ask, Guest } from "../house.ts"
import { dm, ended, inState, until } from "../runs/runsKit.ts"
import { fresh, someone, type Someone } from "../spaces/spacesGuests.ts"
import { answersOf, logOf, outside, programmed, type Rule, setProgram, teamHouse, turnsOf, use } from "./teamKit.ts"

const git = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(
    "git",
    ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "safe.directory=*", ...args],
    {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  )

/** What names a program in a repository's own settings; its value leaves a mark where anybody runs it. */
const evilKeys = [
  "filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.command diff.evil.textconv diff.external",
  "core.fsmonitor core.alternateRefsCommand core.sshCommand core.editor core.pager core.askPass sequence.editor",
  "merge.evil.driver gpg.program gpg.ssh.program credential.helper uploadpack.packObjectsHook",
  "remote.evil.uploadpack remote.evil.receivepack",
]
  .join(" ")
  .split(" ")
  // Git 2.54 has hooks that are settings, under any name.
  .concat("hook.e=v i l.command")
const hooks =
  "reference-transaction post-checkout post-merge pre-receive update post-update post-index-change pre-auto-gc pre-commit"

const submodule = "1".repeat(40)

/** A repository with two files and a submodule that runs all it can: hooks of two places, a monitor, filters, drivers, other ways to fetch. */
const anyRepository = Effect.gen(function* () {
  const { folder } = yield* Guest
  const path = join(dirname(folder), fresh("repo"))
  const mark = `${path}.mark`
  mkdirSync(path)
  git(path, "init", "-q", "-b", "main")
  writeFileSync(join(path, "a.txt"), "one\ntwo\nthree\n")
  writeFileSync(join(path, "b.txt"), "b\n")
  writeFileSync(join(path, ".gitattributes"), "*.txt filter=evil diff=evil merge=evil\n")
  git(path, "add", "-A")
  git(path, "update-index", "--add", "--cacheinfo", `160000,${submodule},sub`)
  git(path, "commit", "-q", "-m", "first")
  // Objects of elsewhere, so that a fetch asks the command for references of elsewhere.
  const other = `${path}.other`
  git(dirname(path), "clone", "-q", "--bare", path, other)
  writeFileSync(join(path, ".git", "objects", "info", "alternates"), `${other}/objects\n`)
  const evil = `touch ${mark}; cat`
  const set = (key: string, value: string) => git(path, "config", key, value)
  for (const key of evilKeys) set(key, evil)
  set("hook.e=v i l.event", "reference-transaction")
  set("core.hooksPath", join(path, ".git", "own"))
  set("filter.evil.required", "true")
  set("commit.gpgSign", "true")
  set("gc.auto", "1")
  set("submodule.recurse", "true")
  // Every path is another address, which runs a command; and what is not there is asked for by one.
  set("protocol.ext.allow", "always")
  set("protocol.allow", "always")
  set(`url.ext::sh -c "touch ${mark}" .insteadOf`, dirname(folder))
  set("remote.evil.url", path)
  set("remote.evil.promisor", "true")
  for (const place of ["hooks", "own"])
    for (const hook of hooks.split(" ")) {
      mkdirSync(join(path, ".git", place), { recursive: true })
      writeFileSync(join(path, ".git", place, hook), `#!/bin/sh\ntouch ${mark}\n`)
      chmodSync(join(path, ".git", place, hook), 0o755)
    }
  return { path, mark }
})

/** Git without what the repository says of itself, for looking. */
const look = (path: string, ...args: ReadonlyArray<string>) =>
  git(path, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat", ...args)

const shell = (script: string) => ({ program: "command" as const, command: ["/bin/sh", "-c", script] })

/** An agent in a worktree of its own that does this, once. */
const worker = Effect.fnUntraced(function* (root: Someone, repo: string, script: string) {
  const { admin } = yield* Guest
  const bot = yield* programmed({
    toolsets: ["team"],
    parent: root.name,
    thinker: { ...shell(script), workspace: { git: repo }, links: [{ path: `${repo}.other` }] },
  })
  yield* ask(() => admin.agents.trigger(bot.id, { text: "go" }))
  assert.deepInclude((yield* ended(bot))[0]!, { state: "completed", failure: null })
  return bot
})

const questions = Effect.gen(function* () {
  const { admin } = yield* Guest
  return (yield* ask(() => admin.decisions.list({ state: "open" }))).items
})

/** Asks for the merge of a child's work, and says yes to what is shown. */
const merged = Effect.fnUntraced(function* (root: Someone, name: string, more: object = {}) {
  const { admin } = yield* Guest
  const asked = yield* use(root, "merge_work", { name, ...more })
  assert.strictEqual(asked["status"], "asked", JSON.stringify(asked))
  const open = (yield* questions).find(({ call }) => call?.id === asked["call"])!
  yield* ask(() => admin.decisions.answer(open.id, { verdict: "approve" }))
  const input = open.call!.input as { readonly diff: string; readonly unshown?: unknown; readonly message?: string }
  const settled = yield* Effect.gen(function* () {
    for (;;) {
      const call = yield* ask(() => admin.calls.get(asked["call"] as string))
      if (call.state !== "waiting" && call.state !== "running") return call
      yield* Effect.sleep(20)
    }
  })
  return { diff: input.diff, input, settled }
})

const isRoot = process.getuid?.() === 0
/** Also in the box, on a repository of somebody else: there the house's git works in one, too. */
const ways = findBubblewrap(isRoot) === undefined ? (["unisolated"] as const) : (["unisolated", "isolated"] as const)

for (const programs of ways)
  layer(teamHouse({ store: "sqlite", env: { STOA_SLOTS: "4", STOA_PROGRAMS: programs } }), {
    excludeTestServices: true,
    timeout: 180_000,
  })(`worktrees and permits, ${programs}`, (it) => {
    const repository = Effect.map(anyRepository, (made) => {
      if (programs === "isolated" && isRoot)
        execFileSync("chown", ["-R", "65534:65534", made.path, `${made.path}.other`])
      return made
    })

    it.effect(
      "each has a worktree of its own; a person sees the diff, and only that is merged, to a branch of its own",
      () =>
        Effect.gen(function* () {
          const { folder } = yield* Guest
          const { mark, path } = yield* repository
          const root = yield* outside()
          const one = yield* worker(root, path, `sed -i s/one/ONE/ a.txt; echo new > c.txt; git log --oneline | wc -l`)
          const two = yield* worker(root, path, `cat a.txt; sed -i s/three/THREE/ a.txt`)
          const of = (bot: { readonly id: string }) => join(folder, "workspaces", bot.id.slice(4))
          assert.strictEqual(readFileSync(join(of(one), "a.txt"), "utf8"), "ONE\ntwo\nthree\n")
          assert.strictEqual(readFileSync(join(of(two), "a.txt"), "utf8"), "one\ntwo\nTHREE\n")
          const first = yield* merged(root, one.name)
          assert.include(first.diff, "-one\n+ONE")
          assert.include(first.diff, "+++ b/c.txt")
          assert.strictEqual(first.settled.state, "done")
          // Both fit: the second is shown against what is there by now.
          const second = yield* merged(root, two.name)
          assert.notInclude(second.diff, "ONE\n+")
          assert.include(second.diff, "+THREE")
          assert.strictEqual(second.settled.state, "done")
          assert.strictEqual(look(path, "show", "stoa:a.txt"), "ONE\ntwo\nTHREE\n")
          assert.strictEqual(look(path, "show", "stoa:c.txt"), "new\n")
          // Nothing else of the repository has changed, and nothing of it was run.
          assert.strictEqual(look(path, "rev-list", "--count", "main").trim(), "1")
          assert.strictEqual(readFileSync(join(path, "a.txt"), "utf8"), "one\ntwo\nthree\n")
          assert.isFalse(existsSync(mark))
          assert.deepInclude(yield* use(root, "merge_work", { name: one.name }), { status: "unchanged" })
        }),
    )

    it.effect("what does not fit is told, file by file, and nothing is lost; what is denied is not merged", () =>
      Effect.gen(function* () {
        const { admin, folder } = yield* Guest
        const { mark, path } = yield* repository
        const root = yield* outside()
        const one = yield* worker(root, path, `sed -i s/two/TWO/ a.txt`)
        const two = yield* worker(root, path, `sed -i s/two/zwei/ a.txt; echo b2 > b.txt`)
        const asked = yield* use(root, "merge_work", { name: two.name })
        const open = (yield* questions).find(({ call }) => call?.id === asked["call"])!
        yield* ask(() => admin.decisions.answer(open.id, { verdict: "deny" }))
        assert.throws(() => look(path, "rev-parse", "--verify", "stoa"))
        assert.strictEqual((yield* merged(root, one.name)).settled.state, "done")
        assert.deepStrictEqual(yield* use(root, "merge_work", { name: two.name }), {
          status: "conflict",
          name: two.name,
          conflicts: ["a.txt"],
        })
        assert.strictEqual(readFileSync(join(folder, "workspaces", two.id.slice(4), "b.txt"), "utf8"), "b2\n")
        assert.strictEqual(look(path, "show", "stoa:a.txt"), "one\nTWO\nthree\n")
        // What was asked before the branch moved is not what would be merged now.
        const three = yield* worker(root, path, `echo mine > d.txt`)
        const first = yield* use(root, "merge_work", { name: three.name })
        const four = yield* worker(root, path, `echo other > d.txt`)
        assert.strictEqual((yield* merged(root, four.name)).settled.state, "done")
        const late = (yield* questions).find(({ call }) => call?.id === first["call"])!
        yield* ask(() => admin.decisions.answer(late.id, { verdict: "approve" }))
        const call = yield* Effect.gen(function* () {
          for (;;) {
            const found = yield* ask(() => admin.calls.get(first["call"] as string))
            if (found.state === "failed") return found
            assert.notStrictEqual(found.state, "done")
            yield* Effect.sleep(20)
          }
        })
        assert.match(call.error!.message, /has conflicts in|has changed since it was shown/)
        assert.strictEqual(look(path, "show", "stoa:d.txt"), "other\n")
        assert.isFalse(existsSync(mark))
      }),
    )

    it.effect(
      "a .git that a program has turned against the house is not read, and no link leads out of the worktree",
      () =>
        Effect.gen(function* () {
          const { folder } = yield* Guest
          const { path } = yield* repository
          const root = yield* outside()
          const mark = join(dirname(folder), fresh("owned"))
          const secret = join(dirname(folder), fresh("secret"))
          writeFileSync(secret, "not yours\n")
          const evil = yield* worker(
            root,
            path,
            `git config core.fsmonitor 'touch ${mark}'; git config core.hooksPath $PWD/h; mkdir h; printf '#!/bin/sh\\ntouch ${mark}\\n' > h/post-checkout
           cp h/post-checkout h/reference-transaction; chmod +x h/*; git config filter.evil.clean 'touch ${mark}; cat'
           ln -s ${secret} link; ln -s ${dirname(secret)} around; git init -q nested; git -C nested -c user.name=n -c user.email=n@localhost commit -q --allow-empty -m x; git -C nested config core.fsmonitor 'touch ${mark}'
           echo x > nested/file; mkfifo pipe`,
          )
          const { diff, settled } = yield* merged(root, evil.name)
          assert.strictEqual(settled.state, "done")
          assert.notInclude(diff, "not yours")
          assert.include(diff, "new file mode 120000")
          assert.isFalse(existsSync(mark))
          assert.notInclude(look(path, "ls-tree", "-r", "--name-only", "stoa"), ".git/")
        }),
    )

    it.effect(
      "all changes are shown as text, whatever a NUL or an attribute says; what is no text is named or refused",
      () =>
        Effect.gen(function* () {
          const { path } = yield* repository
          const root = yield* outside()
          const bot = yield* worker(
            root,
            path,
            `printf '#!/bin/sh\\ntouch owned\\n\\000' > run.sh; printf 'a\\033[2Kb\\n' > esc.txt; echo payload > plain.txt
           echo '* -diff binary' > .gitattributes; printf 'two\\r\\n' >> b.txt`,
          )
          const digest = (text: string) => createHash("sha256").update(text).digest("hex")
          const [nul, esc] = ["#!/bin/sh\ntouch owned\n\0", "a\x1b[2Kb\n"]
          const unshown = [
            { path: "esc.txt", size: esc.length, sha256: digest(esc) },
            { path: "run.sh", size: nul.length, sha256: digest(nul) },
          ]
          const refused = { status: "unshown", name: bot.name, unshown }
          assert.deepStrictEqual(yield* use(root, "merge_work", { name: bot.name }), refused)
          const rest = { ...refused, unshown: unshown.slice(1) }
          assert.deepStrictEqual(yield* use(root, "merge_work", { name: bot.name, unshown: ["esc.txt"] }), rest)
          const named = { unshown: ["esc.txt", "run.sh"], message: "Add a script\n\nIt is not text." }
          const { diff, input, settled } = yield* merged(root, bot.name, named)
          assert.deepInclude(input, { unshown, message: named.message })
          assert.notInclude(diff, "Binary files")
          assert.notInclude(diff, "run.sh")
          for (const shown of ["+payload", "+two\r\n", "+* -diff binary"]) assert.include(diff, shown)
          assert.strictEqual(settled.state, "done")
          assert.strictEqual(look(path, "log", "-1", "--format=%B", "stoa").trim(), named.message)
          assert.strictEqual(look(path, "show", "stoa:run.sh"), nul)
        }),
    )

    it.effect("what is merged is what was shown: another diff, file or commit for the same approval is refused", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { path } = yield* repository
        const root = yield* outside()
        const bot = yield* worker(root, path, `echo new > c.txt; printf '\\000' > nul`)
        const asked = yield* use(root, "merge_work", { name: bot.name, unshown: ["nul"] })
        const open = (yield* questions).find(({ call }) => call?.id === asked["call"])!
        const shown = open.call!.input as Readonly<Record<string, string>>
        const other = look(path, "rev-parse", "main").trim()
        const file = { path: "nul", size: 1, sha256: "0".repeat(64) }
        for (const forged of [
          { diff: "nothing" },
          { diff: "" },
          { unshown: [] },
          { unshown: [file] },
          { commit: other },
        ]) {
          const wanted = { input: { ...shown, ...forged }, wait: 0 }
          const call = (yield* ask(() => root.client.tools.call("apply_work", wanted))) as { readonly id: string }
          const its = (yield* questions).find((one) => one.call?.id === call.id)!
          yield* ask(() => admin.decisions.answer(its.id, { verdict: "approve" }))
          const failed = yield* until(
            Effect.map(
              ask(() => admin.calls.get(call.id)),
              (found) => (found.state === "failed" ? found : undefined),
            ),
          )
          assert.match(failed.error!.message, /has changed since it was shown/)
        }
        assert.throws(() => look(path, "rev-parse", "--verify", "stoa"))
      }),
    )

    it.effect("a submodule stays as it is, and is not looked into; a repository inside of the work is shown", () =>
      Effect.gen(function* () {
        const { admin, folder } = yield* Guest
        const { path } = yield* repository
        const root = yield* outside()
        const mark = join(dirname(folder), fresh("owned"))
        const evil = yield* worker(
          root,
          path,
          `for inner in sub nested; do git init -q $inner; cd $inner; echo '* filter=evil' > .gitattributes; echo abc > f
           git add -A; git -c user.name=n -c user.email=n@localhost commit -q -m x; cd ..; done`,
        )
        const changed = (diff: string) => diff.match(/(?<=^diff --git a\/)\S+/gm)
        const first = yield* merged(root, evil.name)
        assert.strictEqual(first.settled.state, "done")
        assert.deepStrictEqual(changed(first.diff), ["nested"])
        assert.include(first.diff, "+Subproject commit")
        // A file that has changed since it was committed there: whoever asks git about it runs its filter.
        const turned = `for inner in sub nested; do git -C $inner config filter.evil.clean 'touch ${mark}; cat'
          echo abd > $inner/f; done; echo new > c.txt`
        yield* ask(() =>
          admin.agents.change(evil.id, {
            thinker: {
              kind: "program",
              ...shell(turned),
              workspace: { git: path },
              links: [{ path: `${path}.other` }],
            },
          }),
        )
        yield* ask(() => admin.agents.trigger(evil.id, { text: "go" }))
        yield* ended(evil, 2)
        const second = yield* merged(root, evil.name)
        assert.strictEqual(second.settled.state, "done")
        assert.deepStrictEqual(changed(second.diff), ["c.txt"])
        assert.isFalse(existsSync(mark))
        assert.include(look(path, "ls-tree", "stoa", "sub"), submodule)
      }),
    )

    // The stand-in for a program needs a network.
    if (programs === "isolated") return

    it.effect("a program is told by its own merge: it asks, ends its turn, and hears what came of it", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const { path } = yield* repository
        const ada = yield* someone()
        const bot = yield* programmed({
          toolsets: ["team"],
          thinker: { workspace: { git: path, branch: "agents/done" }, links: [{ path: `${path}.other` }] },
        })
        const rules: ReadonlyArray<Rule> = [
          { when: { agent: bot.name, text: "Result of apply_work" }, say: "merged" },
          { when: { agent: bot.name }, write: "e.txt", call: [{ tool: "merge_work" }], say: "asked" },
        ]
        yield* setProgram(rules)
        const space = yield* dm(ada, bot)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "work" }))
        yield* inState(bot, "waiting_tool")
        const [asked] = yield* answersOf(bot, "merge_work")
        assert.deepInclude(asked!, { status: "asked", files: ["e.txt"] })
        const open = (yield* questions).find(({ call }) => call?.id === asked!["call"])!
        assert.include(JSON.stringify(open.call!.input), "+++ b/e.txt")
        yield* ask(() => admin.decisions.answer(open.id, { verdict: "approve" }))
        assert.strictEqual((yield* ended(bot))[0]!.state, "completed")
        assert.match((yield* turnsOf(bot))[1]!, /^Result of apply_work .*\n.*"merged"/)
        assert.strictEqual(look(path, "show", "agents/done:e.txt"), "written\n")
      }),
    )

    it.effect("a program's own question is a decision: a no that says so, and the answer when it asks again", () =>
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ada = yield* someone()
        const bot = yield* programmed({ toolsets: ["team"] })
        const wants = (command: string) => ({
          tool: "permit_use",
          input: { tool_name: "Bash", input: { command }, tool_use_id: "toolu_1" },
        })
        yield* setProgram([
          {
            when: { agent: bot.name, text: "Result of allow_use" },
            call: [wants("make"), wants("rm -rf /")],
            say: "done",
          },
          { when: { agent: bot.name }, list: true, call: [wants("make")] },
        ])
        const space = yield* dm(ada, bot)
        yield* ask(() => ada.client.spaces.post(space.id, { text: "build it" }))
        yield* inState(bot, "waiting_tool")
        assert.include((yield* logOf(bot)).find(({ tools }) => tools !== undefined)!.tools!, "permit_use")
        const [first] = yield* answersOf(bot, "permit_use")
        assert.strictEqual(first!["behavior"], "deny")
        assert.match(String(first!["message"]), /A person has been asked\. End your turn now/)
        const open = (yield* questions).find(({ call }) => call?.tool === "allow_use")!
        assert.deepStrictEqual(open.call!.input, { tool: "Bash", input: { command: "make" } })
        yield* ask(() => admin.decisions.answer(open.id, { verdict: "approve" }))
        // The second question is another, and waits for another answer.
        const other = yield* Effect.gen(function* () {
          for (;;) {
            const found = (yield* questions).find(({ call }) => call?.tool === "allow_use")
            if (found !== undefined && found.id !== open.id) return found
            yield* Effect.sleep(20)
          }
        })
        yield* ask(() => admin.decisions.answer(other.id, { verdict: "deny", note: "never" }))
        yield* ended(bot)
        const [, second, third] = yield* answersOf(bot, "permit_use")
        assert.deepStrictEqual(second, { behavior: "allow", updatedInput: { command: "make" } })
        assert.strictEqual(third!["behavior"], "deny")
        // One text and no structure: Claude Code takes nothing else for an answer.
        for (const { result } of (yield* logOf(bot)).filter(({ tool }) => tool === "permit_use")) {
          assert.lengthOf(result!.content, 1)
          assert.isUndefined(result!.structuredContent)
        }
        // Nobody but a program in its turn has it.
        const plain = yield* outside()
        const { items } = yield* ask(() => plain.client.tools.list())
        assert.isFalse(items.some(({ name }) => name === "permit_use"))
        const refused = yield* Effect.flip(
          ask(() => plain.client.tools.call("permit_use", { input: { tool_name: "x", input: {} } })),
        )
        assert.strictEqual((refused as { readonly status: number }).status, 404)
      }),
    )
  })
