/**
 * What seed 001's agents store: goals, memories and plans, by keys and ids and never by a piece of their text (S1-57).
 */
import { Caller, type MemoryId, withoutPrefix } from "@stoa/contract"
import { Effect } from "effect"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { type Goal, goalIn, goalTags } from "../../memory/plans/Goals.ts"
import { Memories } from "../../memory/Memories.ts"
import { type Plan, type PlanDefinition, Plans, type PlanStatus } from "../../memory/plans/Plans.ts"
import { makeWriters } from "../parts/writers.ts"
import { type ToolsetTool, integer, lineOfText, catalogueOffer, text } from "../toolsetTool.ts"

const maxAtOnce = 50
const me = Effect.map(Caller, ({ principal }) => principal)
/** The writer and the call: every version records them. */
const writerIn = ({ id: call }: HandlerCall) => Effect.map(me, ({ id }) => ({ id, call }))
const tool = <A>(form: ToolsetTool<A>) => catalogueOffer("gateway", form)

const listOf = (description: string, properties: object, required: ReadonlyArray<string>) => ({
  type: "array",
  description,
  minItems: 1,
  maxItems: maxAtOnce,
  items: { type: "object", properties, required, additionalProperties: false },
})
const idsOf = (description: string) => ({
  type: "array",
  description,
  minItems: 1,
  maxItems: maxAtOnce,
  items: { type: "string", minLength: 1, maxLength: 512 },
})

/** Ids made by the house are bare UUIDs in this toolset; internally they are `mem_…`. */
const recordId = (id: string): MemoryId =>
  (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? `mem_${id}` : id) as MemoryId

/** First of every act, because it may write several records. */
const turn = Effect.gen(function* () {
  const memories = yield* Memories
  return Effect.flatMap(me, ({ id }) => memories.takeTurn(id))
})

/** Records of one kind by key: used for goals and for memories. */
const makeKept = Effect.fnUntraced(function* (kind: string) {
  const memories = yield* Memories
  const myTurn = yield* turn
  const find = Effect.fnUntraced(function* (key: string) {
    const by = yield* me
    const { items } = yield* memories.list(by, { namespace: "gateway", kind, key, owner: by.id, limit: 1 })
    return items[0]
  })
  const remove = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    const by = yield* me
    yield* myTurn
    let count = 0
    for (const key of new Set(keys)) {
      const found = yield* find(key)
      if (found === undefined) continue
      yield* memories.remove(by, found.id, false)
      count++
    }
    return { success: true, count }
  })
  const put = Effect.fnUntraced(function* (
    call: HandlerCall,
    key: string | undefined,
    content: string,
    tags: ReadonlyArray<string>,
  ) {
    const by = yield* writerIn(call)
    const wanted = { namespace: "gateway" as const, kind, content, tags }
    return (yield* memories.put(by, by.id, key === undefined ? wanted : { ...wanted, key })).record
  })
  return { myTurn, find, remove, put }
})

const goals = Effect.gen(function* () {
  const kept = yield* makeKept("goal")
  return [
    tool({
      name: "set_goals",
      description: "Create or update your goals. If you give the id of one of your goals, that goal is updated.",
      effects: "store",
      input: {
        properties: {
          goals: listOf(
            "The goals",
            {
              id: lineOfText("The goal's id, yours to choose; without one a new goal is made", 512),
              description: text("What you want to reach", { minLength: 1 }),
              status: text("active, completed, or a word of your own (active)", {
                pattern: "^[\\p{L}\\p{N}_-]{1,64}$",
              }),
              priority: integer("A higher number is more important", { minimum: 0, maximum: 1000 }),
              isLongTerm: { type: "boolean", description: "Whether it will take long" },
              isCompleted: { type: "boolean", description: "The same as status completed" },
            },
            [],
          ),
        },
        required: ["goals"],
      },
      run: Effect.fnUntraced(function* (input: { readonly goals: ReadonlyArray<Goal> }, call: HandlerCall) {
        yield* kept.myTurn
        const written: Array<object> = []
        for (const goal of input.goals) {
          const key = goal.id === undefined ? undefined : recordId(goal.id)
          const was = key === undefined ? undefined : yield* kept.find(key)
          const description = goal.description ?? was?.content
          if (description === undefined)
            return yield* Effect.fail({
              message: `The goal ${JSON.stringify(goal.id ?? "")} is new: give its description.`,
            })
          written.push(goalIn(yield* kept.put(call, key, description, goalTags(goal, was))))
        }
        return { success: true, count: written.length, goals: written }
      }),
    }),
    tool({
      name: "delete_goals",
      houseText: true,
      description: "Delete goals of yours by their ids.",
      effects: "store",
      annotations: { destructiveHint: true, idempotentHint: true },
      input: { properties: { ids: idsOf("The goals' ids") }, required: ["ids"] },
      run: (input: { readonly ids: ReadonlyArray<string> }) => kept.remove(input.ids.map(recordId)),
    }),
  ]
})

