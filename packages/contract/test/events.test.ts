/** The formats of events: what is in a journal is read for a year, by programs that know later formats. */
import { describe, expect, it } from "vitest"
import { Schema } from "effect"
import { type EventKind, eventVersion, kinds, upgradedBody } from "../src/index.ts"

describe("G-28 each kind of event has a version, and keeps its format under it", () => {
  // Fails when a shape has changed: give the kind an upgrade from the old one in Event.ts, which raises its version. A new
  // kind, or a new version, is written down here by the first run.
  for (const kind of Object.keys(kinds) as ReadonlyArray<EventKind>)
    it(`${kind} ${eventVersion(kind)}`, () => {
      const body = Schema.toJsonSchemaDocument(Schema.toCodecJson(Schema.Struct(kinds[kind].body)))
      expect(JSON.stringify(body)).toMatchSnapshot()
    })
})

describe("G-28 an older format is read as the newest", () => {
  const upgraded = (version: number, body: unknown) => upgradedBody("secret.set", version, body)
  const secret = kinds["secret.set"] as { upgrades: ReadonlyArray<(body: object) => object> }

  it("step by step, from the one it was written in", () => {
    const before = secret.upgrades
    secret.upgrades = [
      (body) => ({ title: (body as { label: string }).label }),
      (body) => ({ name: (body as { title: string }).title }),
    ]
    try {
      expect(eventVersion("secret.set")).toBe(3)
      expect(upgraded(1, { label: "KEY" })).toEqual({ name: "KEY" })
      expect(upgraded(2, { title: "KEY" })).toEqual({ name: "KEY" })
      expect(upgraded(3, { name: "KEY" })).toEqual({ name: "KEY" })
    } finally {
      secret.upgrades = before
    }
  })

  it("a format that this program does not know is refused, and not guessed", () => {
    expect(() => upgraded(2, { name: "KEY" })).toThrow("format 2; this program knows 1")
  })
})
