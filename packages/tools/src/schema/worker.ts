/** Compiles schemas and checks values on a separate thread, where a slow one blocks nothing else. */
// edge: a worker speaks messages.
import { parentPort } from "node:worker_threads"
import { type Compiled, compileSchema } from "./compile.ts"
import type { SchemaFault } from "./faults.ts"
import { BoundedCache } from "../boundedCache.ts"

export interface ValidationRequest {
  readonly id: number
  readonly digest: string
  /** Left out if it was sent before. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** Left out if only the schema is checked. */
  readonly value?: unknown
}
export type ValidationResult =
  | { readonly id: number; readonly fault: SchemaFault | undefined }
  | { readonly id: number; readonly unchecked: ReadonlyArray<string> }
  | { readonly id: number; readonly broken: string }
  /** It was sent before but is gone by now: send it again. */
  | { readonly id: number; readonly lacks: true }

const compiled = new BoundedCache<string, Compiled>(200)

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

// Everything is loaded: from now on the deadline counts.
parentPort!.postMessage("ready")
