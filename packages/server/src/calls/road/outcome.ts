/** What an ending writes into a call's row. Pure. */
import type { CallError, FileId } from "@stoa/contract"
import type { Failure, Settled } from "@stoa/tools"
import { largestFile } from "../../store/Files.ts"
import type { Traces } from "./Handler.ts"
import { type Settling, to } from "./record/lifecycle.ts"
import type { CallRow } from "./record/rows.ts"

/** Larger than this, a result is kept as a file and carried by reference (G-30). */
const largestOutput = 64 * 1024

export type Ending =
  | { readonly step: "finish"; readonly output: unknown }
  | {
      readonly step: Exclude<Settling, "finish">
      readonly error: Failure
      /** Who ended it, where that was no rule of the house's. */
      readonly rule?: string
    }

/** Said of a call that was cut off: it is never run again by itself. */
export const unknownOutcome: Failure = {
  tag: "ToolExecutionError",
  message: "The house stopped while this ran. Whether it had an effect is not known; look before you call it again",
}

/**
 * How a handler ended. Whoever cancels a call settles it first: what is interrupted otherwise was cut off by the end of the
 * house.
 */
export const endingOf = (settled: Settled): Ending => {
  if (settled.state === "done") return { step: "finish", output: settled.output }
  return { step: "fail", error: settled.error.tag === "Interrupted" ? unknownOutcome : settled.error }
}

export type Columns = Pick<CallRow, "state" | "output" | "outputFile" | "outputSize" | "meta" | "error"> & {
  readonly settledAt: string
  /** What refused it in the end, where that is not the rule it was judged by. */
  readonly rule?: string
}

const finished = to("finish")

/** The columns, and the output that is too large for them. */
export interface Outcome {
  readonly columns: Columns
  readonly large?: string
}

export const outcomeOf = (settledAt: string, ending: Ending, tool: string, { meta, redactor }: Traces): Outcome => {
  const empty = {
    meta: meta.size === 0 ? null : redactor.jsonText(JSON.stringify(Object.fromEntries(meta))),
    output: null as string | null,
    outputFile: null as FileId | null,
    outputSize: null as number | null,
    error: null as string | null,
    settledAt,
  }
  const failed = (step: Exclude<Settling, "finish">, error: Failure): Outcome => ({
    columns: {
      ...empty,
      state: to(step),
      error: redactor.jsonText(JSON.stringify(error)),
      ...(typeof error["rule"] === "string" ? { rule: error["rule"] } : {}),
    },
  })
  if (ending.step !== "finish") return failed(ending.step, ending.error)
  const given = textOf(ending.output)
  // Measured as it is kept: what stands for a secret may be longer than the secret.
  const output = given === undefined ? undefined : redactor.jsonText(given)
  if (output === undefined || Buffer.byteLength(output) > largestFile)
    return failed("fail", {
      tag: "ToolExecutionError",
      message:
        output === undefined
          ? `The result of "${tool}" is not JSON, and was not kept`
          : `The result of "${tool}" is larger than ${largestFile} bytes, and was not kept`,
    })
  const done = { ...empty, state: finished }
  return Buffer.byteLength(output) <= largestOutput
    ? { columns: { ...done, output } }
    : { columns: done, large: output }
}

const textOf = (output: unknown): string | undefined => {
  try {
    // What gives nothing gives null: JSON has no other word for it.
    return output === undefined ? "null" : JSON.stringify(output)
  } catch {
    return undefined
  }
}

/** An error in the journal is its tag and a sentence; the row has all of it. */
export const brief = (error: string): CallError => {
  const { message, tag } = JSON.parse(error) as CallError
  return { tag, message: message.slice(0, 1000) }
}
