// Only textContent and nodes: nothing of the document is ever taken for markup.
const at = (id) => document.getElementById(id)
const make = (tag, more = {}, ...parts) => {
  const node = Object.assign(document.createElement(tag), more)
  node.append(...parts)
  return node
}

/** The document says `PrincipalEncoded` for how a Principal looks on the wire. */
const short = (name) => name.replace(/Encoded$/, "")
const refName = (ref) => ref.split("/").at(-1)

const bounds = (schema) => {
  const said = []
  const range = [schema.minimum, schema.maximum].filter((n) => n !== undefined && Math.abs(n) < 2 ** 53 - 1)
  if (range.length === 2) said.push(`${range[0]} to ${range[1]}`)
  else if (range.length === 1) said.push(schema.minimum === range[0] ? `from ${range[0]}` : `up to ${range[0]}`)
  if (schema.minLength !== undefined && schema.minLength > 0) said.push(`${schema.minLength}+ characters`)
  if (schema.maxLength !== undefined) said.push(`up to ${schema.maxLength} characters`)
  if (schema.minItems !== undefined) said.push(`${schema.minItems}+ items`)
  if (schema.maxItems !== undefined) said.push(`up to ${schema.maxItems} items`)
  if (schema.pattern !== undefined) said.push(schema.pattern)
  return said
}

/** What a value may be: keywords of `allOf` narrow the schema around them. */
const flat = (schema) => (schema.allOf ?? []).reduce((sum, one) => ({ ...sum, ...flat(one) }), schema)

const notes = (schema) => {
  const inner = flat(schema)
  const said = [inner.description, ...bounds(inner)].filter((one) => one !== undefined)
  return said.length === 0 ? [] : [make("i", {}, `  // ${said.join("; ")}`)]
}

/** A schema as a type in words of TypeScript: a list of texts and links. */
const typeOf = (given, depth = 0) => {
  const schema = flat(given)
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref)
    return [make("a", { href: `#schema-${name}` }, short(name))]
  }
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) {
    if (either.length > 4 && either.every((one) => one.properties?.kind?.enum?.length === 1))
      return kindsOf(either, depth)
    const parts = either.map((one) => typeOf(one, depth))
    return parts.flatMap((part, n) => (n === 0 ? part : [either.length > 4 ? `\n${pad(depth)}| ` : " | ", ...part]))
  }
  if (schema.const !== undefined) return [JSON.stringify(schema.const)]
  if (schema.enum !== undefined) return [schema.enum.map((one) => JSON.stringify(one)).join(" | ")]
  if (schema.contentSchema !== undefined) return typeOf(schema.contentSchema, depth)
  if (schema.type === "array") {
    const item = typeOf(schema.items ?? {}, depth)
    const simple = item.length === 1 && !String(item[0].textContent ?? item[0]).includes("|")
    return simple ? [...item, "[]"] : ["Array<", ...item, ">"]
  }
  if (schema.type === "object" && schema.properties !== undefined) return objectOf(schema, depth)
  if (schema.format === "binary") return ["bytes"]
  return [Array.isArray(schema.type) ? schema.type.join(" | ") : (schema.type ?? "any")]
}

const pad = (depth) => "  ".repeat(depth)

const objectOf = (schema, depth) => {
  const needed = new Set(schema.required ?? [])
  const rows = Object.entries(schema.properties).flatMap(([name, inner]) => [
    `${pad(depth + 1)}${name}${needed.has(name) ? "" : "?"}: `,
    ...typeOf(inner, depth + 1),
    ...notes(inner),
    "\n",
  ])
  return rows.length === 0 ? ["{}"] : ["{\n", ...rows, `${pad(depth)}}`]
}

/** Many objects told apart by `kind`: what they share once, then one line for what each adds. */
const kindsOf = (all, depth) => {
  const [first] = all
  const shared = Object.keys(first.properties).filter((name) =>
    all.every((one) => JSON.stringify(one.properties[name]) === JSON.stringify(first.properties[name])),
  )
  const pick = (one, keep) => Object.fromEntries(Object.entries(one.properties).filter(([name]) => keep(name)))
  const rows = all.flatMap((one) => [
    `\n${pad(depth)}| `,
    ...objectOf({ ...one, properties: pick(one, (name) => !shared.includes(name)) }, depth),
  ])
  return [
    ...objectOf({ ...first, properties: pick(first, (name) => shared.includes(name)) }, depth),
    " with one of",
    ...rows,
  ]
}

/** A named schema where it is first met: its name, and what is in it. */
const openedOf = (document, schema = {}) => {
  const inner = schema.$ref === undefined ? undefined : document.components.schemas[refName(schema.$ref)]
  return inner === undefined ? typeOf(schema) : [...typeOf(schema), " ", ...typeOf(inner)]
}

const block = (title, parts) => [make("h4", {}, title), make("pre", { tabIndex: 0 }, ...parts)]

