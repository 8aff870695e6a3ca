/**
 * What an agent's program asks before it uses one of its own tools, such as a shell: the question becomes a decision of
 * the house. The program is told no at once, with the reason; asked again in the same run, it gets the person's answer.
 * The form is that of Claude Code's `--permission-prompt-tool`.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { callFrom, Calls } from "../../calls/Calls.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { catalogueOffer, text } from "../toolsetTool.ts"

type Fields = Readonly<Record<string, unknown>>

interface PermitInput {
  readonly tool_name: string
  readonly input: Fields
}

const own = { type: "object", description: "The input that the tool would get" }
const named = text("A tool of the program's own, such as Bash", { minLength: 1, maxLength: 200 })

const asked =
  "A person has been asked. End your turn now. Their answer will be your next message; if they agree, try again then."

export const teamPermits = Effect.gen(function* () {
  const calls = yield* Calls
  // As text: Claude Code accepts a single text from it, which it parses as JSON.
  const answer = (said: Fields): string => JSON.stringify(said)
  const no = (message: string) => answer({ behavior: "deny", message })

  return [
    catalogueOffer("team", {
      name: "permit_use",
      description: "Ask whether a tool of your own may be used. Programs ask this by themselves.",
      effects: "outside",
      onlyInTurn: true,
      input: {
        properties: {
          tool_name: named,
          input: own,
          tool_use_id: text("Its number in the program", { maxLength: 200 }),
        },
        required: ["tool_name", "input"],
      },
      run: Effect.fnUntraced(function* ({ input, tool_name: tool }: PermitInput, { run }: HandlerCall) {
        const digest = createHash("sha256")
          .update(JSON.stringify([tool, input]))
          .digest("hex")
        // The same question in the same run is the same call: the answer is valid only in that run.
        const request = { tool: "allow_use", input: { tool, input }, key: `permit:${run?.id ?? ""}:${digest}`, wait: 0 }
        const found = yield* Effect.result(calls.call(request))
        if (found._tag === "Failure") return no("message" in found.failure ? found.failure.message : "It is refused.")
        const { error, input: approved, state } = callFrom(found.success)
        if (state === "done") return answer({ behavior: "allow", updatedInput: (approved as Fields)["input"] ?? input })
        return no(error === undefined ? asked : error.message)
      }),
    }),
    catalogueOffer("team", {
      name: "allow_use",
      approvedOnce: true,
      description:
        "Use a tool of your own, once a person has approved it. Do not call this yourself: permit_use calls it for you.",
      effects: "none",
      requiresApproval: true,
      input: { properties: { tool: named, input: own }, required: ["tool", "input"] },
      run: ({ tool }: { readonly tool: string }) =>
        Effect.succeed({ allowed: true, tool, next: "This is allowed now, as you asked. Try it again." }),
    }),
  ]
})
