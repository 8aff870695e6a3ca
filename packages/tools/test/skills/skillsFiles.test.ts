/** file-read and file-write against a real folder with a hostile neighbourhood. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { afterAll } from "vitest"
import { fileRead, fileWrite } from "../../src/skills/files.ts"
import { CurrentSkillsConfig, defaultSkillsConfig } from "../../src/skills/SkillsConfig.ts"
import { CurrentToolsConfig, defaultToolsConfig } from "../../src/ToolsConfig.ts"
import { call } from "./skillsCall.ts"

const home = realpathSync(mkdtempSync(join(tmpdir(), "skills-")))
const base = join(home, "base")
mkdirSync(join(base, "deep/er"), { recursive: true })
mkdirSync(join(home, "base-evil"))
writeFileSync(join(home, "base-evil/secret.txt"), "secret")
writeFileSync(join(home, "secret.txt"), "secret")
writeFileSync(join(base, "hello.txt"), "héllo")
writeFileSync(join(base, "deep/er/note.txt"), "deep")
writeFileSync(join(base, "bytes.bin"), Buffer.from([0xff, 0xfe, 0x00, 0x80]))
mkdirSync(join(base, ".stoa"))
writeFileSync(join(base, ".stoa/admin.token"), "secret")
symlinkSync(join(home, "secret.txt"), join(base, "link-out"))
symlinkSync(home, join(base, "folder-out"))
symlinkSync("../base-evil", join(base, "relative-out"))
symlinkSync(join(home, "not-there-yet.txt"), join(base, "dangling-out"))
symlinkSync("loop-b", join(base, "loop-a"))
symlinkSync("loop-a", join(base, "loop-b"))
symlinkSync("hello.txt", join(base, "link-in"))
symlinkSync("deep", join(base, "folder-in"))
symlinkSync(".stoa", join(base, "keys"))
symlinkSync("/dev/zero", join(base, "zero"))
symlinkSync("/proc/self/environ", join(base, "environ"))
const tool = "mkfifo"
execFileSync(tool, [join(base, "pipe")])
afterAll(() => rmSync(home, { recursive: true, force: true }))

const inBase = Effect.provideService(CurrentToolsConfig, {
  ...defaultToolsConfig,
  security: { ...defaultToolsConfig.security, allowedFilePathPrefix: base },
})
const read = (path: unknown, encoding?: string) =>
  fileRead.handler(encoding === undefined ? { path } : { path, encoding }, call).pipe(inBase)
const write = (path: unknown, content: unknown, encoding?: string) =>
  fileWrite.handler({ path, content, ...(encoding === undefined ? {} : { encoding }) }, call).pipe(inBase)

const hostile = [
  "../secret.txt",
  "../base-evil/secret.txt",
  "deep/../../secret.txt",
  "deep/er/../../../secret.txt",
  "./../base/../secret.txt",
  join(home, "secret.txt"),
  join(home, "base-evil/secret.txt"),
  `${base}/../secret.txt`,
  `${base}-evil/secret.txt`,
  "/etc/passwd",
  "/proc/self/environ",
  "//etc/passwd",
  "link-out",
  "folder-out/secret.txt",
  "folder-out/base/../secret.txt",
  "relative-out/secret.txt",
  "dangling-out",
  "zero",
  "environ",
  "hello.txt\0.png",
  "\0",
  "/proc/self/fd/0",
  "/proc/self/cwd/x",
]
const refusedOtherwise = [
  "",
  "   ",
  ".",
  "./",
  "deep",
  "loop-a",
  "pipe",
  "hello.txt/below",
  ".stoa/admin.token",
  "keys/admin.token",
  ".STOA/admin.token",
  "a".repeat(5000),
]

describe("file-read", () => {
  it.effect("S4-87 reads text, by default as UTF-8, and other encodings of a closed set", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read("hello.txt"), "héllo")
      assert.strictEqual(yield* read("hello.txt", "utf8"), "héllo")
      assert.strictEqual(yield* read("deep/er/note.txt"), "deep")
      assert.strictEqual(yield* read("deep/../hello.txt"), "héllo")
      assert.strictEqual(yield* read(join(base, "hello.txt")), "héllo")
      assert.strictEqual(yield* read("link-in"), "héllo")
      assert.strictEqual(yield* read("folder-in/er/note.txt"), "deep")
      assert.strictEqual(yield* read("bytes.bin", "hex"), "fffe0080")
      assert.strictEqual(yield* read("bytes.bin", "base64"), "//4AgA==")
      assert.include((yield* Effect.flip(read("bytes.bin"))).message, `encoding "base64"`)
      assert.include((yield* Effect.flip(read("hello.txt", "ucs-2"))).message, "must be one of utf-8")
      assert.include((yield* Effect.flip(read("missing.txt"))).message, "no such file")
      assert.include((yield* Effect.flip(read(42))).message, `"path" must be a string`)
    }),
  )

  for (const path of hostile)
    it.effect(`S4-88 paths outside the base fail as traversal: ${JSON.stringify(path.replace(home, "…"))}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(path))
        assert.strictEqual(error._tag, "ToolExecutionError")
        assert.strictEqual(error.toolName, "file-read")
        assert.include(error.message, "Path traversal detected")
        assert.notInclude(error.message, "secret\n")
      }),
    )

  for (const path of refusedOtherwise)
    it.effect(`S4-88 what is no plain file is refused: ${JSON.stringify(path.slice(0, 20))}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(path))
        assert.strictEqual(error.toolName, "file-read")
        assert.notInclude(error.message, home)
      }),
    )

  it.effect("a file over the limit is refused, not loaded", () =>
    Effect.gen(function* () {
      writeFileSync(join(base, "large.txt"), "x".repeat(2000))
      const small = Effect.provideService(CurrentSkillsConfig, {
        ...defaultSkillsConfig,
        files: { ...defaultSkillsConfig.files, maxReadBytes: 1999 },
      })
      assert.include((yield* Effect.flip(read("large.txt").pipe(small))).message, "more than 1999 bytes")
      assert.strictEqual(String(yield* read("large.txt")).length, 2000)
    }),
  )

  it.effect("S4-96 the allowed folder is the working directory by default, and changeable", () =>
    Effect.gen(function* () {
      assert.include(String(yield* fileRead.handler({ path: "package.json" }, call)), '"stoa"')
      const above = yield* Effect.flip(fileRead.handler({ path: "../x" }, call))
      assert.include(above.message, "Path traversal detected")
      // It holds for writing as for reading, and another folder in its place holds for both.
      for (const [allowed, path] of [
        [false, join(base, "set.txt")],
        [true, "set.txt"],
        [true, join(base, "set.txt")],
        [true, join(process.cwd(), "package.json")],
        [true, "../set.txt"],
      ] as const) {
        const content = { path, content: "set" }
        const wrote = yield* Effect.result(fileWrite.handler(content, call).pipe(allowed ? inBase : (it) => it))
        const may = allowed && !path.startsWith("..") && !path.endsWith(".json")
        assert.strictEqual(wrote._tag, may ? "Success" : "Failure", path)
        if (wrote._tag === "Failure") assert.include(String(wrote.failure), "Path traversal detected")
        else assert.strictEqual(yield* read(path), "set")
      }
      assert.isFalse(existsSync(join(home, "set.txt")))
      rmSync(join(base, "set.txt"))
    }),
  )

  it.effect("S4-88 no path made of any pieces ever reads what lies outside", () =>
    Effect.promise(() => {
      const piece = fc.constantFrom(
        "..",
        ".",
        "",
        "/",
        "//",
        "deep",
        "er",
        "folder-out",
        "relative-out",
        "link-out",
        "secret.txt",
        "base",
        "base-evil",
        "folder-in",
        "\0",
        "hello.txt",
        home.slice(1),
      )
      return fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 7 }), fc.boolean(), async (pieces, absolute) => {
          const path = (absolute ? "/" : "") + pieces.join("/")
          const got = await Effect.runPromise(read(path).pipe(Effect.orElseSucceed(() => "refused")))
          assert.notInclude(String(got), "secret", path)
        }),
        { numRuns: 400 },
      )
    }),
  )
})

describe("file-write", () => {
  it.effect("S4-89 writes, makes folders, overwrites, and says what and where", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* write("new/deeper/out.txt", "één"), {
        written: true,
        path: "new/deeper/out.txt",
        bytes: 5,
      })
      assert.strictEqual(readFileSync(join(base, "new/deeper/out.txt"), "utf8"), "één")
      chmodSync(join(base, "new/deeper/out.txt"), 0o640)
      yield* write("new/deeper/out.txt", "//4AgA==", "base64")
      assert.deepStrictEqual([...readFileSync(join(base, "new/deeper/out.txt"))], [0xff, 0xfe, 0x00, 0x80])
      assert.strictEqual(statSync(join(base, "new/deeper/out.txt")).mode & 0o777, 0o640)
      yield* write("folder-in/through.txt", "in")
      assert.strictEqual(readFileSync(join(base, "deep/through.txt"), "utf8"), "in")
      yield* write("link-in", "through the link")
      assert.strictEqual(readFileSync(join(base, "hello.txt"), "utf8"), "through the link")
      yield* write("hello.txt", "héllo")
      assert.lengthOf(
        readdirSync(base, { recursive: true }).filter((it) => String(it).endsWith(".tmp")),
        0,
      )
    }),
  )

  for (const path of [
    ...hostile,
    "folder-out/new/made.txt",
    "relative-out/made.txt",
    "../made/made.txt",
    "new/../../made.txt",
  ])
    it.effect(`S4-89 nothing is written outside: ${JSON.stringify(path.replace(home, "…"))}`, () =>
      Effect.gen(function* () {
        const before = readdirSync(home).toSorted()
        const error = yield* Effect.flip(write(path, "evil"))
        assert.strictEqual(error.toolName, "file-write")
        assert.include(error.message, "Path traversal detected")
        assert.deepStrictEqual(readdirSync(home).toSorted(), before)
        assert.strictEqual(readFileSync(join(home, "secret.txt"), "utf8"), "secret")
        assert.strictEqual(readFileSync(join(home, "base-evil/secret.txt"), "utf8"), "secret")
        assert.lengthOf(readdirSync(join(home, "base-evil")), 1)
      }),
    )

  for (const path of refusedOtherwise)
    it.effect(`S4-89 what is no plain file is not written over: ${JSON.stringify(path.slice(0, 20))}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(write(path, "evil"))).toolName, "file-write")
      }),
    )

  it.effect("content that is too long or malformed changes nothing", () =>
    Effect.gen(function* () {
      yield* write("kept.txt", "kept")
      const bad: ReadonlyArray<readonly [unknown, string?]> = [
        ["x".repeat((1 << 20) + 1)],
        ["é".repeat((1 << 19) + 1)],
        ["not base64!", "base64"],
        ["abc", "hex"],
        ["日本", "latin1"],
        ["é", "ascii"],
        ["x", "utf-7"],
        [{ an: "object" }],
      ]
      for (const [content, encoding] of bad) yield* Effect.flip(write("kept.txt", content, encoding))
      assert.strictEqual(readFileSync(join(base, "kept.txt"), "utf8"), "kept")
    }),
  )

  it.effect("S4-89 a reader sees the old file or the new one, never a part, while many write", () =>
    Effect.gen(function* () {
      const contents = Array.from({ length: 20 }, (_, i) => String.fromCodePoint(97 + i).repeat(200_000))
      yield* write("busy.txt", contents[0])
      const seen = Effect.map(read("busy.txt"), (it) => assert.include(contents, it))
      yield* Effect.all([...contents.map((it) => Effect.asVoid(write("busy.txt", it))), ...contents.map(() => seen)], {
        concurrency: 8,
      })
    }),
  )

  it.effect("S4-88 a folder swapped for a link while it is walked never leads out", () =>
    Effect.gen(function* () {
      const folder = join(base, "swap")
      let turn = 0
      let on = true
      // Between two steps of a walk the folder is a folder, then a link, then a folder again.
      const swap = () => {
        try {
          rmSync(folder, { recursive: true, force: true })
          if (turn++ % 2 === 0) symlinkSync(join(home, "base-evil"), folder)
          else mkdirSync(folder)
        } catch {
          // The writer made the folder first; the next turn takes it away again.
        }
        if (on) setImmediate(swap)
      }
      setImmediate(swap)
      for (let i = 0; i < 150; i++) {
        yield* Effect.ignore(write("swap/planted.txt", "evil"))
        const got = yield* read("swap/secret.txt").pipe(Effect.orElseSucceed(() => "refused"))
        assert.strictEqual(got, "refused")
      }
      on = false
      assert.isFalse(existsSync(join(home, "base-evil/planted.txt")))
    }),
  )
})
