import { assert, describe, it } from "@effect/vitest"
import { redact } from "./redact.ts"

const out = (value: unknown, ...secrets: ReadonlyArray<string>): unknown =>
  JSON.parse(redact(JSON.stringify(value), new Set(secrets)))

describe("redact", () => {
  it("G-17 takes a secret out of values, keys and numbers, and leaves JSON", () => {
    assert.deepStrictEqual(out({ a: ["it is hunter2!"], hunter2: 1 }, "hunter2"), {
      a: ["it is [secret]!"],
      "[secret]": 1,
    })
    assert.deepStrictEqual(out({ n: 12345678, m: 7 }, "12345678"), { n: "[secret]", m: 7 })
    assert.deepStrictEqual(out({ a: null, b: true, c: [null] }, "null", "true"), { a: null, b: true, c: [null] })
    assert.deepStrictEqual(out({ a: 1, b: "x" }, '"a":1', '":1,"', "}]}{"), { a: 1, b: "x" })
    assert.deepStrictEqual(out("hunter2", "hunter2"), "[secret]")
    assert.deepStrictEqual(out("$& $1 hunter2 $'", "hunter2"), "$& $1 [secret] $'")
    assert.deepStrictEqual(out({ a: "abc" }, "abc", ""), { a: "abc" })
    assert.deepStrictEqual(out(["secret-and-more", "secret"], "secret", "secret-and-more"), ["[secret]", "[secret]"])
    const odd = redact('{"__proto__":{"hunter2":"hunter2"},"hunter2":1}', new Set(["hunter2"]))
    assert.strictEqual(odd, '{"__proto__":{"[secret]":"[secret]"},"[secret]":1}')
  })

  it("G-17 knows it in an address, in a form, in JSON inside a text, and in mixtures of them", () => {
    const secret = `p@ss w/ö"r'd+\n&=\\é😀(1)!*~`
    const escaped = JSON.stringify(secret).slice(1, -1)
    const ascii = [...escaped].map((c) => (c.codePointAt(0)! < 128 ? c : JSON.stringify(c).slice(1, -1))).join("")
    const url = encodeURIComponent(secret)
    const form = new URLSearchParams({ x: secret }).toString().slice(2)
    for (const text of [
      secret,
      escaped,
      ascii,
      escaped.replaceAll("/", "\\/"),
      url,
      url.toLowerCase(),
      url.replaceAll("'", "%27"),
      new URL(`http://x/?${url}`).search.slice(1),
      form,
    ])
      assert.deepStrictEqual(out({ a: `<${text}>` }, secret), { a: "<[secret]>" }, text)
    assert.deepStrictEqual(out(["it was padded"], " padded\n"), ["it was [secret]"])
  })

  it("G-17 bears what is nested as deep as JSON goes", () => {
    const deep = `${"[".repeat(3000)}"hunter2"${"]".repeat(3000)}`
    assert.strictEqual(redact(deep, new Set(["hunter2"])), deep.replace("hunter2", "[secret]"))
  })
})
