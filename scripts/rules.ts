// The house's own lint rules, loaded by oxlint (`jsPlugins`), so that editors show them too. Which files they look at is
// said in .oxlintrc.json; a rule that does not fire there is off, hence test/check/lint.test.ts.
// `// edge: <reason>` among the first lines of a file marks an adapter to a world of callbacks, promises and clocks.

interface Node {
  readonly type: string
  readonly parent: Node | null
  readonly name?: string
  readonly value?: unknown
  readonly async?: boolean
  readonly await?: boolean
  readonly generator?: boolean
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly exported?: Node
  readonly imported?: Node
  readonly source?: Node
  readonly specifiers?: ReadonlyArray<Node>
  readonly id?: Node
  readonly init?: Node | null
  readonly properties?: ReadonlyArray<Node & { readonly key?: Node }>
  readonly range: readonly [number, number]
}
interface File {
  readonly filename: string
  readonly sourceCode: { readonly text: string }
  readonly report: (fault: { readonly node: Node; readonly message: string }) => void
}
type Visitor = Record<string, (node: Node) => void>

/** Where each process reads its environment; nothing else does. */
const readsEnvironment = /\/packages\/(server|cli|sdk)\/src\/((testing|mcp)\/)?Settings\.ts$/

const atTheEdge = (file: File) => /^\/\/ edge: \S/m.test(file.sourceCode.text.split("\n", 10).join("\n"))

const rule = (message: string, visit: (report: (node: Node) => void) => Visitor, exempt: (file: File) => boolean) => ({
  create: (file: File): Visitor => (exempt(file) ? {} : visit((node) => file.report({ node, message }))),
})

const isName = (node: Node | undefined, ...names: ReadonlyArray<string>) =>
  node !== undefined && names.includes(String(node.name ?? node.value))

const noEnv = rule(
  "process.env is read in Settings.ts only: a setting read elsewhere has no type, no default and no line in docs/settings.md.",
  (report) => ({
    MemberExpression: (it) => {
      if (isName(it.object, "process") && isName(it.property, "env")) report(it)
    },
    VariableDeclarator: (it) => {
      if (isName(it.init ?? undefined, "process") && it.id?.properties?.some((p) => isName(p.key, "env"))) report(it)
    },
    ImportDeclaration: (it) => {
      if (!isName(it.source, "node:process", "process")) return
      if (it.specifiers?.some((s) => isName(s.imported, "env"))) report(it)
    },
  }),
  (file) => readsEnvironment.test(file.filename),
)

const timers = ["setTimeout", "setInterval"]
const noClock = rule(
  "Time comes from Effect's Clock, DateTime and Schedule, so that tests can move it. An adapter that cannot carries `// edge: <reason>` at its top.",
  (report) => ({
    NewExpression: (it) => {
      if (isName(it.callee, "Date")) report(it)
    },
    CallExpression: (it) => {
      const callee = it.callee?.type === "MemberExpression" ? it.callee : undefined
      if (isName(it.callee, "Date", ...timers)) report(it)
      else if (isName(callee?.object, "globalThis", "window") && isName(callee?.property, ...timers)) report(it)
    },
    MemberExpression: (it) => {
      if (isName(it.object, "Date") && isName(it.property, "now")) report(it)
    },
  }),
  atTheEdge,
)

const ofWall = /\bwall clock: \S/
/** On its own line, or one of the two before. */
const saysWhy = ({ sourceCode: { text } }: File, { range }: Node): boolean => {
  const upTo = text.slice(0, text.indexOf("\n", range[0]) + 1 || text.length)
  return ofWall.test(upTo.split("\n").slice(-4).join("\n"))
}
const noWall = {
  create: (file: File): Visitor => ({
    MemberExpression: (it) => {
      if (!isName(it.property, "currentTimeMillis", "currentTimeMillisUnsafe") || saysWhy(file, it)) return
      const message =
        "The wall clock may be set: durations are counted by store/Moment.ts. A moment that is stored, shown or agreed carries `// wall clock: <reason>` above it."
      file.report({ node: it, message })
    },
  }),
}

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])
const around = (node: Node): Node | null => {
  let at = node.parent
  while (at !== null && !functions.has(at.type)) at = at.parent
  return at
}
/** `Effect.gen(function*…)`, `Effect.fn("x")(function*…)`, `Effect.fnUntraced(function*…)`. */
const isEffectBody = (node: Node | null) => {
  if (!node?.generator || node.parent?.type !== "CallExpression") return false
  let callee = node.parent.callee
  if (callee?.type === "CallExpression") callee = callee.callee
  return isName(callee?.object, "Effect") && isName(callee?.property, "gen", "fn", "fnUntraced")
}
const noTryInGen = rule(
  "try/catch does not see an Effect's failure: it is in the type, so use Effect.catch, Effect.try, Effect.ensuring or a scope.",
  (report) => ({
    TryStatement: (it) => {
      if (isEffectBody(around(it))) report(it)
    },
  }),
  () => false,
)

const noDefaultExport = rule(
  "A default export has no name to search for or rename. Only migrations have one: the record in Migrations.ts names them.",
  (report) => ({
    ExportDefaultDeclaration: report,
    ExportSpecifier: (it) => {
      if (isName(it.exported, "default")) report(it)
    },
  }),
  (file) => file.filename.includes("/migrations/"),
)

const noAsync = rule(
  "Rooms speak Effect: a promise loses typed errors, interruption and the test clock. An adapter carries `// edge: <reason>` at its top.",
  (report) => {
    const ifAsync = (it: Node) => {
      if (it.async) report(it)
    }
    return {
      FunctionDeclaration: ifAsync,
      FunctionExpression: ifAsync,
      ArrowFunctionExpression: ifAsync,
      AwaitExpression: (it) => {
        if (around(it) === null) report(it) // inside an async function the function itself is the fault
      },
      ForOfStatement: (it) => {
        if (it.await && around(it) === null) report(it)
      },
    }
  },
  atTheEdge,
)

const judging = ["judge", "judgeOf", "viewerOfAll", "houseViewer"]
const noJudging = rule(
  "A rule about who may do or see something is asked by the room that owns the thing, so that no other door can forget it. Doors and toolsets translate: name a resource to Grants.require, or ask the room.",
  (report) => ({
    CallExpression: (it) => {
      const name = it.callee?.type === "MemberExpression" ? it.callee.property : it.callee
      if (isName(name, ...judging)) report(it)
    },
  }),
  () => false,
)

const noHandmadeViewer = rule(
  "A viewer that sees everybody's is made by Grants.viewer, which judges, or by viewerOfAll of access/rights/Viewer.ts, which says why none is judged.",
  (report) => ({
    ObjectExpression: (it) => {
      const all = it.properties?.find(({ key }) => isName(key, "all"))?.value as Node | undefined
      if (all?.value === true && it.properties?.some(({ key }) => isName(key, "principal"))) report(it)
    },
  }),
  (file) => file.filename.endsWith("/access/rights/Viewer.ts"),
)

export default {
  meta: { name: "stoa" },
  rules: {
    "no-env": noEnv,
    "no-clock": noClock,
    "no-wall": noWall,
    "no-try-in-gen": noTryInGen,
    "no-default-export": noDefaultExport,
    "no-async": noAsync,
    "no-judging": noJudging,
    "no-handmade-viewer": noHandmadeViewer,
  },
}