const memories = Effect.gen(function* () {
  const kept = yield* makeKept("memory")
  return [
    tool({
      name: "set_memories",
      houseText: true,
      description: "Store memories under keys. A key that already exists gets the new value.",
      effects: "store",
      annotations: { idempotentHint: true },
      input: {
        properties: {
          memories: listOf(
            "The memories",
            {
              key: lineOfText("Its name, such as project_deadline", 512),
              value: text("What to remember"),
            },
            ["key", "value"],
          ),
        },
        required: ["memories"],
      },
      run: Effect.fnUntraced(function* (
        input: { readonly memories: ReadonlyArray<{ readonly key: string; readonly value: string }> },
        call: HandlerCall,
      ) {
        yield* kept.myTurn
        for (const { key, value } of input.memories) yield* kept.put(call, key, value, [])
        return { success: true, count: input.memories.length }
      }),
    }),
    tool({
      name: "delete_memories",
      houseText: true,
      description: "Delete memories of yours by their keys. Unknown keys are ignored.",
      effects: "store",
      annotations: { destructiveHint: true, idempotentHint: true },
      input: { properties: { keys: idsOf("The memories' keys") }, required: ["keys"] },
      run: (input: { readonly keys: ReadonlyArray<string> }) => kept.remove(input.keys),
    }),
  ]
})

const planShown = ({ id, lastRunAt, nextRunAt, owner: _owner, writer: _writer, ...plan }: Plan) => ({
  id: withoutPrefix(id),
  ...plan,
  nextRunAt,
  lastRunAt,
})

const plans = Effect.gen(function* () {
  const service = yield* Plans
  const writers = yield* makeWriters
  const myTurn = yield* turn
  const written = {
    id: text("The plan's id, to change it; without one a new plan is made", { minLength: 1, maxLength: 512 }),
    name: text("What it is called", { minLength: 1, maxLength: 200 }),
    instruction: text("What to do when it is due", { minLength: 1 }),
    runAfter: text('Once, after a delay such as "2 hours". Exactly one of runAfter, scheduledAt and cron', {
      maxLength: 100,
    }),
    scheduledAt: text("Once, at a time such as 2027-03-01T09:00:00Z; without Z it is a time of the timezone", {
      maxLength: 100,
    }),
    cron: text('Again and again, by five cron fields such as "0 9 * * 1-5"', { maxLength: 100 }),
    timezone: text("The time zone of cron and scheduledAt, such as Europe/Berlin (UTC)", { maxLength: 100 }),
    missed: text(
      "What to do about times at which the house was not running: skip them, make up for one of them, or for all of them, 100 at most (once)",
      {
        enum: ["skip", "once", "all"],
      },
    ),
    jitter: integer("Starts up to this many seconds later, so that many plans do not start at once", {
      minimum: 0,
      maximum: 3600,
    }),
  }
  return [
    tool({
      name: "set_plans",
      description: "Create or update your plans: what to do later, once or again and again.",
      effects: "store",
      input: { properties: { plans: listOf("The plans", written, []) }, required: ["plans"] },
      run: Effect.fnUntraced(function* (
        input: { readonly plans: ReadonlyArray<Partial<PlanDefinition> & { readonly id?: string }> },
        call: HandlerCall,
      ) {
        const by = yield* writerIn(call)
        yield* myTurn
        const made = yield* Effect.forEach(input.plans, ({ id, ...plan }) =>
          service.set(by, id === undefined ? undefined : recordId(id), plan),
        )
        return { success: true, count: made.length, plans: made.map(planShown) }
      }),
    }),
    tool({
      name: "delete_plans",
      houseText: true,
      description: "Delete plans of yours by their ids. They will not run again.",
      effects: "store",
      annotations: { destructiveHint: true, idempotentHint: true },
      input: { properties: { ids: idsOf("The plans' ids") }, required: ["ids"] },
      run: Effect.fnUntraced(function* (input: { readonly ids: ReadonlyArray<string> }) {
        const by = yield* me
        yield* myTurn
        const removed = yield* Effect.forEach([...new Set(input.ids)], (id) => service.remove(by, recordId(id)))
        return { success: true, count: removed.filter((was) => was).length }
      }),
    }),
    tool({
      name: "get_plans",
      description: "List your plans, with the times of their next and last run; all of them, or those of one status.",
      effects: "none",
      input: { properties: { status: text("Only these", { enum: ["active", "completed"] }) } },
      run: Effect.fnUntraced(function* (input: { readonly status?: PlanStatus }) {
        const found = yield* service.list(yield* me, input.status)
        const listed = yield* Effect.forEach(found, (plan) =>
          Effect.map(writers.unless(plan.owner, plan.writer), (written) => ({ ...planShown(plan), ...written })),
        )
        return { plans: listed }
      }),
    }),
  ]
})

export const gatewayMemory = Effect.map(Effect.all([goals, memories, plans]), (tools) => tools.flat())
