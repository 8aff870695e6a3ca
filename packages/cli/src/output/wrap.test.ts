/** Sentences and messages at a terminal are whole, and no wider than it. */
import { describe, expect, it } from "vitest"
import { messageLines } from "./messageLines.ts"
import { besideNames, fittedLines } from "./wrap.ts"

const terminal = { width: 60, now: new Date(2026, 10, 18, 6, 40) }
const words = "a long sentence of many words ".repeat(12).trim()
const joined = (lines: ReadonlyArray<string>): string => lines.map((line) => line.trim()).join(" ")

describe("text at a terminal", () => {
  it("a sentence goes on below its own beginning, and is whole", () => {
    const lines = besideNames(
      [
        ["ok    disk", "enough"],
        ["warn  models", words],
      ],
      terminal,
    )
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
    expect(lines[0]).toBe("ok    disk    enough")
    expect(joined(lines.slice(1))).toBe(`warn  models  ${words}`)
    for (const line of lines.slice(2)) expect(line).toMatch(/^ {14}\S/)
  })

  it("elsewhere it stays on one line", () => {
    expect(besideNames([["warn  models", words]])).toEqual([`warn  models  ${words}`])
  })

  it("lines fit the terminal: a sentence goes on below its own beginning, what others wrote stays behind its bar", () => {
    const address = "x".repeat(80)
    const lines = fittedLines(`stoa: ${words}\n  may answer: ${words}\n${address}`, 60)
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(60)
    expect(joined(lines)).toBe(`stoa: ${words} may answer: ${words} ${address}`)
    expect(lines[1]).toMatch(/^ {2}\S/)
    expect(lines.at(-2)).toMatch(/^ {4}\S/)
    const theirs = `${" ".repeat(70)}may answer: Mallory ${address}`
    const barred = fittedLines(`  | ${theirs}`, 60)
    expect(barred.map((line) => line.slice(4)).join("")).toBe(theirs)
    for (const line of barred) expect(line).toMatch(/^ {2}\| .{1,56}$/)
    // Wide letters take two columns: the terminal breaks no line that we have not broken, so nothing stands before the bar.
    const wide = fittedLines(`  | ${"漢".repeat(28)}  answer: stoa decide x --approve`, 60)
    for (const line of wide) {
      expect(line).toMatch(/^ {2}\| /)
      expect([...line].reduce((sum, sign) => sum + (sign === "漢" ? 2 : 1), 0)).toBeLessThanOrEqual(60)
    }
    expect(fittedLines(`stoa: ${words}`, undefined)).toEqual([`stoa: ${words}`])
  })

  it("a name wider than the terminal leaves the sentence readable", () => {
    const lines = besideNames([["x".repeat(58), words]], terminal)
    expect(joined(lines)).toBe(`${"x".repeat(58)}  ${words}`)
    expect(lines.length).toBeLessThan(30)
  })

  it("a message is whole below its author and its whole id; its lines and addresses stay", () => {
    const id = "msg_01a1f3d5-3f99-7000-a5f1-911da3c0e709"
    const address = `https://example.com/${"x".repeat(80)}`
    const text = `${words}\n  indented\u202E\n\n${address}`
    const createdAt = new Date(2026, 10, 18, 6, 4).toISOString()
    const [head, ...rest] = messageLines([{ seq: 7, id, createdAt, author: "Ada", text }], terminal)
    expect(head).toBe(`7  06:04  Ada  ${id}`)
    expect(joined(rest.slice(0, -3))).toBe(words)
    expect(rest.slice(-3)).toEqual(["    indented<U+202E>", "", `  ${address}`])
    for (const line of rest.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(60)
  })
})
