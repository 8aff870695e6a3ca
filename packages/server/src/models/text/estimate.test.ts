/** The estimate of tokens: right for English, and not too low for other scripts. */
import { expect, it } from "vitest"
import { estimatedTokens } from "./Estimate.ts"

it("says for plain English about four letters a token, and for other scripts more tokens than letters over four", () => {
  expect(estimatedTokens("")).toBe(0)
  const english = "You keep the books of the harbour office. You draft, you never post without a person."
  expect(estimatedTokens(english)).toBe(Math.ceil(english.length / 4))
  expect(estimatedTokens("港湾事務所の帳簿")).toBe(8)
  expect(estimatedTokens("Γραφείο λιμανιού")).toBe(8)
  expect(estimatedTokens("🙂")).toBe(1)
})
