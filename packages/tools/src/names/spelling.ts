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

export const spellingOf = (name: string): string =>
  [...name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "")].map((char) => lookalikes.get(char) ?? char).join("")
