/**
 * What a server asks the client's person, made recognisable as the server's words: the house's door may not lend them its
 * own voice. What a person would read is shown with every invisible character written out; behind a door that serves more
 * than that server, its name stands before it. Pure.
 */
import { quoted, visible, visibleLines } from "@stoa/contract"
import type { ClientRequests, JsonObject } from "./Desk.ts"

const shown = (text: string): string => visibleLines(text).join("\n")

const framed = (server: string | undefined, message: unknown): JsonObject => {
  if (typeof message !== "string") return {}
  return { message: server === undefined ? shown(message) : `Server ${quoted(server)} asks: ${shown(message)}` }
}

/** What a form says beside its fields. Values stay as they are: they come back as answers. */
const labels = new Set(["title", "description"])
const formShown = (form: unknown): unknown => {
  if (Array.isArray(form)) return form.map(formShown)
  if (typeof form !== "object" || form === null) return form
  return Object.fromEntries(
    Object.entries(form).map(([key, value]) => [
      key,
      labels.has(key) && typeof value === "string"
        ? visible(value)
        : key === "enumNames" && Array.isArray(value)
          ? value.map((name) => (typeof name === "string" ? visible(name) : name))
          : formShown(value),
    ]),
  )
}

const one = (server: string | undefined, params: JsonObject): JsonObject => {
  const { message, requestedSchema } = params
  const schema = requestedSchema === undefined ? {} : { requestedSchema: formShown(requestedSchema) }
  return { ...params, ...framed(server, message), ...schema }
}

/** `server` is left out where the door is that server's alone. */
export const questionsOutward = (server: string | undefined, questions: ClientRequests): ClientRequests =>
  Object.fromEntries(
    Object.entries(questions).map(([key, question]) => [
      key,
      question.method === "elicitation/create" && question.params !== undefined
        ? { ...question, params: one(server, question.params) }
        : question,
    ]),
  )
