import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { find } from "./confine.ts"
import { type Box, boxArguments, findBubblewrap, nobody } from "./isolation.ts"

const box: Box = {
  workspace: "/srv/w",
  subdir: ".",
  folder: "/srv/t",
  home: "/srv/h",
  binds: [],
  hidden: { folder: "/srv/data", file: undefined },
  network: false,
  user: undefined,
  temporary: 1024 * 1024,
}

it("the system is read-only, the workspace is not, there is no network, and it dies with us", () => {
  const args = boxArguments(box)
  const line = args.join(" ")
  for (const flag of ["--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-user", "--new-session"])
    assert.include(args, flag)
  assert.include(line, "--cap-drop ALL")
  assert.include(line, "--ro-bind-try /usr /usr")
  assert.include(line, "--bind /srv/w /srv/w")
  assert.include(line, "--ro-bind /srv/t /srv/t")
  assert.strictEqual(args.at(-1), "/srv/w")
  assert.notInclude(line, "/home")
})

it("the network is there where it is allowed; links are read-only unless they are not", () => {
  const binds = [
    { path: "/srv/a", write: false },
    { path: "/srv/b", write: true },
  ]
  const args = boxArguments({ ...box, network: true, binds })
  assert.notInclude(args, "--unshare-net")
  assert.include(args.join(" "), "--ro-bind /srv/a /srv/a --bind /srv/b /srv/b --tmpfs /srv/data")
  assert.include(args.join(" "), "--bind /srv/w /srv/w --bind /srv/h /srv/h")
})

const isRoot = process.getuid?.() === 0
const bwrap = findBubblewrap(isRoot)

/**
 * A small model of a machine: a system folder with the house's data, and files that a program in the box must not
 * reach.
 */
