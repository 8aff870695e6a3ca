/** What of a record is embedded: its label, then its content, a passage at a time where it is long. Pure. */
import { hash } from "node:crypto"
import type { MemoryRecord } from "@stoa/contract"
import { passagesOf } from "../../store/search/Passages.ts"

/** No model takes more at once. */
const longest = 8000

/** Who wrote it is no part of it: the same text means the same, whoever finds it. */
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
