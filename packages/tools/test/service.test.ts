/** ToolService: seed 004's own tests, in spirit, and what its ledger adds. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric, Tracer } from "effect"
import { TestClock } from "effect/testing"
import {
  type Answer,
  AuditPort,
  type AuditRecord,
  CurrentToolsConfig,
  DecisionsPort,
  defaultToolsConfig,
  EventsPort,
  type Identity,
  IdentityPort,
  makeRecordMemory,
  type Question,
  RecordPort,
  type ToolAuthorizationError,
  type ToolEvent,
  ToolExecutionError,
  ToolService,
  ToolServiceLive,
  ToolServiceStrict,
  type ToolsConfig,
} from "../src/index.ts"
import { definition, input } from "./kit.ts"

interface Ports {
  readonly identity?: Identity
  readonly ask?: (question: Question) => Effect.Effect<Answer, unknown>
  readonly audit?: (entry: AuditRecord) => Effect.Effect<void, unknown>
  readonly config?: Partial<ToolsConfig>
}

/** A service over spies: what it audited and told is there to read. */
const using = <A, E>(
  ports: Ports,
  test: (
    tools: ToolService["Service"],
    seen: { readonly audit: Array<AuditRecord>; readonly events: Array<ToolEvent> },
  ) => Effect.Effect<A, E>,
) => {
  const seen = { audit: [] as Array<AuditRecord>, events: [] as Array<ToolEvent> }
  const layer = Layer.mergeAll(
    Layer.succeed(AuditPort, { record: ports.audit ?? ((entry) => Effect.sync(() => void seen.audit.push(entry))) }),
    Layer.succeed(EventsPort, { publish: (event) => Effect.sync(() => void seen.events.push(event)) }),
    Layer.succeed(RecordPort, makeRecordMemory()),
    ...(ports.identity === undefined ? [] : [Layer.succeed(IdentityPort, ports.identity)]),
    ...(ports.ask === undefined ? [] : [Layer.succeed(DecisionsPort, { ask: ports.ask })]),
    ...(ports.config === undefined
      ? []
      : [Layer.succeed(CurrentToolsConfig, { ...defaultToolsConfig, ...ports.config })]),
  )
  return Effect.flatMap(ToolService, (tools) => test(tools, seen)).pipe(
    // Provided with the layer and nowhere else, as a program would.
    Effect.provide(Layer.provide(ToolServiceLive, layer)),
  )
}

const add = (args: Readonly<Record<string, unknown>>) => Effect.succeed((args["a"] as number) + (args["b"] as number))
const denyAll: Identity = { authorize: () => Effect.fail("no") }

