/** The fixture tools that become tasks, and the tasks themselves, in memory: the house keeps its own in a table. */
import { randomUUID } from "node:crypto"
import { Duration, Effect, Fiber } from "effect"
import type { ClientAnswers, ClientRequests, Content, Outcome, Task } from "../../src/doors/mcp/Desk.ts"
import { Fault } from "../../src/doors/mcp/Fault.ts"
import { asks, type FixtureTool, form, nothing, object, say, tool, typed } from "./kit.ts"

type Ending = Content | Fault

interface Kept {
  task: Task
  readonly asks: Map<string, ClientRequests[string]>
  readonly heard: Record<string, ClientAnswers[string]>
  readonly finish: (answers: ClientAnswers) => Ending
  work: Fiber.Fiber<unknown, unknown> | undefined
}

const now = () => new Date().toISOString()
const later = (seconds: number) => Effect.sleep(Duration.seconds(seconds))
const confirm = object({ confirm: { type: "boolean" } }, "confirm")
const needsTasks: Outcome = {
  _tag: "Lacks",
  capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
}

export const makeTasks = () => {
  const all = new Map<string, Kept>()

  const set = (kept: Kept, change: Partial<Task>) => {
    kept.task = { ...kept.task, ...change, updatedAt: now() }
  }
  const isOver = ({ status }: Task) => status !== "working" && status !== "input_required"
  const end = (kept: Kept) => {
    if (isOver(kept.task)) return
    const ending = kept.finish(kept.heard)
    if (ending instanceof Fault) set(kept, { status: "failed", fault: ending })
    else set(kept, { status: "completed", outcome: ending })
  }

  const begin = (options: {
    readonly seconds?: number
    readonly asks?: ClientRequests
    readonly finish: (answers: ClientAnswers) => Ending
  }): Effect.Effect<Outcome> =>
    Effect.gen(function* () {
      const id = randomUUID()
      const asked = new Map(Object.entries(options.asks ?? {}))
      const kept: Kept = {
        task: {
          id,
          status: asked.size > 0 ? "input_required" : "working",
          createdAt: now(),
          updatedAt: now(),
          ttlMs: 3_600_000,
          pollMs: 200,
          ...(asked.size > 0 ? { requests: options.asks! } : {}),
        },
        asks: asked,
        heard: {},
        finish: options.finish,
        work: undefined,
      }
      all.set(id, kept)
      if (asked.size === 0)
        kept.work = yield* Effect.forkDetach(
          Effect.andThen(
            later(options.seconds ?? 1),
            Effect.sync(() => end(kept)),
          ),
        )
      return { _tag: "Running", call: id, task: kept.task }
    })

  const tools: ReadonlyArray<FixtureTool> = [
    tool("slow_compute", object({ seconds: { type: "number" }, label: { type: "string" } }), (use) => {
      const seconds = Number(use.arguments["seconds"] ?? 0)
      const result = say(`Computed ${JSON.stringify(use.arguments["label"] ?? "it")} in ${seconds} s`)
      return use.mayBeTask ? begin({ seconds, finish: () => result }) : Effect.as(later(seconds), result)
    }),
    tool("failing_job", nothing, (use) =>
      use.mayBeTask
        ? begin({
            finish: () => ({
              _tag: "Content",
              result: { content: [{ type: "text", text: "The job failed, as it does" }], isError: true },
            }),
          })
        : needsTasks,
    ),
    tool("protocol_error_job", nothing, (use) =>
      use.mayBeTask ? begin({ seconds: 0.2, finish: () => new Fault(-32603, "The job broke") }) : needsTasks,
    ),
    tool("confirm_delete", object({ filename: { type: "string" } }), (use) =>
      use.mayBeTask
        ? begin({
            asks: { confirm: form(`Delete ${String(use.arguments["filename"])}?`, confirm) },
            finish: (answers) => say(typed(answers["confirm"], "confirm") === true ? "Deleted" : "Kept"),
          })
        : needsTasks,
    ),
    tool("multi_input", nothing, (use) =>
      use.mayBeTask
        ? begin({
            asks: {
              name: form("Your name?", object({ name: { type: "string" } }, "name")),
              confirm: form("Really?", confirm),
            },
            finish: () => say("Both are here"),
          })
        : needsTasks,
    ),
    tool("test_tool_with_task", nothing, (use, { answers }) => {
      const answer = answers["user_name"]
      if (!use.mayBeTask) return needsTasks
      if (answer === undefined)
        return asks({ user_name: form("What is your name?", object({ name: { type: "string" } }, "name")) })
      return begin({ seconds: 0.2, finish: () => say(`Hello, ${String(typed(answer, "name"))}!`) })
    }),
  ]

  return {
    tools,
    get: (id: string) => Effect.sync(() => all.get(id)?.task),
    update: (id: string, answers: ClientAnswers) =>
      Effect.sync(() => {
        const kept = all.get(id)
        if (kept === undefined) return false
        for (const [key, answer] of Object.entries(answers)) {
          if (!kept.asks.delete(key)) continue
          kept.heard[key] = answer
          set(kept, { requests: Object.fromEntries(kept.asks) })
          if (kept.asks.size === 0) end(kept)
        }
        return true
      }),
    cancel: (id: string) =>
      Effect.gen(function* () {
        const kept = all.get(id)
        if (kept === undefined) return false
        if (isOver(kept.task)) return true
        set(kept, { status: "cancelled" })
        if (kept.work !== undefined) yield* Fiber.interrupt(kept.work)
        return true
      }),
  }
}
