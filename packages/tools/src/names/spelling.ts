/**
 * A key for how a name reads: two names that look alike would be confused by a person who approves and by a model that
 * chooses. Case is one way; letters of other scripts that look like Latin ones are another.
 */

const lookalikes = new Map(
  Object.entries({
    a: "аɑα",
    c: "сϲ",
    d: "ԁ",
    e: "еє",
    g: "ɡ",
    h: "һհ",
    i: "іıι",
    j: "јϳ",
    k: "кκ",
    l: "ӏǀ",
    m: "м",
    n: "ո",
    o: "оοօ",
    p: "рρ",
    q: "ԛ",
    s: "ѕ",
    t: "тτ",
    u: "υսս",
    v: "νѵ",
    w: "ԝѡ",
    x: "хχ",
    y: "уγү",
    z: "ᴢ",
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
)

/** Capitals that look like other letters than their small ones do. */
const capitals = new Map(
  Object.entries({ b: "ΒВ", e: "Ε", h: "ΗН", m: "Μ", n: "Ν", y: "Υ", z: "Ζ" }).flatMap(([latin, others]) =>
    [...others].map((other) => [other, latin] as const),
  ),
)

/** The marks that make another letter of a Japanese one are no decoration. */
const marks = /(?![\u3099\u309a])\p{M}/gu
const invisible = /\p{Default_Ignorable_Code_Point}/gu

export const spellingOf = (name: string): string =>
  [...name.normalize("NFKD").replace(invisible, "").replaceAll(/\s+/g, " ").trim()]
    .map((char) => capitals.get(char) ?? char)
    .join("")
    .toLowerCase()
    .replace(marks, "")
    .replaceAll(/./gsu, (char) => lookalikes.get(char) ?? char)