describe("ToolService", () => {
  it.effect("S4-05, S4-27, S4-33 a registered tool is listed and runs: 2 + 3 is 5", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        yield* tools.register(definition(), add)
        assert.deepStrictEqual(
          (yield* tools.listTools()).map((one) => one.name),
          ["add"],
        )
        const output = yield* tools.execute(input())
        const { executionTimeMs, ...rest } = output
        assert.deepStrictEqual(rest, { toolName: "add", success: true, result: 5 })
        assert.isAtLeast(executionTimeMs, 0)
      }),
    ),
  )

  it.effect("S4-10, S4-27, S4-28, S4-31 the time that is told is the time it took", () =>
    using({}, (tools, seen) =>
      Effect.gen(function* () {
        yield* tools.register(definition(), (args) => Effect.delay(add(args), "1200 millis"))
        const fiber = yield* Effect.forkChild(tools.execute(input()))
        yield* TestClock.adjust("1200 millis")
        assert.strictEqual((yield* Fiber.join(fiber)).executionTimeMs, 1200)
        assert.strictEqual(seen.audit[0]!.durationMs, 1200)
        assert.strictEqual(seen.events[0]!.payload["executionTimeMs"], 1200)
      }),
    ),
  )

  it.effect(
    "S4-15, S4-43 an unknown tool is not found, the nearest name is offered, and those registered are listed",
    () =>
      using({}, (tools) =>
        Effect.gen(function* () {
          yield* tools.register(definition({ name: "web-search" }), add)
          const error = yield* Effect.flip(tools.execute(input({ toolName: "web_serch" })))
          assert.strictEqual(error._tag, "ToolNotFoundError")
          assert.deepInclude(error, { toolName: "web_serch", availableTools: ["web-search"] })
          assert.include(error.message, 'Did you mean "web-search"?')
          assert.deepInclude(yield* Effect.flip(tools.getTool("nope")), {
            _tag: "ToolNotFoundError",
            toolName: "nope",
            availableTools: ["web-search"],
          })
          assert.deepStrictEqual(yield* tools.getTool("web-search"), definition({ name: "web-search" }))
        }),
      ),
  )

  it.effect("S4-22 unknown beats denied, denied beats invalid: neither validator nor handler sees a denied call", () =>
    using({ identity: denyAll }, (tools) =>
      Effect.gen(function* () {
        let ran = 0
        yield* tools.register(definition(), () => Effect.sync(() => ++ran))
        const tags = yield* Effect.forEach([input({ toolName: "nope" }), input({ arguments: { a: "wrong" } })], (one) =>
          Effect.map(Effect.flip(tools.execute(one)), (error) => error._tag),
        )
        assert.deepStrictEqual(tags, ["ToolNotFoundError", "ToolAuthorizationError"])
        assert.strictEqual(ran, 0)
      }),
    ),
  )

  it.effect("S4-22 authorized, run, audited, told and answered, in this order; an invalid call is not run", () => {
    const order: Array<string> = []
    const note = (what: string) => Effect.sync(() => void order.push(what))
    const layer = Layer.mergeAll(
      Layer.succeed(IdentityPort, { authorize: () => note("authorize") }),
      Layer.succeed(AuditPort, { record: () => note("audit") }),
      Layer.succeed(EventsPort, { publish: () => note("event") }),
      Layer.succeed(RecordPort, makeRecordMemory()),
    )
    return Effect.gen(function* () {
      const tools = yield* ToolService
      yield* tools.register(definition(), () => note("run"))
      yield* tools.execute(input())
      yield* note("answer")
      assert.deepStrictEqual(order.splice(0), ["authorize", "run", "audit", "event", "answer"])
      yield* Effect.flip(tools.execute(input({ arguments: {} })))
      assert.deepStrictEqual(order, ["authorize", "audit", "event"])
    }).pipe(Effect.provide(Layer.provide(ToolServiceLive, layer)))
  })

  it.effect("S4-23, X-30 a not-found answer lists only what the agent may use", () =>
    using(
      { identity: { authorize: (_, resource) => (resource === "tools/open" ? Effect.void : Effect.fail("no")) } },
      (tools) =>
        Effect.gen(function* () {
          yield* tools.register(definition({ name: "open" }), add)
          yield* tools.register(definition({ name: "hidden" }), add)
          const error = yield* Effect.flip(tools.execute(input({ toolName: "hiden" })))
          assert.deepInclude(error, { availableTools: ["open"] })
          assert.notInclude(error.message, "hidden")
        }),
    ),
  )

  it.effect("S4-24, S4-93 authorization is asked for tools/<name> and execute, once for every call of any kind", () => {
    const asked: Array<ReadonlyArray<string>> = []
    let denies = false
    const identity: Identity = {
      authorize: (...question) =>
        Effect.suspend(() => {
          asked.push(question)
          return denies ? Effect.fail("no") : Effect.void
        }),
    }
    return using({ identity }, (tools) =>
      Effect.gen(function* () {
        yield* tools.register(definition(), add)
        yield* tools.execute(input())
        // Again, also where the outcome is at hand; by the wire name; where it will be found invalid.
        yield* Effect.repeat(tools.execute(input({ idempotencyKey: "k" })), { times: 1 })
        yield* Effect.flip(tools.execute(input({ arguments: {} })))
        assert.deepStrictEqual(
          asked.splice(0),
          Array.from({ length: 4 }, () => ["agent-1", "tools/add", "execute"]),
        )
        yield* tools.register(definition({ name: "a/b" }), add)
        yield* tools.execute(input({ toolName: "a__b" }))
        assert.deepStrictEqual(asked, [["agent-1", "tools/a/b", "execute"]])
        denies = true
        for (const call of [input(), input({ idempotencyKey: "k" }), input({ toolName: "a__b" })])
          assert.strictEqual((yield* Effect.flip(tools.execute(call)))._tag, "ToolAuthorizationError")
      }),
    )
  })

  it.effect("S4-20, S4-25, X-28 an identity that fails and one that crashes both deny, naming agent and tool", () =>
    Effect.forEach(
      [
        denyAll,
        { authorize: () => Effect.die("crash") },
        {
          authorize: () => {
            throw new Error("thrown")
          },
        },
      ] as ReadonlyArray<Identity>,
      (identity) =>
        using({ identity }, (tools) =>
          Effect.gen(function* () {
            yield* tools.register(definition(), add)
            const error = yield* Effect.flip(tools.execute(input()))
            assert.deepInclude(error, {
              _tag: "ToolAuthorizationError",
              toolName: "add",
              agentId: "agent-1",
              message: 'Agent agent-1 not authorized to execute tool "add"',
            })
          }),
        ),
    ),
  )

  it.effect("S4-26, S4-46 the handler gets validated arguments only: extras gone, defaults there", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        const parameters = [
          { name: "query", type: "string" as const, description: "", required: true },
          { name: "maxResults", type: "number" as const, description: "", required: false, default: 5 },
        ]
        yield* tools.register(definition({ name: "search", parameters }), (args) => Effect.succeed(args))
        const { result } = yield* tools.execute(
          input({ toolName: "search", arguments: { query: "x", extra: 1, agentId: "boss" } }),
        )
        assert.deepStrictEqual(result, { query: "x", maxResults: 5 })
      }),
    ),
  )

  it.effect("S4-28, S4-31, S4-111 success is audited and told once, with correlation id and duration", () =>
    using({}, (tools, seen) =>
      Effect.gen(function* () {
        yield* tools.register(definition(), add)
        yield* tools.execute(input({ correlationId: "c-1" }))
        const { callId } = seen.audit[0]!.metadata
        assert.match(callId, /^call_/)
        // Nothing passes on the test clock.
        assert.deepStrictEqual(seen.audit, [
          {
            agentId: "agent-1",
            sessionId: "session-1",
            action: "tool.execute",
            resource: "tools/add",
            result: "success",
            durationMs: 0,
            metadata: { correlationId: "c-1", callId },
          },
        ])
        assert.deepStrictEqual(seen.events, [
          { type: "tools.executed", payload: { toolName: "add", success: true, executionTimeMs: 0 } },
        ])
      }),
    ),
  )

  it.effect("S4-30, S4-111 each way to fail is audited once (failure or denied) and told once as tools.failed", () =>
    using(
      { identity: { authorize: (agent) => (agent === "stranger" ? Effect.fail("no") : Effect.void) } },
      (tools, seen) =>
        Effect.gen(function* () {
          yield* tools.register(definition(), add)
          yield* tools.register(
            definition({ name: "broken" }),
            () => new ToolExecutionError({ message: "broken", toolName: "broken" }),
          )
          yield* tools.register(definition({ name: "slow", timeoutMs: 100 }), () => Effect.never)
          const table = [
            [input({ toolName: "nope" }), "ToolNotFoundError", "failure"],
            [input({ agentId: "stranger" }), "ToolAuthorizationError", "denied"],
            [input({ arguments: {} }), "ToolValidationError", "failure"],
            [input({ toolName: "broken" }), "ToolExecutionError", "failure"],
            [input({ toolName: "slow" }), "ToolTimeoutError", "failure"],
          ] as const
          for (const [call, tag, result] of table) {
            seen.audit.length = seen.events.length = 0
            const fiber = yield* Effect.forkChild(Effect.flip(tools.execute(call)))
            yield* TestClock.adjust("1 second")
            const error = yield* Fiber.join(fiber)
            assert.strictEqual(error._tag, tag)
            assert.deepStrictEqual(
              seen.audit.map((entry) => [entry.resource, entry.agentId, entry.result, entry.metadata.errorTag]),
              [[`tools/${call.toolName}`, call.agentId, result, tag]],
            )
            const executionTimeMs = call.toolName === "slow" ? 100 : 0
            const { message } = error
            assert.deepStrictEqual(seen.events, [
              {
                type: "tools.failed",
                payload: { toolName: call.toolName, success: false, executionTimeMs, error: { tag, message } },
              },
            ])
          }
        }),
    ),
  )

  it.effect("S4-29 an audit that fails or throws never fails the call", () =>
    Effect.forEach(
      [
        () => Effect.fail("full"),
        () => {
          throw new Error("gone")
        },
      ] as ReadonlyArray<() => Effect.Effect<void, unknown>>,
      (audit) =>
        using({ audit }, (tools) =>
          Effect.gen(function* () {
            yield* tools.register(definition(), add)
            assert.strictEqual((yield* tools.execute(input())).result, 5)
          }),
        ),
    ),
  )

  it.effect("S4-16, S4-21, S4-57 a failing handler and a throwing one give typed failures that name the tool", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        yield* tools.register(definition({ name: "throws" }), () => {
          throw new Error("boom")
        })
        yield* tools.register(definition({ name: "dies" }), () => Effect.die("boom"))
        for (const toolName of ["throws", "dies"]) {
          const error = (yield* Effect.flip(tools.execute(input({ toolName })))) as ToolExecutionError
          assert.deepInclude(error, { _tag: "ToolExecutionError", toolName })
          assert.strictEqual(error.message, `Tool "${toolName}" crashed: boom`)
          assert.include(String(error.cause), "boom")
        }
        const own = { message: "the disk is full", toolName: "fails", input: { a: 2 }, cause: "ENOSPC" }
        yield* tools.register(definition({ name: "fails" }), () => new ToolExecutionError(own))
        const failed = yield* Effect.flip(tools.execute(input({ toolName: "fails" })))
        assert.deepInclude(failed, { _tag: "ToolExecutionError", ...own })
      }),
    ),
  )

  it.effect("S4-17, S4-56 a sleeping handler is stopped at its limit under its own name, and does nothing later", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        let later = false
        yield* tools.register(definition({ name: "sleepy", timeoutMs: 1000 }), () =>
          Effect.delay(
            Effect.sync(() => (later = true)),
            "2 seconds",
          ),
        )
        const fiber = yield* Effect.forkChild(Effect.flip(tools.execute(input({ toolName: "sleepy" }))))
        yield* TestClock.adjust("1 second")
        const late = yield* Fiber.join(fiber)
        assert.deepInclude(late, { _tag: "ToolTimeoutError", toolName: "sleepy", timeoutMs: 1000 })
        assert.include(late.message, 'Tool "sleepy" was stopped after 1000 ms')
        yield* TestClock.adjust("10 seconds")
        assert.isFalse(later)
      }),
    ),
  )

  it.effect("interrupting a call interrupts its handler, and the call is settled", () =>
    using({}, (tools, seen) =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>()
        const stopped = yield* Deferred.make<void>()
        yield* tools.register(definition({ name: "long" }), () =>
          Effect.onInterrupt(Effect.andThen(Deferred.succeed(started, undefined), Effect.never), () =>
            Deferred.succeed(stopped, undefined),
          ),
        )
        const fiber = yield* Effect.forkChild(tools.execute(input({ toolName: "long" })))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(stopped)
        assert.deepStrictEqual(
          seen.audit.map((entry) => entry.result),
          ["failure"],
        )
      }),
    ),
  )

  it.effect(
    "S4-94, S4-95, X-23 high risk, critical risk and the flag each wait for approval; denied does not run, approved does",
    () => {
      const verdicts: Array<Answer> = []
      const questions: Array<Question> = []
      const ask = (question: Question) =>
        Effect.sync(() => {
          questions.push(question)
          return verdicts.shift()!
        })
      return using({ ask }, (tools, seen) =>
        Effect.gen(function* () {
          let ran = 0
          const risky = [
            definition({ name: "high", riskLevel: "high" }),
            definition({ name: "critical", riskLevel: "critical" }),
            definition({ name: "flagged", requiresApproval: true }),
          ]
          for (const one of risky) {
            yield* tools.register(one, () => Effect.sync(() => ++ran))
            const before = ran
            verdicts.push({ state: "denied", reason: "not today" })
            const error = yield* Effect.flip(tools.execute(input({ toolName: one.name })))
            assert.strictEqual(error._tag, "ToolAuthorizationError")
            assert.include(error.message, "not today")
            assert.strictEqual(ran, before)
            verdicts.push({ state: "approved" })
            assert.isTrue((yield* tools.execute(input({ toolName: one.name }))).success)
            assert.strictEqual(ran, before + 1)
          }
          assert.deepStrictEqual(questions[0]!.input, { a: 2, b: 3 })
          assert.strictEqual(seen.audit.filter((entry) => entry.result === "denied").length, 3)
          yield* tools.register(definition({ name: "plain", riskLevel: "medium" }), add)
          yield* tools.execute(input({ toolName: "plain" }))
          assert.strictEqual(questions.length, 6)
        }),
      )
    },
  )

  it.effect("S4-94, S4-95 where the configuration lets high risk pass, the flag alone still waits", () => {
    const security = { ...defaultToolsConfig.security, blockHighRiskWithoutApproval: false }
    return using({ config: { security } }, (tools) =>
      Effect.gen(function* () {
        for (const riskLevel of ["low", "medium", "high", "critical"] as const) {
          yield* tools.register(definition({ name: `free-${riskLevel}`, riskLevel }), add)
          assert.isTrue((yield* tools.execute(input({ toolName: `free-${riskLevel}` }))).success)
          yield* tools.register(definition({ name: riskLevel, riskLevel, requiresApproval: true }), add)
          const error = yield* Effect.flip(tools.execute(input({ toolName: riskLevel })))
          assert.strictEqual(error._tag, "ToolAuthorizationError", riskLevel)
        }
      }),
    )
  })

  it.effect("X-22 a hint gives no permission and takes none: risk, approval and annotations are each their own", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        const harmless = { readOnlyHint: true, destructiveHint: false }
        yield* tools.register(definition({ name: "claims", riskLevel: "critical", annotations: harmless }), add)
        yield* tools.register(definition({ name: "warns", annotations: { destructiveHint: true } }), add)
        assert.strictEqual(
          (yield* Effect.flip(tools.execute(input({ toolName: "claims" }))))._tag,
          "ToolAuthorizationError",
        )
        assert.strictEqual((yield* tools.execute(input({ toolName: "warns" }))).result, 5)
        assert.deepInclude(yield* tools.getTool("claims"), {
          riskLevel: "critical",
          requiresApproval: false,
          annotations: harmless,
        })
      }),
    ),
  )

  it.effect("X-31 with nobody to ask, an approval is refused, never given; a port that crashes refuses too", () =>
    Effect.forEach([{}, { ask: () => Effect.die("gone") }] as ReadonlyArray<Ports>, (ports) =>
      using(ports, (tools) =>
        Effect.gen(function* () {
          yield* tools.register(definition({ riskLevel: "high" }), add)
          assert.strictEqual((yield* Effect.flip(tools.execute(input())))._tag, "ToolAuthorizationError")
        }),
      ),
    ),
  )

  it.effect(
    "X-15 a pending approval is an authorization error that names the decision; the same key goes on once it is answered",
    () => {
      let answered = false
      const asked: Array<string> = []
      const ask = ({ digest }: Question) =>
        Effect.sync((): Answer => {
          asked.push(digest)
          return answered ? { state: "approved", decision: "dec_1" } : { state: "waiting", decision: "dec_1" }
        })
      return using({ ask }, (tools, seen) =>
        Effect.gen(function* () {
          let ran = 0
          yield* tools.register(definition({ name: "wipe", riskLevel: "high" }), () => Effect.sync(() => ++ran))
          const call = input({ toolName: "wipe", idempotencyKey: "k" })
          const waiting = (yield* Effect.flip(tools.execute(call))) as ToolAuthorizationError
          assert.deepInclude(waiting, { _tag: "ToolAuthorizationError", decision: "dec_1" })
          assert.deepStrictEqual([ran, seen.audit.length], [0, 0])
          answered = true
          assert.strictEqual((yield* tools.execute(call)).result, 1)
          assert.strictEqual(new Set(asked).size, 1)
          const again = yield* tools.execute(call)
          assert.deepStrictEqual([again.result, again.metadata, ran], [1, { replayed: true }, 1])
          assert.deepStrictEqual(
            seen.audit.map((entry) => entry.result),
            ["success"],
          )
        }),
      )
    },
  )

  it.effect("the same idempotency key is the same call: it runs once, and never with other arguments", () =>
    using({}, (tools, seen) =>
      Effect.gen(function* () {
        let ran = 0
        const gate = yield* Deferred.make<void>()
        yield* tools.register(definition(), (args) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.sync(() => (++ran, (args["a"] as number) + (args["b"] as number))),
          ),
        )
        const call = input({ idempotencyKey: "once" })
        const first = yield* Effect.forkChild(tools.execute(call), { startImmediately: true })
        const during = yield* Effect.flip(tools.execute(call))
        assert.match(during.message, /still running/)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(first)
        assert.strictEqual((yield* tools.execute(call)).result, 5)
        const other = yield* Effect.flip(tools.execute({ ...call, arguments: { a: 1, b: 1 } }))
        assert.deepInclude(other, { _tag: "ToolValidationError", parameter: "idempotencyKey" })
        assert.strictEqual((yield* tools.execute({ ...call, agentId: "agent-2" })).result, 5)
        assert.deepStrictEqual([ran, seen.audit.filter((entry) => entry.result === "success").length], [2, 2])
      }),
    ),
  )

  it.effect("G-30 a result that does not fit the tool's own output schema is a failure", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        const outputSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
        yield* tools.register(definition({ name: "good", outputSchema }), () => Effect.succeed({ sum: 1 }))
        yield* tools.register(definition({ name: "bad", outputSchema }), () => Effect.succeed({ sum: "one" }))
        assert.isTrue((yield* tools.execute(input({ toolName: "good" }))).success)
        const error = yield* Effect.flip(tools.execute(input({ toolName: "bad" })))
        assert.strictEqual(error._tag, "ToolExecutionError")
        assert.match(error.message, /sum.*number/)
      }),
    ),
  )

  it.effect("S4-113 each execution is one span under its caller's, and is counted", () =>
    using({}, (tools) =>
      Effect.gen(function* () {
        const spans: Array<{ readonly name: string; readonly parent: string | undefined; readonly id: string }> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push({
              name: options.name,
              id: span.spanId,
              parent: options.parent._tag === "Some" ? options.parent.value.spanId : undefined,
            })
            return span
          },
        })
        yield* tools.register(definition(), add)
        const figures = ["tools.executions", "tools.execution_duration_ms", "tools.errors"]
        const before = yield* Effect.forEach(figures, count)
        yield* tools.execute(input()).pipe(Effect.withSpan("step"), Effect.withTracer(tracer))
        yield* Effect.flip(tools.execute(input({ arguments: {} })))
        const step = spans.find((span) => span.name === "step")!
        assert.deepStrictEqual(
          spans.filter((span) => span.name === "tools.execute").map((span) => span.parent),
          [step.id],
        )
        const after = yield* Effect.forEach(figures, count)
        assert.deepStrictEqual(
          after.map((value, at) => value - before[at]!),
          [2, 2, 1],
        )
      }),
    ),
  )

  it.effect("S4-02, X-31 the layer builds with and without an identity; strict mode refuses to start without one", () =>
    Effect.gen(function* () {
      const build = (layer: Layer.Layer<ToolService>) => Effect.exit(Effect.scoped(Layer.build(layer)))
      assert.strictEqual((yield* build(ToolServiceLive))._tag, "Success")
      assert.strictEqual((yield* build(ToolServiceStrict))._tag, "Failure")
      const own = Layer.provide(ToolServiceStrict, Layer.succeed(IdentityPort, denyAll))
      assert.strictEqual((yield* build(own))._tag, "Success")
    }),
  )

  it.effect("S4-80 a tool called by its wire name is the tool, under its own name", () =>
    using({}, (tools, seen) =>
      Effect.gen(function* () {
        yield* tools.register(definition({ name: "github/create_issue" }), () => Effect.succeed("made"))
        const output = yield* tools.execute(input({ toolName: "github__create_issue" }))
        assert.deepInclude(output, { toolName: "github/create_issue", result: "made" })
        assert.strictEqual(seen.audit[0]!.resource, "tools/github/create_issue")
      }),
    ),
  )

  it.effect(
    "S4-34 a duplicate and the 1001st are left out and reported; with the flag a duplicate takes the place",
    () =>
      Effect.gen(function* () {
        yield* using({ config: { registry: { maxTools: 3, allowDuplicateNames: false } } }, (tools, seen) =>
          Effect.gen(function* () {
            yield* tools.register(definition(), add)
            yield* tools.register(definition(), () => Effect.succeed("second"))
            assert.strictEqual((yield* tools.execute(input())).result, 5)
            for (const name of ["b", "c", "d"]) yield* tools.register(definition({ name }), add)
            assert.deepStrictEqual(
              (yield* tools.listTools()).map((one) => one.name),
              ["add", "b", "c"],
            )
            assert.deepStrictEqual(
              seen.events.filter((event) => event.type === "tools.rejected").map((event) => event.payload["toolName"]),
              ["add", "d"],
            )
            assert.include(String(seen.events[0]!.payload["message"]), "the first one stays")
          }),
        )
        yield* using({ config: { registry: { maxTools: 3, allowDuplicateNames: true } } }, (tools) =>
          Effect.gen(function* () {
            yield* tools.register(definition(), add)
            yield* tools.register(definition(), () => Effect.succeed("second"))
            assert.strictEqual((yield* tools.execute(input())).result, "second")
          }),
        )
      }),
  )
})

const count = (name: string) =>
  Effect.map(Metric.snapshot, (metrics) => {
    const found = metrics.find((metric) => metric.id === name)
    return found === undefined ? 0 : Number((found.state as { readonly count: number | bigint }).count)
  })
