import { assert, it } from "@effect/vitest"
import { boxArguments } from "./isolation.ts"

const box = { workspace: "/srv/w", folder: "/srv/t", binds: [], network: false } as const

it("the system is read-only, the workspace is not, there is no network, and it dies with us", () => {
  const args = boxArguments(box)
  const line = args.join(" ")
  for (const flag of ["--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-user", "--new-session"])
    assert.include(args, flag)
  assert.include(line, "--ro-bind-try /usr /usr")
  assert.include(line, "--bind /srv/w /srv/w")
  assert.include(line, "--ro-bind /srv/t /srv/t")
  assert.strictEqual(args.at(-1), "--")
  assert.notInclude(line, "/home")
})

it("the network is there where it is allowed; links are read-only unless they are not", () => {
  const binds = [
    { path: "/srv/a", write: false },
    { path: "/srv/b", write: true },
  ]
  const args = boxArguments({ ...box, network: true, binds })
  assert.notInclude(args, "--unshare-net")
  assert.include(args.join(" "), "--ro-bind /srv/a /srv/a --bind /srv/b /srv/b --bind /srv/w /srv/w")
})
