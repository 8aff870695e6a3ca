/** The texts of a record that are embedded: its label and content, one passage at a time if it is long. Pure. */
import { hash } from "node:crypto"
import type { MemoryRecord } from "@stoa/contract"
import { passagesOf } from "../../store/search/text/Passages.ts"

/** The most characters that every model takes at once. */
const longest = 8000

/** Without the author: the same text means the same to every reader. */
export const textsOf = ({
  content,
  id,
  key,
  tags,
}: Pick<MemoryRecord, "id" | "key" | "tags" | "content">): ReadonlyArray<string> => {
  const label = [...(key === id ? [] : [key]), ...tags].join(" ")
  return passagesOf(content).map((passage) => [label, passage].join("\n").trim().slice(0, longest) || "-")
}

export const digestOf = (texts: ReadonlyArray<string>): string =>
  hash("sha256", JSON.stringify(texts), "hex").slice(0, 32)
