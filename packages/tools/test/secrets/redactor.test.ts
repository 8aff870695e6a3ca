/** The one redactor against secrets, encodings and splits that are drawn at random, and against texts that hold none. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { times } from "../../../../test/long.ts"
import { Redactor } from "../../src/secrets/Redactor.ts"
import { leaksIn } from "./leaks.ts"
import { partsOf, repeats, secrets, textOf } from "./repeats.ts"

const seed = { seed: 20_261_116, numRuns: 400 }

/** Those of which something can be read before it is taken out. */
const told = repeats.filter((one) => leaksIn(textOf(one, one.secret), one.secret).length > 0)

const shapes = {
  items: (parts: ReadonlyArray<string>): unknown => ({ items: parts }),
  fields: (parts: ReadonlyArray<string>) => Object.fromEntries(parts.map((part, n) => [`f${n}`, part])),
  blocks: (parts: ReadonlyArray<string>) => ({
    content: parts.map((text) => ({ type: "text", text })),
    isError: false,
  }),
  nested: (parts: ReadonlyArray<string>) => parts.reduceRight<unknown>((rest, part) => ({ part, rest }), null),
  keys: (parts: ReadonlyArray<string>) => Object.fromEntries([...new Set(parts)].map((part, n) => [part, n % 2 === 0])),
  pairs: (parts: ReadonlyArray<string>) => ({ [parts[0] ?? ""]: parts.slice(1) }),
}
const shape = fc.constantFrom(...(Object.keys(shapes) as Array<keyof typeof shapes>))

const word = "pass-word"
/** What a line says, and what is left of it for everybody. */
const lines: ReadonlyArray<readonly [said: string, shown: string]> = [
  ["Authorization: Bearer zyxwvut-987654", "Authorization: Bearer [secret]"],
  ["authorization: basic QWRhOnBhc3N3b3Jk==", "authorization: basic [secret]"],
  [`GET http://ada:${word}@example.org/x`, "GET http://[secret]@example.org/x"],
  ["GET /x?access_token=abc&page=2&api-key=def#end", "GET /x?access_token=[secret]&page=2&api-key=[secret]#end"],
  ["GET /x?code=abc&sig=def", "GET /x?code=[secret]&sig=[secret]"],
  // No credentials: a short word, an address without a user, a parameter of another name, a mail address.
  ["a bearer of news", "a bearer of news"],
  ["GET http://example.org/x?page=2&zipcode=80331", "GET http://example.org/x?page=2&zipcode=80331"],
  ["mail to ada@example.org", "mail to ada@example.org"],
]

