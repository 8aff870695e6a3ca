/** A server-sent frame as the tests read it: by hand, so that a fault of the client's parser is not ours. */

export const parseFrame = (text: string): Record<string, unknown> => {
  const frame: Record<string, unknown> = {}
  for (const line of text.split("\n")) {
    if (line.startsWith(":")) frame["comment"] = line.slice(1).trim()
    else {
      const at = line.indexOf(": ")
      const [name, value] = [line.slice(0, at), line.slice(at + 2)]
      frame[name] = name === "id" ? Number(value) : name === "data" ? (JSON.parse(value) as unknown) : value
    }
  }
  return frame
}
