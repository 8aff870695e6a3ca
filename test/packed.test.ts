// What others install: the real packages, built and packed, installed by npm into an empty project and used there by plain
// JavaScript and by TypeScript. Nothing of this checkout is in reach but TypeScript itself.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Home, type House } from "../packages/cli/test/kit/home.ts"
import { home as root, modules } from "../scripts/checks/kit.ts"
import { build } from "../scripts/publish/build.ts"
import { pack } from "../scripts/publish/pack.ts"

const home = new Home()
const project = join(home.folder, "project")
/** The Node of this test comes first, as if it were the machine's; its module cache is of this checkout, so it is left. */
const env = { PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter), NODE_COMPILE_CACHE: "" }
const run = (command: string, ...args: ReadonlyArray<string>) => home.program(command, args, { cwd: project, env })
const put = (name: string, text: string) => writeFileSync(join(project, name), text)

let tarballs: Record<string, string>
let house: House | undefined

beforeAll(async () => {
  await mkdir(project)
  await build(root, () => {})
  tarballs = await pack(root, join(home.folder, "tarballs"))
  const dependencies = Object.fromEntries(
    Object.entries(tarballs).map(([name, file]) => [`@stoa/${name}`, `file:${file}`]),
  )
  put("package.json", JSON.stringify({ private: true, type: "module", dependencies }))
  // The optional dependencies are a Node for machines with an old one; here there is one.
  const flags = ["--prefer-offline", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"]
  expect(await run("npm", "install", ...flags).ended).toMatchObject({ code: 0 })
}, 300_000)
/** npx does not hand on every signal: the house itself is asked to stop. */
const stop = () => process.kill(Number(readFileSync(join(home.data, "pid"), "utf8")), "SIGTERM")
afterAll(async () => {
  if (house?.process.child.exitCode === null) stop()
  await home.remove()
})

it("each package is there as JavaScript with types, and without sources or tests", () => {
  expect(Object.keys(tarballs)).toEqual(expect.arrayContaining(["contract", "sdk", "server", "cli"]))
  for (const name of Object.keys(tarballs)) {
    const files = readdirSync(join(project, "node_modules/@stoa", name), { recursive: true }) as Array<string>
    expect(files).toEqual(expect.arrayContaining(["package.json", "LICENSE"]))
    expect(files.filter((file) => /^(src|test)\b|\.test\.|(?<!\.d)\.ts$|tsbuildinfo/.test(file))).toEqual([])
    expect(files.some((file) => /^dist\/(index|main)\.js$/.test(file))).toBe(true)
  }
})

it("npx stoa serves a whole house, pages and all", async () => {
  const { url } = (house = await home.waitForHouse(run("npx", "stoa", "serve")))
  const page = async (path: string) => {
    const answer = await fetch(url + path)
    return [answer.status, answer.headers.get("content-type")?.split(";")[0], (await answer.text()).length > 500]
  }
  expect(await page("/")).toEqual([200, "text/html", true])
  expect(await page("/docs")).toEqual([200, "text/html", true])
  expect(await page("/docs/errors/Missing")).toEqual([200, "text/markdown", true])
  expect(await page("/openapi.json")).toEqual([200, "application/json", true])
})

it("a JavaScript program uses the SDK against it", async () => {
  put(
    "use.js",
    `import { connect, IdempotencyKey, StoaClient, StoaError } from "@stoa/sdk"
import { getTools } from "@stoa/sdk/claude"
import { Missing } from "@stoa/contract"
import { Effect, Redacted } from "effect"
const [url, token] = process.argv.slice(2)
const stoa = connect({ url, token })
const pam = await stoa.principals.add({ kind: "agent", name: "Pam" }, { idempotencyKey: "once" })
const again = await stoa.principals.add({ kind: "agent", name: "Pam" }, { idempotencyKey: "once" })
const error = await stoa.principals.get("nobody").catch((error) => error)
let seen
for await (const item of stoa.feed({ after: 0 }))
  if (item.type === "event" && item.event.kind === "principal.added" && item.event.body.name === "Pam") {
    seen = item.event.body.principal
    break
  }
const typed = await Effect.runPromise(
  Effect.flatMap(StoaClient, (client) => Effect.flip(client.principals.get({ params: { principal: "nobody" } }))).pipe(
    Effect.provide(StoaClient.layer({ url, token: Redacted.make(token) })),
  ),
)
const tools = await getTools("Pam", { url, token })
console.log(JSON.stringify({
  who: (await tools.find(({ name }) => name === "whoami").handler({}, {})).structuredContent.name,
  same: pam.id === again.id && pam.id === seen,
  error: error instanceof StoaError && error.tag,
  typed: typed instanceof Missing,
  key: typeof IdempotencyKey,
}))
`,
  )
  const ended = await run(process.execPath, "use.js", house!.url, house!.token).ended
  expect(ended).toMatchObject({ code: 0, stderr: "" })
  expect(JSON.parse(ended.stdout)).toMatchObject({ who: "Pam", same: true, error: "Missing", typed: true })
})

it("the packed command works online and offline", async () => {
  const stoa = (...args: ReadonlyArray<string>) => run(join(project, "node_modules/.bin/stoa"), ...args).ended
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string }
  expect(await stoa("--version")).toMatchObject({ code: 0, stdout: `stoa v${version}\n` })
  const listed = await stoa("agents", "ls", "--json")
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "Pam" }])
  stop()
  expect(await house!.process.ended).toMatchObject({ code: 0 })
  expect(await stoa("doctor")).toMatchObject({ code: 0, stderr: "" })
})

it("TypeScript sees the types, and refuses a wrong use", async () => {
  put(
    "use.ts",
    `import type { Principal } from "@stoa/contract"
import { connect, type FeedItem, StoaClient, StoaError } from "@stoa/sdk"
import { type ClaudeTool, getTools } from "@stoa/sdk/claude"
import { Effect } from "effect"

const stoa = connect({ url: "http://127.0.0.1:4040" })
const added = async (): Promise<string> => (await stoa.principals.add({ kind: "agent", name: "Pam" })).createdAt
// @ts-expect-error a kind that no principal has
const wrong = () => stoa.principals.add({ kind: "ghost", name: "Pam" })
const copied = (): Promise<ReadableStream<Uint8Array>> => stoa.house.backup()
const got: Effect.Effect<Principal, unknown, StoaClient> = Effect.flatMap(StoaClient, (client) =>
  client.principals.get({ params: { principal: "Pam" } }),
)
export const told = (item: FeedItem | StoaError): string => (item instanceof StoaError ? item.tag : item.type)
const tools = (): Promise<Array<ClaudeTool>> => getTools({ url: "http://127.0.0.1:4040", token: "t" })
export { added, copied, got, tools, wrong }
`,
  )
  const compilerOptions = {
    target: "ES2024",
    module: "NodeNext",
    lib: ["ES2024", "DOM", "ESNext.Disposable"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
  }
  put("tsconfig.json", JSON.stringify({ compilerOptions, include: ["use.ts"] }))
  const ended = await run(process.execPath, join(modules, "typescript/bin/tsc"), "-p", project).ended
  expect(ended).toMatchObject({ code: 0, stdout: "" })
})
