/** Checks a value against a schema on a thread of its own, where a slow schema hurts nobody. */
// edge: a worker speaks messages.
import { parentPort } from "node:worker_threads"
import { type Checker, compileSchema, type SchemaFault } from "./compile.ts"
import { Recent } from "../recent.ts"

export interface Question {
  readonly id: number
  readonly digest: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly value: unknown
}
export type Answer =
  | { readonly id: number; readonly fault: SchemaFault | undefined }
  | { readonly id: number; readonly broken: string }

const checkers = new Recent<string, Checker>(200)

parentPort!.on("message", ({ digest, id, schema, value }: Question) => {
  let answer: Answer
  try {
    answer = { id, fault: checkers.get(digest, () => compileSchema(schema))(value) }
  } catch (cause) {
    answer = { id, broken: String(cause) }
  }
  parentPort!.postMessage(answer)
})

// Everything is loaded: from now on an answer is a matter of work.
parentPort!.postMessage("ready")
