/**
 * Parses the expressions of compute tools: numbers, text, lists, members of the input, operators and calls of listed
 * functions. There is nothing else: no assignment, no methods, no names of JavaScript.
 */
import type { Schema } from "effect"
import { type FromInput, readText } from "../templates/template.ts"

export type Node =
  | { readonly kind: "value"; readonly value: Schema.Json }
  | { readonly kind: "text"; readonly parts: ReadonlyArray<string | FromInput> }
  | { readonly kind: "place"; readonly place: FromInput }
  | { readonly kind: "input" }
  | { readonly kind: "member"; readonly of: Node; readonly key: Node }
  | { readonly kind: "list"; readonly items: ReadonlyArray<Node> }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "!"; readonly of: Node }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Node; readonly right: Node }
  | { readonly kind: "choice"; readonly when: Node; readonly yes: Node; readonly no: Node }
  | { readonly kind: "call"; readonly name: string; readonly given: ReadonlyArray<Node> }

/** Says what is wrong with an expression or its values. Parsing and evaluation throw nothing else. */
export class ExpressionFault extends Error {}

export const fault = (message: string): never => {
  throw new ExpressionFault(message)
}

type Token =
  | { readonly kind: "number"; readonly value: number; readonly at: number }
  | { readonly kind: "text"; readonly value: string; readonly at: number }
  | { readonly kind: "name"; readonly value: string; readonly at: number }
  | { readonly kind: "sign"; readonly value: string; readonly at: number }
  | { readonly kind: "place"; readonly place: FromInput; readonly at: number }
  | { readonly kind: "end"; readonly value: ""; readonly at: number }

const pattern =
  /(?<space>\s+)|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<place>\{\{[^{}]*\}\})|(?<sign>\*\*|===|!==|==|!=|<=|>=|&&|\|\||\?\?|[-+*/%<>!?:()[\],.])/sy

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "/": "/",
}
const unescaped = (quoted: string, at: number): string =>
  quoted.slice(1, -1).replaceAll(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return escapes[code] ?? fault(`\\${code} at ${at} is not known in a text`)
  })

const notOurs = "secrets and variables of the house are no part of a computation"
const hints: Readonly<Record<string, string>> = {
  "^": "; write ** for a power",
  "`": "; write a text in quotes and join with +",
  "=": "; nothing can be set, == compares",
  $: `; ${notOurs}`,
  "{": "; there are lists, no objects",
  ";": "; there is one expression",
}

const placeOf = (text: string): FromInput => {
  const [place] = readText(text, "", (_, message) => fault(message))
  return place as FromInput
}

const tokensOf = (text: string, configured: boolean): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (let at = 0; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const { name, number, place, sign, space, text: quoted } = pattern.exec(text)?.groups ?? {}
    if (space !== undefined) continue
    if (number !== undefined) {
      const value = Number(number)
      if (!Number.isFinite(value)) fault(`${number} is too large a number`)
      if (/[A-Za-z0-9_.]/.test(text[pattern.lastIndex] ?? "")) fault(`the number at ${at} does not end`)
      tokens.push({ kind: "number", value, at })
    } else if (name !== undefined) tokens.push({ kind: "name", value: name, at })
    else if (quoted !== undefined) tokens.push({ kind: "text", value: unescaped(quoted, at), at })
    else if (place !== undefined && configured) tokens.push({ kind: "place", place: placeOf(place), at })
    else if (sign !== undefined) tokens.push({ kind: "sign", value: sign, at })
    else {
      const [char] = String.fromCodePoint(text.codePointAt(at)!)
      fault(`"${char}" at ${at} is not allowed in an expression${hints[char!] ?? ""}`)
    }
  }
  return [...tokens, { kind: "end", value: "", at: text.length }]
}

/** The precedence of each operator. */
const levels: ReadonlyMap<string, number> = new Map(
  [["??"], ["||"], ["&&"], ["==", "!=", "===", "!=="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]].flatMap(
    (operators, level) => operators.map((it) => [it, level + 1] as const),
  ),
)

const constants: ReadonlyMap<string, Schema.Json> = new Map<string, Schema.Json>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["PI", Math.PI],
  ["pi", Math.PI],
  ["E", Math.E],
])

const refusedNames = new Set(["constructor", "prototype", "__proto__"])
/** Deeper than anybody writes by hand, and far from what a stack can hold. */
const deepest = 200

class Parser {
  readonly tokens: ReadonlyArray<Token>
  readonly functions: ReadonlySet<string>
  readonly configured: boolean
  place = 0
  depth = 0
  constructor(text: string, functions: ReadonlySet<string>, configured: boolean) {
    this.tokens = tokensOf(text, configured)
    this.functions = functions
    this.configured = configured
  }

