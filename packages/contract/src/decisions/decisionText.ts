/**
 * A decision in words, the same on every face: CLI, link page, MCP. What a server, a tool's author or an agent wrote
 * stands under a heading that says whose words they are, and nothing in it is invisible.
 */
import { isObject } from "../json.ts"
import { serverOfTool } from "../tools/servers/MCPServerTool.ts"
import type { Reach } from "./Reach.ts"
import { type DiffTextLine, diffTextLines, isDiff } from "./diffText.ts"
import { quoted, visibleJson, visibleLines } from "./foreignText.ts"

interface Framed {
  /** Who speaks, in the house's words; null if it is the house. */
  readonly heading: string | null
  readonly lines: ReadonlyArray<string>
}

/** The fields of a decision that are used here, decoded or encoded. */
interface Asked {
  readonly kind: string
  readonly question: string
  readonly call: { readonly tool: string; readonly input: unknown } | null
}
interface Asking extends Pick<Asked, "call"> {
  readonly asker: { readonly name: string; readonly kind: string }
  readonly inputSize?: number
  readonly inputDigest?: string
  readonly schema?: unknown
}

/** A field of an input that is a diff, shown as one. */
interface FramedDiff {
  readonly heading: string
  readonly lines: ReadonlyArray<DiffTextLine>
}

/** Who wrote the question. A server's tool has the server's name. */
const speaker = ({ call, kind }: Asked): string | null => {
  if (kind === "approval" || call === null) return null
  const server = serverOfTool(call.tool)
  return server === undefined ? `tool ${quoted(call.tool)}` : `server ${quoted(server)}`
}

/** Said wherever a call waits for a decision that nobody may answer, such as that of a house's only admin. */
export const nobodyMayAnswer =
  "Nobody may answer it: the caller cannot, and there is nobody else. Without an answer it is refused. Once there is a second admin, make the call again."

export const questionIn = (decision: Asked): Framed => {
  const who = speaker(decision)
  return { heading: who === null ? null : `${who} asks:`, lines: visibleLines(decision.question) }
}

/** Exactly what an approval covers that reaches so far: whoever gives it reads these words. */
export const reachWords = ({ asker, call }: Pick<Asking, "asker" | "call">, reach: Reach): string => {
  const every = `every call of ${quoted(call?.tool ?? "")}, with any input`
  switch (reach) {
    case "once":
      return "this call with this input, and nothing else"
    case "run":
      return `${every}, by every agent of this run, until the run ends`
    case "always":
      return `${every}, by ${asker.kind} ${quoted(asker.name)}, in every space, until the tool changes or somebody revokes it`
  }
}

/** The whole input, with its size and digest to prove that it is complete. What its schema calls a diff stands apart. */
export const inputIn = (decision: Asking): (Framed & { readonly diffs: ReadonlyArray<FramedDiff> }) | null => {
  const { asker, call, inputDigest, inputSize, schema } = decision
  if (call === null) return null
  const fields = Object.entries(isObject(call.input) ? call.input : {})
  const diffs = fields.filter(
    (field): field is [string, string] => typeof field[1] === "string" && isDiff(schema, field[0]),
  )
  const others = fields.filter((field) => !diffs.some(([name]) => name === field[0]))
  return {
    heading: `${asker.kind} ${quoted(asker.name)} calls ${quoted(call.tool)} with this input (${inputSize} bytes, sha256 ${inputDigest}):`,
    lines: visibleJson(diffs.length === 0 ? call.input : Object.fromEntries(others), 2).split("\n"),
    diffs: diffs.map(([name, text]) => {
      const lines = diffTextLines(text)
      return { heading: `and with this ${quoted(name)} (${extentOf(lines.length, text.length)}):`, lines }
    }),
  }
}

/** How long a text is: so that what does not fit a screen is missed by nobody. */
export const extentOf = (lines: number, characters: number): string =>
  `${lines} ${lines === 1 ? "line" : "lines"}, ${characters} ${characters === 1 ? "character" : "characters"}`