const onMachine = (body: (at: { readonly root: string; readonly box: Box; readonly run: Run }) => void): void => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "stoa-box-")))
  try {
    const [opt, outside] = [join(root, "opt"), join(root, "outside")]
    const data = join(opt, "stoa")
    const [workspace, folder, home] = [
      join(data, "workspaces", "w"),
      join(data, "turns", "t"),
      join(data, "homes", "h"),
    ]
    for (const path of [outside, workspace, folder, home]) mkdirSync(path, { recursive: true, mode: 0o700 })
    writeFileSync(join(data, "secret-key"), "the key", { mode: 0o644 })
    writeFileSync(join(opt, "stoa.config.json"), "the config", { mode: 0o644 })
    writeFileSync(join(outside, "private"), "private", { mode: 0o644 })
    writeFileSync(join(folder, "mcp.json"), "the turn", { mode: 0o644 })
    chmodSync(opt, 0o755)
    chmodSync(outside, 0o777)
    if (isRoot) for (const path of [workspace, folder, home]) chownSync(path, nobody.uid, nobody.gid)
    const usual: Box = {
      ...box,
      workspace,
      folder,
      home,
      hidden: { folder: data, file: join(opt, "stoa.config.json") },
      user: isRoot ? nobody : undefined,
      system: ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix", opt],
    }
    const run: Run = (script, more = {}) => {
      const ran = spawnSync(bwrap!, [...boxArguments({ ...usual, ...more }), "/bin/sh", "-c", script], {
        cwd: workspace,
        encoding: "utf8",
        env: { PATH: "/usr/bin:/bin" },
        timeout: 20_000,
      })
      return { ok: ran.status === 0, said: `${ran.stdout}${ran.stderr}`.trim() }
    }
    body({ root, box: usual, run })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
type Run = (script: string, more?: Partial<Box>) => { readonly ok: boolean; readonly said: string }

it.skipIf(bwrap === undefined)(
  "a real box: it writes to its workspace, reads its turn, and nothing of the house",
  () => {
    onMachine(({ box: { folder, workspace }, root, run }) => {
      assert.deepStrictEqual(run("echo hello > made && pwd"), { ok: true, said: workspace })
      assert.isTrue(existsSync(join(workspace, "made")))
      assert.deepStrictEqual(run(`cat ${folder}/mcp.json`), { ok: true, said: "the turn" })
      assert.isFalse(run(`echo no > ${folder}/mcp.json`).ok)
      // The data folder is in a system folder, and is visible in it, but contains only its own.
      assert.deepStrictEqual(run(`ls ${root}/opt/stoa`), { ok: true, said: "homes\nturns\nworkspaces" })
      assert.isFalse(run(`cat ${root}/opt/stoa/secret-key`).ok)
      assert.notInclude(run(`cat ${root}/opt/stoa.config.json`).said, "the config")
      assert.isFalse(run(`cat ${root}/outside/private`).ok)
    })
  },
)

it.skipIf(bwrap === undefined)("a real box: no capabilities, not root, the system stays read-only", () => {
  onMachine(({ root, run }) => {
    assert.notStrictEqual(run("id -u").said, "0")
    assert.match(run("grep CapEff /proc/self/status").said, /\b0+$/)
    assert.match(run("grep CapPrm /proc/self/status").said, /\b0+$/)
    assert.isFalse(run("cat /etc/shadow").ok)
    for (const path of ["/usr", `${root}/opt`]) {
      assert.isFalse(run(`mount -o remount,rw,bind ${path}`).ok)
      assert.isFalse(run(`touch ${path}/made`).ok)
    }
    assert.isFalse(existsSync(join(root, "opt", "made")))
  })
})

it.skipIf(bwrap === undefined)(
  "a real box: nothing starts where another folder is than the one that was looked at",
  () => {
    onMachine(({ box: { workspace }, root, run }) => {
      const [mine, other] = [join(root, "mine"), join(root, "other")]
      for (const path of [mine, other]) mkdirSync(path, { mode: 0o755 })
      writeFileSync(join(other, "private"), "private", { mode: 0o644 })
      const found = find(mine)
      assert.strictEqual(found.path, mine)
      const binds = [{ path: mine, write: false, id: found.id }]
      assert.deepStrictEqual(run("echo started", { binds, id: find(workspace).id }), { ok: true, said: "started" })
      rmSync(mine, { recursive: true })
      symlinkSync(other, mine)
      assert.deepStrictEqual(find(mine), find(other))
      for (const exchanged of [{ binds }, { id: found.id }]) {
        const { ok, said } = run(`cat ${mine}/private; echo started`, exchanged)
        assert.isFalse(ok)
        assert.strictEqual(said, "a folder was exchanged for another while it was mounted")
      }
    })
  },
)

it.skipIf(bwrap === undefined)("a real box: memory of the machine is no disk of the program", () => {
  onMachine(({ root, run }) => {
    for (const path of ["/made", "/dev/made", `${root}/opt/stoa/made`]) assert.isFalse(run(`echo x > ${path}`).ok, path)
    for (const path of ["/tmp/made", "/dev/shm/made"]) {
      assert.isTrue(run(`head -c 500000 /dev/zero > ${path}`).ok, path)
      assert.match(run(`head -c 2000000 /dev/zero > ${path}`).said, /No space left/)
    }
    assert.deepStrictEqual(run("echo x > /dev/null && echo works"), { ok: true, said: "works" })
  })
})

it.skipIf(bwrap === undefined)("a real box: a link in place of a folder of the workspace leads nowhere", () => {
  onMachine(({ box: { workspace }, root, run }) => {
    symlinkSync(join(root, "outside"), join(workspace, "sub"))
    const { ok, said } = run("cat private; touch made", { subdir: "sub" })
    assert.isFalse(ok)
    assert.notInclude(said, "private")
    assert.isFalse(existsSync(join(root, "outside", "made")))
    assert.deepStrictEqual(run("pwd", { subdir: "." }), { ok: true, said: workspace })
  })
})
