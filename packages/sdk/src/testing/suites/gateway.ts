/** Seed 001: the built-in tools of an agent behind the gateway. */
import {
  casesOf,
  expectDone,
  expectTrue,
  namesOf,
  type ToolClient,
  expectRefused,
  expectAllRefused,
  expectEqual,
  type SuiteCase,
} from "./suite.ts"

export interface Gateway {
  readonly one: ToolClient
  readonly other: ToolClient
  /** A space that both are members of, and one that only `other` is. */
  readonly space: string
  readonly closed: string
}

const thirteen = [
  "delete_goals",
  "delete_memories",
  "delete_plans",
  "enter_space",
  "get_my_runs",
  "get_plans",
  "read_messages",
  "send_message",
  "send_reply",
  "set_goals",
  "set_memories",
  "set_plans",
  "stop_run",
]

const textsIn = async (client: ToolClient, input: object = {}) =>
  ((await expectDone(client, "read_messages", input))["messages"] as ReadonlyArray<{ readonly content: string }>).map(
    ({ content }) => content,
  )
const plansOf = async (client: ToolClient, input: object = {}) =>
  (await expectDone(client, "get_plans", input))["plans"] as ReadonlyArray<Readonly<Record<string, unknown>>>

export const gatewaySuite = (open: () => Promise<Gateway>): ReadonlyArray<SuiteCase> =>
  casesOf(open, [
    [
      "S1-34",
      "exactly thirteen tools are built in",
      async ({ one }) => expectEqual(await namesOf(one), thirteen, "the tools"),
    ],
    [
      "S1-37 S1-38 S1-44",
      "one speaks in the space one has entered; where one is no member one does not get in",
      async ({ closed, one, space }) => {
        expectTrue(
          /enter_space/.test(await expectRefused(one, "send_message", { text: "hi" })),
          "the refusal names enter_space",
        )
        const entered = await expectDone(one, "enter_space", { spaceId: space })
        expectEqual(entered["success"], true, "enter_space")
        await expectRefused(one, "enter_space", { spaceId: closed })
        const sent = await expectDone(one, "send_message", { text: "still here" })
        expectEqual(
          [sent["success"], sent["status"], typeof sent["messageId"]],
          [true, "delivered", "string"],
          "send_message",
        )
        expectEqual((await textsIn(one)).at(-1), "still here", "the active space")
      },
    ],
    [
      "S1-43 S1-47",
      "a message needs its text, and a reply what it answers",
      async ({ one, space }) => {
        await expectDone(one, "enter_space", { spaceId: space })
        await expectAllRefused(one, "send_message", [{}, { text: 1 }])
        await expectAllRefused(one, "send_reply", [{ text: "yes" }, { replyToMessageId: "x" }])
      },
    ],
    [
      "S1-50 S1-51",
      "messages are read from the active or a given space, page by page; not where one is no member",
      async ({ closed, one, other, space }) => {
        await expectRefused(one, "read_messages", {})
        await expectRefused(one, "read_messages", { spaceId: closed })
        await expectDone(other, "enter_space", { spaceId: space })
        for (const text of ["a", "b", "c"]) await expectDone(other, "send_message", { text })
        const newest = await textsIn(one, { spaceId: space, limit: 2 })
        const older = await textsIn(one, { spaceId: space, limit: 1, offset: 2 })
        expectEqual([...older, ...newest], ["a", "b", "c"], "two pages")
      },
    ],
    [
      "S1-54",
      "goals are made, changed and deleted, each by whom it belongs to",
      async ({ one, other }) => {
        const made = await expectDone(one, "set_goals", { goals: [{ description: "sell paper" }] })
        const [{ id }] = made["goals"] as [{ readonly id: string }]
        await expectDone(one, "set_goals", { goals: [{ id, description: "sell more paper" }] })
        await other.call("delete_goals", { ids: [id] })
        const kept = await expectDone(one, "set_goals", { goals: [{ id, description: "sell all paper" }] })
        expectEqual((kept["goals"] as ReadonlyArray<{ readonly id: string }>)[0]?.id, id, "the goal is still there")
        await expectDone(one, "delete_goals", { ids: [id] })
      },
    ],
    [
      "S1-56",
      "memories are kept by key, and counted",
      async ({ one }) => {
        const set = (memories: ReadonlyArray<object>) => expectDone(one, "set_memories", { memories })
        const first = await set([
          { key: "a", value: "1" },
          { key: "b", value: "2" },
        ])
        expectEqual([first["success"], first["count"]], [true, 2], "two are set")
        expectEqual((await set([{ key: "a", value: "3" }]))["count"], 1, "one is changed")
        expectEqual(
          (await expectDone(one, "delete_memories", { keys: ["a", "never-used"] }))["count"],
          1,
          "one is deleted",
        )
      },
    ],
    [
      "S1-58 S1-59",
      "a plan has exactly one of delay, time and cron, and its next time at once",
      async ({ one, other }) => {
        const plan = { name: "ring", instruction: "call Ann" }
        for (const when of [
          {},
          { runAfter: "2 hours", cron: "0 9 * * *" },
          { cron: "61 9 * * *" },
          { runAfter: "soon" },
        ])
          await expectRefused(one, "set_plans", { plans: [{ ...plan, ...when }] })
        expectEqual((await plansOf(one)).length, 0, "what was refused left nothing")
        await expectDone(one, "set_plans", { plans: [{ ...plan, cron: "0 9 * * *" }] })
        const [made] = await plansOf(one)
        expectTrue(typeof made?.["nextRunAt"] === "string", "the next time is known")
        expectEqual((await plansOf(other)).length, 0, "plans are one's own")
        await expectDone(one, "delete_plans", { ids: [made!["id"]] })
        expectEqual((await plansOf(one)).length, 0, "the plan is gone")
      },
    ],
    [
      "S1-61",
      "one sees one's own runs",
      async ({ one }) =>
        expectTrue(Array.isArray((await expectDone(one, "get_my_runs"))["runs"]), "get_my_runs gives runs"),
    ],
  ])