describe("Redactor", () => {
  it("G-17 a line of a log has neither a known value nor what has the shape of a credential", () => {
    for (const [said, shown] of lines) {
      assert.strictEqual(new Redactor().line(said), shown)
      // Everything else keeps what it only looks like: results must not be torn up.
      assert.strictEqual(new Redactor().text(said), said)
    }
    const known = "a-known-value-1234"
    const line = new Redactor([known]).line(`${known} and Bearer zyxwvut-987654 and ${btoa(known)}`)
    assert.deepStrictEqual(leaksIn(line, known), [])
    assert.notInclude(line, "zyxwvut")
  })

  it("G-17 eight characters of a secret are found in a text, in whatever encoding and at whatever place", () => {
    fc.assert(
      fc.property(told, (one) => {
        const { secret } = one
        assert.deepStrictEqual(leaksIn(new Redactor([secret]).text(textOf(one, secret)), secret), [])
      }),
      seed,
    )
  })

  it("G-17 they are found where they are split over the fields, items, keys or blocks of an answer", () => {
    fc.assert(
      fc.property(told, shape, (one, which) => {
        const { secret } = one
        const answer = JSON.stringify(shapes[which](partsOf(one, secret)))
        assert.deepStrictEqual(leaksIn(new Redactor([secret]).jsonText(answer), secret), [])
      }),
      seed,
    )
  })

  it("G-17 they are found where they are split over the messages of a stream", () => {
    fc.assert(
      fc.property(told, (one) => {
        const { secret } = one
        const stream = new Redactor([secret]).stream()
        const events = partsOf(one, secret).map((message, progress) =>
          stream.json({ method: "notifications/progress", params: { progressToken: 7, progress, message } }),
        )
        assert.deepStrictEqual(leaksIn(JSON.stringify(events), secret), [])
      }),
      seed,
    )
  })

  it("G-17 they are found where they come in messages of a few characters, whichever of the fields they come in", () => {
    const secret = "Zq7xKv93LmTp2wRbYh5c"
    const progress = (message: string, n: number) => ({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 7, progress: n + 1, total: 100, message },
    })
    const log = (data: unknown) => ({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "error", logger: "x", data },
    })
    const told = (messages: ReadonlyArray<unknown>, about: (n: number) => string | undefined) => {
      const stream = new Redactor([secret]).stream(new Set(["message", "data"]))
      return messages
        .map((message, n) => (stream.json(message, about(n)) as ReturnType<typeof progress>).params)
        .map((params) =>
          ("data" in params ? JSON.stringify(params["data"]) : params.message).replaceAll(/[^\w[\]]/g, ""),
        )
    }
    // What went out before the eighth character cannot be taken back.
    for (let size = 1; size < 8; size++) {
      const parts = secret.match(new RegExp(`.{1,${size}}`, "g"))!
      const free = Math.ceil(8 / size) - 1
      const expected = parts.map((part, n) => (n < free ? part : "[secret]"))
      const shapes: ReadonlyArray<(part: string, n: number) => unknown> = [
        progress,
        log,
        (part, n) => (n % 2 === 0 ? progress(part, n) : log(part)),
      ]
      for (const shape of shapes)
        assert.deepStrictEqual(
          told(parts.map(shape), () => undefined),
          expected,
        )
      const nested = told(
        parts.map((part, n) => (n % 2 === 0 ? progress(part, n) : log({ deep: part }))),
        () => undefined,
      )
      assert.deepStrictEqual(
        nested.map((one) => one.replace("deep", "")),
        expected,
      )
      // Another call's messages come in between.
      const other = parts.flatMap((part, n) => [progress(part, n), progress("working on it", n)])
      assert.deepStrictEqual(
        told(other, (n) => `${n % 2}`).filter((_, n) => n % 2 === 0),
        expected,
      )
    }
  })

  it("G-17 they are found where they come as one number in each message", () => {
    const secret = "Zq7xKv93LmTp2wRbYh5c"
    const stream = new Redactor([secret]).stream()
    const numbers = [...Buffer.from(secret)].map((progress) => stream.json({ method: "progress", progress }).progress)
    assert.deepStrictEqual(
      numbers,
      [...Buffer.from(secret.slice(0, 7)), ...secret.slice(7)].map((n) => (typeof n === "number" ? n : 0)),
    )
  })

  it("G-17 what is remembered of a stream is bounded, whatever comes", () => {
    const secret = "Zq7xKv93LmTp2wRbYh5c"
    const stream = new Redactor([secret]).stream(new Set(["message"]))
    for (let n = 0; n < times(300, 3000); n++)
      stream.json({ [`k${n}`.repeat(500)]: "x".repeat(5000), message: "y".repeat(5000) }, `s${n}`)
    assert.deepStrictEqual(
      [...secret].map((sign) => stream.json({ message: sign }, "s").message).join(""),
      `${secret.slice(0, 7)}${"[secret]".repeat(13)}`,
    )
  })

  it("G-17 they are found in bytes, which keep their length, and in a list of bytes", () => {
    fc.assert(
      fc.property(told, fc.uint8Array({ maxLength: 40 }), (one, around) => {
        const { secret } = one
        const bytes = Buffer.concat([around, Buffer.from(textOf(one, secret)), around])
        const clean = new Redactor([secret]).bytes(bytes)
        assert.strictEqual(clean.length, bytes.length)
        assert.deepStrictEqual(leaksIn(Buffer.from(clean).toString("utf8"), secret), [])
        const listed = JSON.parse(new Redactor([secret]).jsonText(JSON.stringify({ data: [...bytes] })))
        assert.deepStrictEqual(leaksIn(Buffer.from(listed.data).toString("utf8"), secret), [])
      }),
      seed,
    )
  })

  it("G-17 what holds none of them stays as it is, byte for byte", () => {
    const words = fc.array(fc.oneof(fc.lorem(), fc.webUrl(), fc.uuid(), fc.base64String(), fc.string()), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(secrets, words, fc.jsonValue(), (secret, texts, json) => {
        const redactor = new Redactor([secret])
        const text = texts.join(" ")
        const answer = JSON.stringify({ texts, json })
        fc.pre(leaksIn(answer, secret).length === 0 && leaksIn(text, secret).length === 0)
        const bytes = Buffer.from(text)
        assert.strictEqual(redactor.text(text), text)
        assert.strictEqual(redactor.jsonText(answer), answer)
        assert.strictEqual(redactor.bytes(bytes), bytes)
      }),
      { ...seed, numRuns: 300 },
    )
  })

  it("G-17 seven characters are not a piece of it, and a value of four to seven is found as a whole", () => {
    const secret = ["sk-live", "4f9Xq27Lm0ZtB81v"].join("-")
    const redactor = new Redactor([secret, "hunter2"])
    for (let n = 0; n + 7 <= secret.length; n++)
      assert.strictEqual(redactor.text(`<${secret.slice(n, n + 7)}>`), `<${secret.slice(n, n + 7)}>`)
    assert.strictEqual(redactor.text("hunter2 or hunter3"), "[secret] or hunter3")
    assert.isTrue(new Redactor(["abc", " "]).isEmpty)
  })

  it("G-17 the beginning of an address or of a header, and what says nothing, are no secrets", () => {
    const redactor = new Redactor([
      "https://example.org/hook/Zt81vQx0",
      "Bearer Kq7Lm2Zx9Wb4",
      "a1B2--------------c3D4",
    ])
    const ordinary = "https://stoa.example/ Bearer token -------- ----------------"
    assert.strictEqual(redactor.text(ordinary), ordinary)
    assert.strictEqual(redactor.text("at https://example.org/hook/Zt81vQx0."), "at https://[secret].")
    assert.strictEqual(redactor.text("with Bearer Kq7Lm2Zx9Wb4"), "with Bearer [secret]")
  })

  it("G-17 a value in base64 is found as what is in it, as a name and a password are", () => {
    const redactor = new Redactor([`Basic ${Buffer.from("ada:correct-horse-9").toString("base64")}`])
    assert.strictEqual(redactor.text("ada:correct-horse-9 is known"), "[secret] is known")
  })

  it("G-17 what is left of an answer is still JSON, and its base64 can still be decoded", () => {
    const secret = ["sk-live", "4f9Xq27Lm0ZtB81v"].join("-")
    const clean = (value: unknown) => JSON.parse(new Redactor([secret]).jsonText(JSON.stringify(value)))
    assert.deepStrictEqual(clean({ a: [`it is ${secret}!`], [secret]: 1, b: null, c: true }), {
      a: ["it is [secret]!"],
      "[secret]": 1,
      b: null,
      c: true,
    })
    const image = Buffer.concat([Buffer.alloc(50, 3), Buffer.from(secret), Buffer.alloc(50, 4)])
    const { data } = clean({ type: "image", data: image.toString("base64") })
    assert.lengthOf(Buffer.from(data, "base64"), image.length)
    assert.strictEqual(Buffer.from(data, "base64").toString("base64"), data)
    const odd = new Redactor([secret]).jsonText(`{"__proto__":{"${secret}":"${secret}"}}`)
    assert.strictEqual(odd, '{"__proto__":{"[secret]":"[secret]"}}')
    const deep = `${"[".repeat(3000)}"${secret}"${"]".repeat(3000)}`
    assert.strictEqual(new Redactor([secret]).jsonText(deep), deep.replace(secret, "[secret]"))
    assert.deepStrictEqual(clean({ n: 12_345 }), { n: 12_345 })
    assert.strictEqual(new Redactor(["12345678"]).jsonText('{"n":12345678}'), '{"n":"[secret]"}')
  })

  it("G-17 an error, what it holds and what caused it are cleaned", () => {
    const secret = ["sk-live", "4f9Xq27Lm0ZtB81v"].join("-")
    const cause = Object.assign(new Error(`key ${secret}`), { data: { text: `{"key":"${secret}"}`, status: 400 } })
    const error = new Redactor([secret]).error(new Error(`failed with ${secret}`, { cause }))
    assert.strictEqual(error.message, "failed with [secret]")
    assert.notInclude(error.stack, secret)
    assert.deepStrictEqual([cause.message, cause.data], ["key [secret]", { text: '{"key":"[secret]"}', status: 400 }])
  })
})
