/** Changes of rights: made at once, or waiting for a second person if a policy of the house asks for one. */
import type { Stoa } from "@stoa/sdk"
import { Effect } from "effect"
import { Failure } from "../Failure.ts"
import { ask, printLine, root } from "./root.ts"

interface Waiting {
  readonly state: "waiting"
  readonly on: { readonly id: string }
}
const waits = (answer: unknown): answer is Waiting =>
  typeof answer === "object" && answer !== null && "state" in answer && answer.state === "waiting"

/** Continues with the result. A waiting change is printed, explained, and exits with code 3. */
export const change = Effect.fnUntraced(function* <A>(question: (stoa: Stoa) => Promise<A>) {
  const answer = yield* ask(question)
  if (!waits(answer)) return answer as Exclude<A, { readonly state: "waiting" }>
  const { json } = yield* root
  if (json) yield* printLine(JSON.stringify(answer))
  return yield* new Failure({
    message: `A second person has to agree; nothing is changed yet. Another admin answers: stoa decide ${answer.on.id} --approve`,
    exitCode: 3,
  })
})
