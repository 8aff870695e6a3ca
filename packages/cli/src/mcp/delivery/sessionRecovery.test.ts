/** What an old-era client keeps across a restart of the house, and what it must not. */
import { describe, expect, it } from "vitest"
import { SessionRecovery } from "./sessionRecovery.ts"

const result = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } },
}
const question = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } }

describe("sessions of an old-era client", () => {
  it("headers name the session and the revision that the house chose", () => {
    const sessions = new SessionRecovery()
    expect(sessions.headers(sessions.begin("abc", result))).toEqual({
      "mcp-protocol-version": "2025-06-18",
      "mcp-session-id": "abc",
    })
    expect(sessions.headers(sessions.begin(null, result))).toEqual({ "mcp-protocol-version": "2025-06-18" })
  })

  it("an answer goes to the question it was given to, never to one of a later session with the same id", () => {
    const sessions = new SessionRecovery()
    const first = sessions.begin("a", result)
    expect(sessions.shown(question, first)).toEqual(question)
    expect(sessions.forget(first)).toEqual(["s1"])
    const second = sessions.begin("b", result)
    const shown = sessions.shown(question, second)
    expect(shown.id).not.toBe("s1")
    // The late answer to the first.
    expect(sessions.answer({ id: "s1", result: { action: "accept" } })).toBeUndefined()
    expect(sessions.answer({ id: shown.id!, result: { action: "decline" } })).toEqual({
      message: { id: "s1", result: { action: "decline" } },
      session: second,
    })
    // Once.
    expect(sessions.answer({ id: shown.id!, result: { action: "accept" } })).toBeUndefined()
  })

  it("a question that the house takes back is taken back under the id that the client knows", () => {
    const sessions = new SessionRecovery()
    const taken = { method: "notifications/cancelled", params: { requestId: "s1" } }
    const first = sessions.begin("a", result)
    sessions.shown(question, first)
    expect(sessions.shown(taken, first)).toEqual(taken)
    expect(sessions.forget(first)).toEqual([])
    const second = sessions.begin("b", result)
    const { id } = sessions.shown(question, second)
    expect(sessions.shown(taken, second)).toEqual({ ...taken, params: { requestId: id } })
    expect(sessions.answer({ id: id!, result: {} })).toBeUndefined()
  })

  it("what lasts is said again: the last log level, and subscriptions that were not ended", () => {
    const sessions = new SessionRecovery()
    for (const level of ["debug", "error"]) sessions.note({ method: "logging/setLevel", params: { level } })
    for (const uri of ["a://1", "a://2"]) sessions.note({ method: "resources/subscribe", params: { uri } })
    sessions.note({ method: "resources/unsubscribe", params: { uri: "a://1" } })
    sessions.note({ method: "tools/call", params: { name: "x" } })
    expect(sessions.lasting).toEqual([
      { method: "logging/setLevel", params: { level: "error" } },
      { method: "resources/subscribe", params: { uri: "a://2" } },
    ])
    sessions.begin("a", result)
    expect(sessions.changes).toEqual(["notifications/tools/list_changed", "notifications/resources/list_changed"])
  })
})
