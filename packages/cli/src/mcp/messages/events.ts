/** The server-sent events of an MCP answer: data, the id to resume after, and the time to reconnect. */
// edge: reads a response.

export interface StreamEvent {
  readonly id: string | undefined
  readonly retry: number | undefined
  readonly data: string
}

/** Far above any message of ours; an endless line is not buffered forever. */
const longest = 64 * 1024 * 1024

export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent, void, void> {
  let rest = ""
  let size = 0
  let id: string | undefined
  let retry: number | undefined
  let data: Array<string> = []
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    if (size + rest.length > longest) throw new Error("an event from the house is too long")
    for (const line of lines) {
      if (line === "") {
        if (id !== undefined || retry !== undefined || data.length > 0) yield { id, retry, data: data.join("\n") }
        id = retry = undefined
        data = []
        size = 0
        continue
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
      size += line.length
      if (field === "data") data.push(value)
      else if (field === "id") id = value
      else if (field === "retry" && /^\d{1,6}$/.test(value)) retry = Number(value)
    }
  }
}
