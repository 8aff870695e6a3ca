/** Any program that speaks MCP: run as given, with its mail on stdin and its answer on stdout. */
import type { Provider } from "./Provider.ts"

export const command: Provider = {
  network: false,
  line: ({ text, thinker }) => {
    const [program = "", ...args] = thinker.command ?? []
    return { command: program, args, env: {}, stdin: text, files: [] }
  },
  read: () => {
    let said = ""
    return {
      take: (chunk) => {
        said += chunk
        return chunk
      },
      end: () => ({ text: said.trim() }),
    }
  },
}
