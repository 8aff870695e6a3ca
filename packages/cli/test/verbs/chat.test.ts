/** `stoa chat`, and wallets, as a person gives them, against a real house. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { Home, type House } from "../kit/home.ts"

const home = new Home()
let house: House
beforeAll(async () => {
  house = await home.start()
})
afterAll(() => home.remove())
const stoa = (...args: ReadonlyArray<string>) => home.stoa(...args)

it("X-62 a session is begun, talked in, read, renamed, pinned, resumed and deleted", async () => {
  const made = await stoa("chat", "new", "hecate", "--json")
  const { id } = JSON.parse(made.stdout) as { readonly id: string }
  expect(JSON.parse(made.stdout)).toMatchObject({ agent: "hecate", title: "New conversation", messageCount: 0 })
  expect(await stoa("chat", "say", id, "how risky is it?")).toMatchObject({ code: 0 })
  expect((await stoa("chat", "show", id)).stdout).toMatch(/^1 +admin +how risky is it\?$/m)
  expect(await stoa("chat", "rename", id, "Risk")).toMatchObject({ code: 0 })
  expect(await stoa("chat", "pin", id)).toMatchObject({ code: 0, stderr: '"Risk" is pinned\n' })
  expect(await stoa("chat", "rm", id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`To unpin it: stoa chat unpin ${id}\n`),
  })
  await house.admin.chatSessions.add({ agent: "hecate", title: "Another" })
  expect(await stoa("chat", "resume", id)).toMatchObject({ code: 0 })
  const { stdout } = await stoa("chat", "ls", "--agent", "hecate", "--json")
  expect(JSON.parse(stdout)).toMatchObject([{ title: expect.any(String) }, { title: expect.any(String) }])
  expect((JSON.parse(stdout) as Array<{ id: string; current: boolean }>).find(({ current }) => current)?.id).toBe(id)
  expect(await stoa("chat", "ls", "--agent", "nobody")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^stoa: There is no principal "nobody" that you can see/),
  })
  expect(await stoa("chat", "unpin", id)).toMatchObject({ code: 0 })
  expect(await stoa("chat", "rm", id)).toMatchObject({ code: 0 })
  expect(await stoa("chat", "show", id)).toMatchObject({ code: 2, stderr: expect.stringMatching(/stoa chat ls/) })
}, 120_000)

it("X-27 a wallet is given and taken back at the command line", async () => {
  const address = "0x52908400098527886E0F7030069857D2E4169EE7"
  const added = await stoa("agents", "add", "holder", "--wallet", address, "--json")
  expect(JSON.parse(added.stdout)).toMatchObject({ wallet: address })
  expect(await stoa("agents", "add", "second", "--wallet", address.toLowerCase())).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/already belongs to another principal/),
  })
  expect(await stoa("agents", "set", "holder", "--wallet", "none")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/; wallet none\n$/),
  })
  expect((await house.admin.principals.get("holder")).wallet).toBeNull()
  expect((await stoa("agents", "set", "holder", "--wallet", address)).stdout).toContain(`; wallet ${address}\n`)
})
