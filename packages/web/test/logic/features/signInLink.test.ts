/** A sign-in link never replaces another sign-in silently. */
import { describe, expect, it } from "vitest"
import { linkAsks, safeNext, tokenIn } from "../../../src/features/signin/signInLink.logic.ts"

describe("a sign-in link", () => {
  it("is read from the fragment, whatever is in it", () => {
    expect(tokenIn("")).toBeUndefined()
    expect(tokenIn("#elsewhere")).toBeUndefined()
    expect(tokenIn("#token=")).toBeUndefined()
    expect(tokenIn("#token=a%20b")).toBe("a b")
    expect(tokenIn("#token=%zz")).toBe("%zz")
  })

  it("signs in where nobody is signed in, or the same one; otherwise a person has to choose", () => {
    expect(linkAsks(undefined, "maya")).toBe("enter")
    expect(linkAsks("maya", "maya")).toBe("enter")
    expect(linkAsks("maya", "jonas")).toBe("choose")
  })

  it("afterwards leads to a page of this house only", () => {
    expect(safeNext("/decisions?tab=mine")).toBe("/decisions?tab=mine")
    for (const next of [
      undefined,
      "",
      "https://elsewhere.example",
      "//elsewhere.example",
      "/\\elsewhere.example",
      "/door",
    ])
      expect(safeNext(next)).toBe("/")
  })
})
