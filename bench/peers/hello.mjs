/** The tool that every peer offers, and its answer, as the house gives it. */
export const description = "Says hello."

export const answer = { content: [{ type: "text", text: '{"ok":true}' }], structuredContent: { ok: true } }

export const manyOf = (count) => Array.from({ length: count }, (_, index) => `tool-${String(index).padStart(4, "0")}`)
