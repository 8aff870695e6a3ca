/**
 * The last call's result in the rules of a scripted model: `{{result}}`, `{{result.field}}`, and
 * `{{result.list}}`, a line for each item of its list. Pure.
 */

const longest = 400
const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} …` : text)

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A server's tool returns structured content beside the text that says the same. */
const valueIn = (output: unknown): unknown =>
  isFields(output) && "structuredContent" in output ? output["structuredContent"] : output

/** The items of a list, a line each. */
const linesOf = (value: unknown): string | undefined => {
  const list: unknown = isFields(value) ? Object.values(value).find((one) => Array.isArray(one)) : value
  if (!Array.isArray(list)) return undefined
  const words = list.slice(0, 5).flatMap((one: unknown) => {
    const word = isFields(one) ? (one["content"] ?? one["text"] ?? one["name"]) : one
    return typeof word === "string" || typeof word === "number" ? [`- ${cut(String(word))}`] : []
  })
  return words.join("\n")
}

export const resultFill = (output: unknown): Readonly<Record<string, string>> => {
  const value = valueIn(output)
  if (value === undefined || value === null) return {}
  const fields = isFields(value)
    ? Object.entries(value).filter(([, one]) => ["string", "number", "boolean"].includes(typeof one))
    : []
  const lines = linesOf(value)
  return {
    ...(lines === undefined ? {} : { "result.list": lines }),
    result: cut(typeof value === "string" ? value : JSON.stringify(value)),
    ...Object.fromEntries(fields.map(([name, one]) => [`result.${name}`, cut(String(one as string | number))])),
  }
}
