/**
 * A tool that makes an image (S1-28). The image is stored as a file; the call's output names it and says how it was
 * made.
 */
import { ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import { imageModelOf, imageProviders } from "../../models/images/Image.ts"
import { ImageModels } from "../../models/images/ImageModels.ts"
import { Files } from "../../store/Files.ts"
import type { HandlerCall } from "../road/Handler.ts"
import type { Configured, Kind } from "./Kind.ts"
import { fillText, houseParts, type Part, readText, type Report } from "./templates/template.ts"

type Tool = Configured<"image">
type Input = Readonly<Record<string, unknown>>

/** A prompt leaves the house and comes back in the answer, so it must not contain secrets. */
const readPrompt = (tool: Tool, report: Report): ReadonlyArray<Part> | undefined => {
  const { prompt } = tool.execution
  if (prompt === undefined) return undefined
  const parts = readText(prompt, "execution.prompt", report)
  if (houseParts(parts).length > 0) report("execution.prompt", "holds input only, no variables or secrets of the house")
  return parts
}

const faultsOf = (tool: Tool) => {
  const issues: Array<{ readonly path: string; readonly message: string }> = []
  const parts = readPrompt(tool, (path, message) => issues.push({ path, message }))
  if (imageModelOf(tool.execution) === undefined)
    issues.push({
      path: "execution.provider",
      message: `there is no image provider "${tool.execution.provider}"; there are ${imageProviders.join(", ")}`,
    })
  return { issues, parts }
}

/** The prompt, or why there is none. Without a configured prompt it takes the input's. */
const promptOf = (parts: ReadonlyArray<Part> | undefined, input: Input): { prompt: string } | { problem: string } => {
  const problems: Array<string> = []
  const given = [input["prompt"], input["description"]].find((it) => typeof it === "string" && it.trim() !== "")
  const prompt = parts === undefined ? given : fillText(parts, { input, problems, house: () => "" })
  if (problems.length > 0) return { problem: problems.join("; ") }
  return typeof prompt === "string" && prompt.trim() !== "" ? { prompt } : { problem: 'there is no "input.prompt"' }
}

export const imageKind = Effect.gen(function* () {
  const models = yield* ImageModels
  const files = yield* Files

  const run = Effect.fnUntraced(function* (tool: Tool, prompt: string, { meta }: HandlerCall) {
    const fail = (message: string) => new ToolExecutionError({ message, toolName: tool.form.name })
    const { model, provider, quality, size } = tool.execution
    const image = yield* models
      .image({ provider, model, size, quality, prompt })
      .pipe(Effect.mapError((fault) => fail(`${fault.message}.`)))
    const file = yield* files
      .put(image.bytes, image.mediaType)
      .pipe(Effect.mapError((error) => fail(`The image was made but could not be stored. ${error.message}`)))
    // Stored beside the output, where no outside answer can write: the caller may read this file.
    meta.set("file", file.id)
    return { file: file.id, mediaType: file.mediaType, size: file.size, provider, model: image.model, prompt }
  })

  const kind: Kind<"image"> = {
    effects: "outside",
    faults: (tool) => faultsOf(tool).issues,
    handler: (tool) => {
      const { issues, parts } = faultsOf(tool)
      const [fault] = issues
      return (input, call) => {
        const asked = promptOf(parts, input)
        const problem =
          fault === undefined ? ("problem" in asked ? asked.problem : undefined) : `${fault.path}: ${fault.message}`
        return "problem" in asked || problem !== undefined
          ? new ToolExecutionError({ message: `Nothing was sent: ${problem}.`, toolName: tool.form.name })
          : run(tool, asked.prompt, call)
      }
    },
    preview: (tool, input) => {
      const { provider, quality, size } = tool.execution
      return {
        provider,
        model: imageModelOf(tool.execution) ?? null,
        ...(size === undefined ? {} : { size }),
        ...(quality === undefined ? {} : { quality }),
        ...promptOf(faultsOf(tool).parts, input),
      }
    },
  }
  return kind
})