  get next(): Token {
    return this.tokens[this.place]!
  }
  is(...signs: ReadonlyArray<string>): boolean {
    const { next } = this
    return next.kind === "sign" && signs.includes(next.value)
  }
  took(sign: string): boolean {
    const here = this.is(sign)
    if (here) this.place++
    return here
  }
  expect(sign: string): void {
    if (!this.took(sign)) this.unexpected(`"${sign}"`)
  }
  unexpected(instead: string): never {
    const { next } = this
    const found = next.kind === "end" ? "the end" : next.kind === "place" ? "a place" : `"${next.value}"`
    return fault(`expected ${instead} at ${next.at}, found ${found}`)
  }

  deeper(read: () => Node): Node {
    if (++this.depth > deepest) fault(`it is nested more than ${deepest} deep`)
    const node = read()
    this.depth--
    return node
  }

  whole(): Node {
    const node = this.choice()
    return this.next.kind === "end" ? node : this.unexpected("an operator")
  }

  choice(): Node {
    return this.deeper(() => {
      const node = this.binary(1)
      if (!this.took("?")) return node
      const yes = this.choice()
      this.expect(":")
      return { kind: "choice", when: node, yes, no: this.choice() }
    })
  }

  binary(lowest: number): Node {
    let left = this.unary()
    for (;;) {
      const { next } = this
      const level = next.kind === "sign" ? (levels.get(next.value) ?? 0) : 0
      if (level < lowest) return left
      this.place++
      left = { kind: "binary", operator: (next as { value: string }).value, left, right: this.binary(level + 1) }
    }
  }

  unary(): Node {
    const { next } = this
    if (next.kind !== "sign" || !this.is("-", "+", "!")) return this.power()
    this.place++
    return { kind: "unary", operator: next.value as "-", of: this.deeper(() => this.unary()) }
  }

  /** Binds tighter than the minus before it; right-associative. */
  power(): Node {
    const base = this.members()
    if (!this.took("**")) return base
    return { kind: "binary", operator: "**", left: base, right: this.deeper(() => this.unary()) }
  }

  members(): Node {
    let node = this.primary()
    for (;;) {
      if (this.took("[")) {
        node = { kind: "member", of: node, key: this.choice() }
        this.expect("]")
      } else if (this.took(".")) node = { kind: "member", of: node, key: { kind: "value", value: this.name() } }
      else if (this.is("(")) fault(`only the listed functions can be called: ${[...this.functions].join(", ")}`)
      else return node
    }
  }

  name(): string {
    const { next } = this
    if (next.kind !== "name") return this.unexpected("a name")
    this.place++
    return refusedNames.has(next.value) ? fault(`"${next.value}" is not a member of any value here`) : next.value
  }

  primary(): Node {
    const { next } = this
    this.place++
    switch (next.kind) {
      case "number":
        return { kind: "value", value: next.value }
      case "text":
        return this.text(next.value)
      case "place":
        return { kind: "place", place: next.place }
      case "name":
        return this.named(next.value)
      case "sign":
        if (next.value === "(") {
          const node = this.choice()
          this.expect(")")
          return node
        }
        if (next.value === "[") return { kind: "list", items: this.items("]") }
    }
    this.place--
    return this.unexpected("a value")
  }

  items(end: string): ReadonlyArray<Node> {
    const items: Array<Node> = []
    if (this.took(end)) return items
    do items.push(this.choice())
    while (this.took(","))
    this.expect(end)
    return items
  }

  named(given: string): Node {
    // `Math.x` as in JavaScript, since expressions are often written so.
    const name = given === "Math" && this.took(".") ? this.name() : given
    if (this.took("(")) {
      if (!this.functions.has(name))
        fault(`there is no function "${name}"; there are ${[...this.functions].join(", ")}`)
      return { kind: "call", name, given: this.items(")") }
    }
    if (given === "input") return { kind: "input" }
    const value = constants.get(name)
    return value === undefined
      ? fault(`"${name}" is not known here; there are input and the functions`)
      : { kind: "value", value }
  }

  /** A string in a configured expression may contain placeholders: they become values in that string, never code. */
  text(value: string): Node {
    const parts = this.configured ? readText(value, "", (_, message) => fault(message)) : []
    if (!parts.some((part) => typeof part === "object")) return { kind: "value", value }
    if (parts.some((part) => typeof part === "object" && part.from !== "input")) fault(notOurs)
    return { kind: "text", parts: parts as ReadonlyArray<string | FromInput> }
  }
}

/**
 * `configured`: written by the operator, so `{{input.x}}` stands for a value. A model's expression has no placeholders.
 */
export const readExpression = (text: string, functions: ReadonlySet<string>, configured: boolean): Node =>
  new Parser(text, functions, configured).whole()
