/** Events as rows and back. */
import { assert, it } from "@effect/vitest"
import { type EventKind, kinds } from "@stoa/contract"
import { Schema } from "effect"
import { encoded, eventFrom, plainKinds } from "./eventRows.ts"

/** Whether any part of a schema is encoded differently from its decoded form. */
const changes = (kind: EventKind): boolean => {
  const seen = new Set<unknown>()
  const look = (part: unknown): boolean => {
    if (typeof part !== "object" || part === null || seen.has(part)) return false
    seen.add(part)
    return ("encoding" in part && part.encoding !== undefined) || Object.values(part).some(look)
  }
  return look(Schema.toCodecJson(Schema.Struct(kinds[kind].body as Schema.Struct.Fields)).ast)
}

it("what is written without being encoded has nothing to encode", () => {
  const withMoments = (Object.keys(kinds) as Array<EventKind>).filter(changes)
  assert.isNotEmpty(withMoments)
  assert.deepStrictEqual(
    withMoments.filter((kind) => plainKinds.has(kind)),
    [],
  )
})

it("it reads the same from its text as from what was written", () => {
  const call = { call: "call_1", tool: "hello", principal: "prn_1" }
  const row = {
    cursor: 1,
    ...encoded("call.received", call),
    at: "2026-11-17T00:00:00.000Z",
    space: null,
    actor: null,
    provenance: "agent",
    correlationId: "cor_1",
  }
  const { plain: _, ...stored } = row
  assert.deepStrictEqual(eventFrom(stored), eventFrom(row))
  assert.deepStrictEqual(eventFrom(row).body, call)
  assert.notDeepEqual(eventFrom({ ...row, at: "2026-11-17T00:00:01.000Z" }).at, eventFrom(row).at)
})
