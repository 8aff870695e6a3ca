/**
 * Marks a server's questions to the client's user as the server's words, so that they cannot pass for the house's.
 * Invisible characters in the texts a person reads are written out; at an endpoint that serves more than that server,
 * its name stands in front. Pure.
 */
import { quoted, visible, visibleLines } from "@stoa/contract"
import type { ClientRequests, JsonObject } from "../Desk.ts"

const shown = (text: string): string => visibleLines(text).join("\n")

const framed = (server: string | undefined, message: unknown): JsonObject => {
  if (typeof message !== "string") return {}
  return { message: server === undefined ? shown(message) : `Server ${quoted(server)} asks: ${shown(message)}` }
}

/** The labels of a form. Values stay unchanged: they come back as answers. */
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

/** `server` is undefined if the endpoint belongs to that server alone. */
export const questionsOutward = (server: string | undefined, questions: ClientRequests): ClientRequests =>
  Object.fromEntries(
    Object.entries(questions).map(([key, question]) => [
      key,
      question.method === "elicitation/create" && question.params !== undefined
        ? { ...question, params: one(server, question.params) }
        : question,
    ]),
  )
