/** The fixture tools that become tasks, for clients that know them. A task is a call, so the house keeps it. */
import { MCPRefused } from "@stoa/tools"
import { Duration, Effect } from "effect"
import type { Offered } from "../../src/toolsets/face.ts"
import {
  asks,
  asksLater,
  failing,
  form,
  type Line,
  needsTasks,
  nothing,
  object,
  type Result,
  say,
  tool,
  typed,
} from "./fixture.ts"

const confirm = object({ confirm: { type: "boolean" } }, "confirm")
const name = object({ name: { type: "string" } }, "name")

const later = (line: Line, seconds: number, result: () => Result): Effect.Effect<Result> =>
  Effect.suspend(() => {
    if (line.takesTasks) line.letGo()
    return Effect.sync(result).pipe(Effect.delay(Duration.seconds(seconds)))
  })

export const longTools: ReadonlyArray<Offered> = [
  tool("slow_compute", object({ seconds: { type: "number" }, label: { type: "string" } }), (args, line) => {
    const seconds = Number(args["seconds"] ?? 0)
    return later(line, seconds, () => say(`Computed ${JSON.stringify(args["label"] ?? "it")} in ${seconds} s`))
  }),
  tool("failing_job", nothing, (_, line) =>
    line.takesTasks ? later(line, 1, () => failing("The job failed, as it does")) : needsTasks,
  ),
  tool("protocol_error_job", nothing, (_, line) =>
    line.takesTasks ? later(line, 0.2, () => new MCPRefused(-32_603, "The job broke")) : needsTasks,
  ),
  tool("confirm_delete", object({ filename: { type: "string" } }), (args, { answers, takesTasks }) => {
    if (!takesTasks) return needsTasks
    const answer = answers["confirm"]
    if (answer === undefined) return asksLater({ confirm: form(`Delete ${String(args["filename"])}?`, confirm) })
    return say(typed(answer, "confirm") === true ? "Deleted" : "Kept")
  }),
  tool("multi_input", nothing, (_, { answers, takesTasks }) => {
    if (!takesTasks) return needsTasks
    if (answers["name"] !== undefined && answers["confirm"] !== undefined) return say("Both are here")
    return asksLater({ name: form("Your name?", name), confirm: form("Really?", confirm) })
  }),
  tool("test_tool_with_task", nothing, (_, line) => {
    const answer = line.answers["user_name"]
    if (!line.takesTasks) return needsTasks
    if (answer === undefined) return asks({ user_name: form("What is your name?", name) })
    return later(line, 0.2, () => say(`Hello, ${String(typed(answer, "name"))}!`))
  }),
]
