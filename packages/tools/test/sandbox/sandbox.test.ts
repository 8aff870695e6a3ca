/** Code nobody vouches for fails alone: each hostile program loses its own call while the house goes on. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, describe, it, layer } from "@effect/vitest"
import type { ToolExecutionError } from "@stoa/contract"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import fc from "fast-check"
import { Sandbox, type SandboxFault, sandboxLayer } from "../../src/sandbox/Sandbox.ts"

const run = Effect.fnUntraced(function* (code: string, timeMs?: number) {
  const sandbox = yield* Sandbox
  return yield* sandbox.run(code, { tool: "code-execute", ...(timeMs === undefined ? {} : { timeMs }) })
})
const fault = (error: ToolExecutionError) => error.cause as SandboxFault

const holds = <A>(arbitrary: fc.Arbitrary<A>, numRuns: number, check: (it: A) => Effect.Effect<void, unknown>) =>
  Effect.flatMap(Effect.context(), (context) =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(arbitrary, (it) => Effect.runPromiseWith(context)(check(it))),
        { numRuns },
      ),
    ),
  )

/** Each with what becomes of it. Where several are listed, which wall stands first depends on the machine. */
const hostile: ReadonlyArray<readonly [name: string, code: string, ...reasons: ReadonlyArray<SandboxFault["reason"]>]> =
  [
    ["busy loop", "while (true);", "time"],
    ["busy loop behind catch and finally", "for (;;) try { for (;;); } catch {} finally { for (;;); }", "time"],
    ["regex bomb", "/^(a+)+$/.test('a'.repeat(60) + 'b')", "time"],
    ["regex bomb with back references", String.raw`/(?:(a*)*\1)*b/.test('a'.repeat(50))`, "time", "error"],
    ["native loop that never looks at the clock", "Array(1e9).join('x')", "time"],
    ["sort that never ends", "[3, 2, 1].sort(() => { for (;;); })", "time"],
    ["getter that never ends", "({ get a() { for (;;); } })", "time"],
    ["toJSON that never ends", "({ toJSON() { for (;;); } })", "time"],
    ["proxy whose traps never end", "new Proxy({}, { ownKeys() { for (;;); } })", "time"],
    [
      "proxy of endless depth",
      "const deep = () => new Proxy({ a: 1 }, { get: (t, k) => k === 'toJSON' ? undefined : deep() }); deep()",
      "time",
      "memory",
      "error",
    ],
    [
      "error whose message never ends",
      "throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } })",
      "error",
      "time",
    ],
    ["thenable that never ends", "({ then() { for (;;); } })", "time"],
    ["microtask loop", "const again = () => Promise.resolve().then(again); await again()", "time", "memory"],
    ["async loop", "for (;;) await null", "time"],
    ["generator loop", "function* f() { for (;;) yield 1 }; for (const _ of f());", "time"],
    ["endless spread", "[...{ *[Symbol.iterator]() { for (;;) yield 1 } }]", "memory", "time"],
    ["allocation bomb", "const all = []; for (;;) all.push(new Array(1000).fill(1.5))", "memory"],
    ["object bomb", "let o = {}; for (;;) o = { o, p: { q: {} } }", "memory"],
    ["string bomb", "let s = 'x'; for (;;) s += s", "error", "memory"],
    ["strings in an array", "const all = []; for (let i = 0; ; i++) all.push('x'.repeat(1e6) + i)", "memory"],
    ["typed-array bomb", "const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))", "memory"],
    ["one huge typed array", "new Float64Array(1e9)", "error", "memory"],
    ["ArrayBuffer bomb", "const all = []; for (;;) all.push(new ArrayBuffer(5e6))", "memory"],
    ["Map bomb", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })", "memory"],
    [
      "caught allocation bomb",
      "const all = []; for (;;) try { for (;;) all.push(new Array(1e4).fill(0)) } catch {}",
      "time",
      "memory",
    ],
    ["regex replacement bomb", "'a'.repeat(1e7).replace(/a/g, 'bbbbbbbbbb')", "memory"],
    ["BigInt bomb", "let n = 3n; for (;;) n = n * n", "error", "memory", "time"],
    ["recursion bomb", "const f = () => f() + 1; f()", "error"],
    ["recursion through natives", "const f = () => [1].map(f); f()", "error", "crash"],
    ["recursion through toString", "const o = { toString() { return `${this}` } }; `${o}`", "error", "crash"],
    ["JSON nested too deep", "JSON.parse('['.repeat(1e6))", "error", "crash", "memory"],
    ["source nested too deep", `${"(".repeat(50_000)}1`, "error", "crash"],
    ["regex nested too deep", "new RegExp('('.repeat(1e5))", "error", "crash"],
    ["promise that never settles", "await new Promise(() => {})", "pending"],
    ["require", "require('fs')", "error"],
    ["import of a module", "await import('node:fs')", "error"],
    ["static import", "import fs from 'fs'", "error"],
    ["process", "process.exit(1)", "error"],
    ["fetch", "await fetch('http://127.0.0.1')", "error"],
    ["timers", "setTimeout(() => {}, 1)", "error"],
    ["the Function constructor finds no host", "Function('return this')().process.mainModule", "error"],
    ["constructor chain", "console.log.constructor.constructor('return process')()", "error"],
    [
      "worker escape by stack traces",
      "Error.prepareStackTrace = (_, s) => s[0].getThis(); throw new Error().stack.getFunction()",
      "error",
    ],
    ["WebAssembly", "new WebAssembly.Memory({ initial: 1 })", "error"],
    ["throw of nothing", "throw undefined", "error"],
    ["throw of null", "throw null", "error"],
    ["throw of a proxy", "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })", "error"],
  ]