const parametersOf = (operation, where) => {
  const all = (operation.parameters ?? []).filter((one) => one.in === where)
  if (all.length === 0) return []
  const title = { path: "In the path", query: "Query", header: "Headers" }[where]
  const rows = all.flatMap((one) => [
    `${one.name}${one.required ? "" : "?"}: `,
    ...typeOf(one.schema),
    ...notes({ ...one.schema, ...(one.description && { description: one.description }) }),
    "\n",
  ])
  return block(title, rows)
}

/** The tags of a problem, by the literal each problem's schema carries. */
const tagsOf = (document, schema) => {
  if (schema === undefined) return []
  if (schema.$ref !== undefined) return tagsOf(document, document.components.schemas[refName(schema.$ref)])
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.flatMap((one) => tagsOf(document, one))
  return schema.properties?.tag?.enum ?? []
}

const problemsOf = (document, operation) => {
  const links = Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { content = {} }]) =>
      Object.values(content)
        .flatMap(({ schema }) => tagsOf(document, schema))
        .map((tag) => make("li", {}, `${status} `, make("a", { href: `/docs/errors/${tag}` }, tag))),
    )
  return links.length === 0 ? [] : [make("h4", {}, "Problems"), make("ul", { className: "tags" }, ...links)]
}

const answersOf = (document, operation) =>
  Object.entries(operation.responses)
    .filter(([, { content = {} }]) => !Object.keys(content).includes("application/problem+json"))
    .flatMap(([status, { content = {} }]) => {
      const kinds = Object.entries(content)
      if (kinds.length === 0) return [make("h4", {}, `${status}, no body`)]
      return kinds.flatMap(([type, { schema }]) => block(`${status} ${type}`, openedOf(document, schema)))
    })

const articleOf = (document, { method, operation, path }) => {
  const open = operation.security?.length === 0 || (operation.security ?? document.security ?? []).length === 0
  const bodies = Object.entries(operation.requestBody?.content ?? {})
  return make(
    "article",
    { id: operation.operationId },
    make("h3", {}, make("b", {}, method.toUpperCase()), path),
    make("p", { className: "faint" }, operation.operationId, open ? " · no token needed" : ""),
    ...(operation.description ? [make("p", {}, operation.description)] : []),
    ...parametersOf(operation, "path"),
    ...parametersOf(operation, "query"),
    ...parametersOf(operation, "header"),
    ...bodies.flatMap(([type, { schema }]) => block(`Body ${type}`, openedOf(document, schema))),
    ...answersOf(document, operation),
    ...problemsOf(document, operation),
  )
}

const isProblem = (schema) => schema.properties?.tag !== undefined && schema.properties.detail !== undefined

const schemasOf = (document) =>
  Object.entries(document.components?.schemas ?? {})
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, schema]) =>
      make(
        "article",
        { id: `schema-${name}` },
        make("h3", {}, short(name)),
        ...(isProblem(schema)
          ? [
              make(
                "p",
                { className: "faint" },
                "A problem. ",
                make("a", { href: `/docs/errors/${short(name)}` }, "What to do"),
              ),
            ]
          : []),
        make("pre", { tabIndex: 0 }, ...typeOf(schema)),
      ),
    )

const entryOf = (href, text) => make("li", {}, make("a", { href }, text))

const render = (document) => {
  const groups = new Map()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.tags?.[0] ?? "other"
      groups.set(group, [...(groups.get(group) ?? []), { method, operation, path }])
    }
  const words = (group) => group.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()
  const contents = [...groups].map(([group, all]) =>
    make(
      "div",
      {},
      make("h2", {}, words(group)),
      make(
        "ul",
        {},
        ...all.map(({ method, operation, path }) =>
          entryOf(`#${operation.operationId}`, `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
        ),
      ),
    ),
  )
  at("groups").replaceChildren(...contents)
  at("main").replaceChildren(
    ...[...groups].flatMap(([group, all]) => [
      make("h2", {}, words(group)),
      ...all.map((one) => articleOf(document, one)),
    ]),
    make("h2", {}, "Schemas"),
    ...schemasOf(document),
  )
  window.document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()
}

at("find").addEventListener("input", () => {
  const wanted = at("find").value.trim().toLowerCase()
  let shown = 0
  for (const entry of at("groups").querySelectorAll("li")) {
    entry.hidden = !entry.textContent.toLowerCase().includes(wanted)
    if (!entry.hidden) shown++
  }
  for (const group of at("groups").children) group.hidden = group.querySelector("li:not([hidden])") === null
  at("found").textContent = wanted === "" ? "" : `${shown} found`
})

fetch("/openapi.json")
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`the house answered ${answer.status}`))))
  .then(render)
  .catch((error) => {
    at("main").replaceChildren(
      make("p", { role: "alert" }, `/openapi.json could not be read: ${error.message}. Reload the page to try again.`),
    )
  })
