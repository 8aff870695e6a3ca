// Who may import whom. Read through scripts/typescript6.mjs by scripts/checks/floors.ts: without it no .ts file is seen.

/** The one file of the command line that loads the server. */
const SERVES = "^packages/cli/src/local\\.ts$"

/** Rooms of the server by floor. A room imports itself and strictly lower floors. */
const FLOORS = [
  ["store"],
  ["access", "models", "migrations"],
  ["servers", "spaces", "memory", "decisions"],
  ["calls", "sessions", "programs"],
  ["runs"],
  ["team"],
  ["toolsets", "demo"],
  ["doors"],
]

const SERVER = "^packages/server/src/"
/** Folders of the files in server/src, which know all rooms. They are not rooms. */
const WIRES = "(configuration|start|operations)/"
const WIRING = `${SERVER}(${WIRES})?[^/]+\\.tsx?$`
const TESTS = "(^packages/[^/]+/test/|\\.test\\.tsx?$)"

const list = (of) => (of === undefined ? [] : Array.isArray(of) ? of : [of])
/** `to` may not be imported by `from`. Tests may import anything. */
const never = (name, comment, from, to) => ({
  name,
  comment,
  severity: "error",
  from: { ...from, pathNot: [TESTS, ...list(from.pathNot)] },
  to,
})

const onlyOurs = (name, ...allowed) =>
  never(
    `${name}-imports-${allowed.join("-and-") || "nothing-of-ours"}`,
    `packages/${name} may import of ours: ${allowed.join(", ") || "nothing"}. Move the code down, or the value to contract.`,
    { path: `^packages/${name}/`, ...(name === "cli" ? { pathNot: SERVES } : {}) },
    { path: `^packages/(?!(${[name, ...allowed].join("|")})/)` },
  )

const rooms = FLOORS.flatMap((here, floor) =>
  here.map((room) =>
    never(
      `floor-${floor}-${room}`,
      "A room calls only strictly lower floors; what must go up or sideways goes through the journal.",
      { path: `${SERVER}${room}/` },
      { path: `${SERVER}(?!(${[room, ...FLOORS.slice(0, floor).flat()].join("|")})/)[^/]+/` },
    ),
  ),
)

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    never("no-cycles", "Two files that need each other are one file, or hide a third.", {}, { circular: true }),
    never("nothing-unresolved", "The import leads nowhere.", {}, { couldNotResolve: true }),
    never("no-test-in-source", "Source does not need its tests.", { path: "^packages/[^/]+/src/" }, { path: TESTS }),
    onlyOurs("contract"),
    onlyOurs("importers", "contract"),
    onlyOurs("tools", "contract"),
    onlyOurs("sdk", "contract"),
    onlyOurs("web", "sdk", "contract"),
    onlyOurs("server", "contract", "importers", "tools"),
    onlyOurs("cli", "sdk", "contract", "importers"),
    never(
      "browser-safe",
      "contract, importers, sdk and web run in browsers: no Node built-ins.",
      // The kit for tests runs a house, which runs on Node.
      { path: "^packages/(contract|importers|sdk|web)/src/", pathNot: "^packages/sdk/src/testing/" },
      { dependencyTypes: ["core"] },
    ),
    ...rooms,
    never(
      "room-of-the-plan",
      "A new folder of the server needs a floor: add it to FLOORS in .dependency-cruiser.cjs.",
      { path: `${SERVER}(?!(${FLOORS.flat().join("|")})/)[^/]+/`, pathNot: WIRING },
      {},
    ),
    never(
      "rooms-know-no-wiring",
      "Rooms are wired, they do not wire: of the files in server/src and its folders that are no rooms, they may import Settings.ts only.",
      { path: `${SERVER}[^/]+/`, pathNot: WIRING },
      { path: WIRING, pathNot: `${SERVER}Settings\\.ts$` },
    ),
    never(
      "lower-case-is-private",
      "A lower-case file belongs to its room; other rooms import PascalCase files only.",
      { path: `${SERVER}([^/]+)/`, pathNot: WIRING },
      { path: [`${SERVER}(?!$1/)[^/]+/[^A-Z/][^/]*$`, `${SERVER}(?!$1/)[^/]+/.*/[^A-Z/][^/]*$`] },
    ),
    never(
      "doors-are-strangers",
      "Each door stands alone; what two of them need is a PascalCase file directly in doors/, or in doors/node/.",
      { path: `${SERVER}doors/([^/]+)/` },
      { path: `${SERVER}doors/(?!$1/)`, pathNot: [`${SERVER}doors/[A-Z][^/]*$`, `${SERVER}doors/node/[A-Z][^/]*$`] },
    ),
    never(
      "no-replayed-code",
      "A run is rows, and who works on it is a row: no workflow that is replayed, no cluster with messages of its own.",
      { path: "^packages/" },
      { path: "node_modules/effect/(src|dist)/(unstable/)?(workflow|cluster)/" },
    ),
    never(
      "http-api-at-the-edge",
      "The HTTP API is described in contract, spoken by sdk and doors/http; rooms know no transport.",
      {
        path: "^packages/",
        pathNot: ["^packages/contract/src/", "^packages/sdk/src/", `${SERVER}doors/http/`, WIRING],
      },
      { path: "node_modules/effect/(src|dist)/(unstable/)?http-?api/" },
    ),
    never(
      "features-are-strangers",
      "A feature of the page that needs another one is one feature, or misses a shared part.",
      { path: "^packages/web/src/features/([^/]+)/" },
      { path: "^packages/web/src/features/(?!$1/)" },
    ),
  ],
  options: {
    moduleSystems: ["es6"], // a function of ours called `require` is not CommonJS
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^packages/[^/]+/dist/|routeTree\\.gen\\.ts$)" }, // ours only: the rules above look into node_modules/effect/dist
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".js", ".mjs"],
    },
  },
}