const small = sandboxLayer({ timeMs: 20_000, size: 2 })

layer(small)("Sandbox", (it) => {
  it.effect("S4-91 runs JavaScript and gives its value", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, unknown]> = [
        ["1 + 1", 2],
        ["const a = [1, 2, 3]\na.map((n) => n * 2)", [2, 4, 6]],
        ["const later = async () => 5\nawait later()", 5],
        ["Promise.resolve({ deep: Promise })", {}],
        ["return 7", 7],
        ["const x = await Promise.resolve(3)\nif (x > 2) return { x }\nreturn 0", { x: 3 }],
        ["undefined", null],
        ["let unused = 1", null],
        ["10n ** 20n", "100000000000000000000"],
        ["new Map([['a', 1]])", [["a", 1]]],
        ["new Set([1, 2])", [1, 2]],
        ["Symbol('s')", "Symbol(s)"],
        ["(function named() {})", "function named() {}"],
        ["const me = {}; me.me = me; me", "[object Object]"],
        ["'héllo 🌍'", "héllo 🌍"],
        ["new Date(0)", "1970-01-01T00:00:00.000Z"],
        ["({ __proto__: null, a: 1 })", { a: 1 }],
        [`JSON.parse('{"__proto__": {"evil": 1}}').evil`, null],
        ["JSON.stringify = () => 'forged'; ({ real: true })", { real: true }],
        ["Array.prototype.map = null; Object.prototype.toString = () => { throw 1 }; [1]", [1]],
      ]
      for (const [code, value] of cases) assert.deepStrictEqual((yield* run(code)).value, value, code)
    }),
  )

  it.effect("errors name their line and what was logged", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(run("const a = 1\nconsole.log('a is', a, { b: [2] })\nmissing.call()"))
      assert.strictEqual(error._tag, "ToolExecutionError")
      assert.strictEqual(error.toolName, "code-execute")
      assert.strictEqual(fault(error).line, 3)
      assert.include(error.message, "at line 3: ReferenceError: 'missing' is not defined")
      assert.include(error.message, 'a is 1 {"b":[2]}')
      const syntax = yield* Effect.flip(run("\nconst = 1"))
      assert.include(syntax.message, "at line 2: SyntaxError")
      const thrown = yield* Effect.flip(run("throw { code: 42 }"))
      assert.include(thrown.message, '{"code":42}')
    }),
  )

  it.effect("output is bounded and says where it was cut", () =>
    Effect.gen(function* () {
      const huge = yield* run("'é'.repeat(3e6)")
      assert.isTrue(huge.truncated)
      assert.isBelow(Buffer.byteLength(String(huge.value)), 66_000)
      assert.match(String(huge.value), /é… \[cut: 65536 bytes are the most\]$/)
      const list = yield* run("Array.from({ length: 1e5 }, (_, i) => i)")
      assert.isTrue(list.truncated)
      const loud = yield* run("for (let i = 0; i < 1e5; i++) console.log('line', i); 'done'")
      assert.strictEqual(loud.value, "done")
      assert.isBelow(Buffer.byteLength(loud.logs), 66_000)
      assert.match(loud.logs, /^line 0\nline 1\n[^]*\[the log ends here: 65536 bytes are the most\]$/)
    }),
  )

  it.effect("S4-91 nothing ambient: no environment, files, network, timers or modules, and nothing stays behind", () =>
    Effect.gen(function* () {
      const names =
        "process require module fetch XMLHttpRequest WebSocket setTimeout setInterval setImmediate queueMicrotask Worker WebAssembly Buffer std os Deno Bun navigator __dirname"
      const { value } = yield* run(`${JSON.stringify(names)}.split(" ").filter((name) => name in globalThis)`)
      assert.deepStrictEqual(value, [])
      yield* run("globalThis.left = 'behind'; Object.prototype.left = 'behind'")
      assert.strictEqual((yield* run("typeof left + typeof {}.left")).value, "undefinedundefined")
      assert.isFalse("left" in Object.prototype)
    }),
  )

  for (const [name, code, ...reasons] of hostile)
    it.effect(`S4-61 G-19 hostile code fails alone: ${name}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(run(code, reasons[0] === "time" ? 150 : 20_000))
        assert.strictEqual(error._tag, "ToolExecutionError")
        assert.include(reasons, fault(error).reason, error.message)
        assert.isBelow(error.message.length, 7000)
      }),
    )

  it.effect("S4-61 the event loop ticks and other calls run beside a busy loop", () =>
    Effect.gen(function* () {
      let ticks = 0
      let on = true
      const tick = () => {
        ticks++
        if (on) setImmediate(tick)
      }
      tick()
      const bad = yield* Effect.forkChild(Effect.flip(run("for (;;);", 400)))
      for (let i = 0; i < 10; i++) assert.strictEqual((yield* run(`${i} * 2`)).value, i * 2)
      const during = ticks
      assert.strictEqual(fault(yield* Fiber.join(bad)).reason, "time")
      on = false
      assert.isAbove(during, 50)
    }),
  )

  it.effect("S4-58 a memory limit is a limit: live data stays within it", () =>
    Effect.gen(function* () {
      const fits = "const all = []; for (let i = 0; i < 10; i++) all.push(new Uint8Array(1 << 20).fill(1)); all.length"
      assert.strictEqual((yield* run(fits)).value, 10)
      const error = yield* Effect.flip(run(fits.replaceAll("10", "40")))
      assert.strictEqual(fault(error).reason, "memory")
      assert.include(error.message, "32 MiB")
    }),
  )

  it.effect("code that is too long is refused before it runs", () =>
    Effect.gen(function* () {
      assert.strictEqual(fault(yield* Effect.flip(run(" ".repeat(300_000)))).reason, "size")
    }),
  )

  it.effect("any JSON value comes back as it went in", () =>
    holds(fc.jsonValue(), 60, (value) =>
      Effect.gen(function* () {
        const text = JSON.stringify(value)
        const back = yield* run(`JSON.parse(${JSON.stringify(text)})`)
        assert.strictEqual(JSON.stringify(back.value), JSON.stringify(JSON.parse(text)))
      }),
    ),
  )

  it.effect("any text is run or refused, and never breaks the interpreter", () =>
    holds(fc.string({ unit: "binary", maxLength: 200 }), 150, (code) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(run(code))
        if (Exit.isFailure(exit)) assert.strictEqual(fault(yield* Effect.flip(exit)).reason, "error")
      }),
    ),
  )
})

describe("Sandbox pool", () => {
  it.effect("calls beyond the queue are refused at once, and an interrupted call gives its place back", () =>
    Effect.gen(function* () {
      const first = yield* Effect.forkChild(run("for (;;);", 20_000))
      const second = yield* Effect.forkChild(run("2"))
      yield* Effect.yieldNow
      const third = yield* Effect.flip(run("3"))
      assert.strictEqual(fault(third).reason, "busy")
      assert.include(third.message, "1 calls run and 1 wait")
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* Fiber.join(second)).value, 2)
      assert.strictEqual((yield* run("4")).value, 4)
    }).pipe(Effect.provide(sandboxLayer({ size: 1, queue: 1 }))),
  )

  it.effect("a closed sandbox ends what runs in it", () =>
    Effect.gen(function* () {
      const built = yield* Deferred.make<void>()
      const call = yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkDetach(Effect.flip(run("for (;;);", 20_000)))
        yield* Effect.yieldNow
        yield* Deferred.succeed(built, undefined)
        return fiber
      }).pipe(Effect.provide(Layer.fresh(sandboxLayer({ size: 1 }))))
      assert.strictEqual(fault(yield* Fiber.join(call)).reason, "crash")
    }),
  )

  it.effect("without a layer there is one for the process", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run("6 * 7")).value, 42)
    }),
  )

  it.effect("a process that used it ends by itself, though workers are kept warm", () =>
    Effect.promise(async () => {
      const module = new URL("../../src/sandbox/Sandbox.ts", import.meta.url).href
      const program = `
        import { Effect } from "effect"
        import { Sandbox } from "${module}"
        const run = (code) => Effect.flatMap(Sandbox, (it) => Effect.exit(it.run(code, { tool: "x", timeMs: 50 })))
        await Effect.runPromise(Effect.all([run("1"), run("for (;;);")]))
        console.log("done")`
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        timeout: 20_000,
        cwd: import.meta.dirname,
      })
      assert.strictEqual(stdout, "done\n")
    }),
  )
})
