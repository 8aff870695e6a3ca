/**
 * A decision in words, the same on every face: CLI, link page, MCP. What a server, a tool's author or an agent wrote
 * stands under a heading that says whose words they are, and nothing in it is invisible.
 */
import { serverOfTool } from "../tools/servers/MCPServerTool.ts"
import type { Reach } from "./Reach.ts"
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

/** The whole input, with its size and digest to prove that it is complete. */
export const inputIn = (decision: Asking): Framed | null => {
  const { asker, call, inputDigest, inputSize } = decision
  if (call === null) return null
  return {
    heading: `${asker.kind} ${quoted(asker.name)} calls ${quoted(call.tool)} with this input (${inputSize} bytes, sha256 ${inputDigest}):`,
    lines: visibleJson(call.input, 2).split("\n"),
  }
}
