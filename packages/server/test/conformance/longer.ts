/**
 * The fixture tools that become tasks, for clients that know them. A task is a call, so the house keeps it. For any other
 * client they simply take their time; only one of them insists.
 */
import { MCPRefused } from "@stoa/tools"
import { Duration, Effect } from "effect"
import type { CatalogueOffer } from "../../src/toolsets/toolsetTool.ts"
import type { InputRequired } from "../../src/servers/InputRequired.ts"
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

/** Longer than a house waits before it makes a task of what a server takes its time for. */
const aWhile = 1

const later = (line: Line, seconds: number, result: () => Result): Effect.Effect<Result> =>
  Effect.suspend(() => {
    if (line.takesTasks) line.letGo()
    return Effect.sync(result).pipe(Effect.delay(Duration.seconds(seconds)))
  })

const asksAfterAWhile = (line: Line, questions: InputRequired["questions"]) =>
  line.takesTasks ? asksLater(questions) : later(line, aWhile, () => asks(questions))

export const longTools: ReadonlyArray<CatalogueOffer> = [
  tool("slow_compute", object({ seconds: { type: "number" }, label: { type: "string" } }), (args, line) => {
    const seconds = Number(args["seconds"] ?? 0)
    return later(line, seconds, () => say(`Computed ${JSON.stringify(args["label"] ?? "it")} in ${seconds} s`))
  }),
  tool("failing_job", nothing, (_, line) =>
    line.takesTasks ? later(line, aWhile, () => failing("The job failed, as it does")) : needsTasks,
  ),
  tool("protocol_error_job", nothing, (_, line) => later(line, aWhile, () => new MCPRefused(-32_603, "The job broke"))),
  tool("confirm_delete", object({ filename: { type: "string" } }), (args, line) => {
    const answer = line.answers["confirm"]
    if (answer === undefined)
      return asksAfterAWhile(line, { confirm: form(`Delete ${String(args["filename"])}?`, confirm) })
    return say(typed(answer, "confirm") === true ? "Deleted" : "Kept")
  }),
  tool("multi_input", nothing, (_, line) => {
    const { confirm: sure, name: given } = line.answers
    if (given !== undefined && sure !== undefined) return say("Both are here")
    return asksAfterAWhile(line, { name: form("Your name?", name), confirm: form("Really?", confirm) })
  }),
  tool("test_tool_with_task", nothing, (_, line) => {
    const answer = line.answers["user_name"]
    if (answer === undefined) return asks({ user_name: form("What is your name?", name) })
    return later(line, aWhile, () => say(`Hello, ${String(typed(answer, "name"))}!`))
  }),
]
