/** Compiles schemas and checks values on a thread of its own, where a slow one hurts nobody. */
// edge: a worker speaks messages.
import { parentPort } from "node:worker_threads"
import { type Compiled, compileSchema, type SchemaFault } from "./compile.ts"
import { Recent } from "../recent.ts"

export interface ValidationRequest {
  readonly id: number
  readonly digest: string
  /** Left out where it was sent before. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Left out where the schema alone is asked about. */
  readonly value?: unknown
}
export type ValidationResult =
  | { readonly id: number; readonly fault: SchemaFault | undefined }
  | { readonly id: number; readonly unchecked: ReadonlyArray<string> }
  | { readonly id: number; readonly broken: string }
  /** It was sent before and is gone by now: send it again. */
  | { readonly id: number; readonly lacks: true }

const compiled = new Recent<string, Compiled>(200)

const answerTo = (question: ValidationRequest): ValidationResult => {
  const { digest, id, schema } = question
  try {
    const known = compiled.find(digest)
    if (known === undefined && schema === undefined) return { id, lacks: true }
    const it = known ?? compileSchema(schema!)
    compiled.set(digest, it)
    return "value" in question ? { id, fault: it.check(question.value) } : { id, unchecked: it.unchecked }
  } catch (cause) {
    return { id, broken: String(cause).slice(0, 1000) }
  }
}

parentPort!.on("message", (question: ValidationRequest) => parentPort!.postMessage(answerTo(question)))

// Everything is loaded: from now on an answer is a matter of work.
parentPort!.postMessage("ready")
