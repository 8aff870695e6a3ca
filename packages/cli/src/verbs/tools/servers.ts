import { visibleJson } from "@stoa/contract"
import type { Stoa } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { countNoun } from "../../output/countNoun.ts"
import { Failure, refusal } from "../../Failure.ts"
import { givenFlags, nameArgument, textFlag } from "../../command/flags.ts"
import { ask, list, root, show, printNote } from "../../command/root.ts"
import { withCommand } from "../../output/hints.ts"
import { shellQuote } from "../../output/shellQuote.ts"

const server = nameArgument("server", "Its name", 'Give a server; "stoa servers ls" lists them')

/** `KEY=value`; the value may contain more `=`. */
const pair = Effect.fnUntraced(function* (text: string, flag: string) {
  const at = text.indexOf("=")
  return at > 0
    ? ([text.slice(0, at), text.slice(at + 1)] as const)
    : yield* refusal(`--${flag} ${text}: write it as NAME=VALUE.`)
})
const pairs = (texts: ReadonlyArray<string>, flag: string) =>
  Effect.map(
    Effect.forEach(texts, (text) => pair(text, flag)),
    (all) => Object.fromEntries(all),
  )

/** The readable texts of a definition. */
const wordsOf = (definition: unknown): string | undefined =>
  (definition as { readonly description?: string } | null | undefined)?.description

const several = (name: string, words: string) =>
  Flag.String(name).pipe(Flag.withDescription(words), Flag.between(0, 1000))

/**
 * In `stoa servers add NAME --url U` the flag is the server's address. The house's own address comes before the verb,
 * or from STOA_URL.
 */
export const serverUrl = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const options = args.includes("--") ? args.indexOf("--") : args.length
  const verb = args.findIndex(
    (arg, at) => at + 1 < options && arg === "servers" && /^(add|look)$/.test(args[at + 1] ?? ""),
  )
  return args.map((arg, at) =>
    verb >= 0 && at > verb && at < options && /^--url(=|$)/.test(arg) ? arg.replace("--url", "--address") : arg,
  )
}

/** How a server is reached. */
const reach = {
  name: nameArgument(
    "name",
    "Its name, which comes before the name of each of its tools",
    "Give the new server a name",
  ),
  program: Argument.String("command").pipe(
    Argument.withDescription("After --: the program and its arguments"),
    Argument.variadic(),
  ),
  address: textFlag("address", "Its address, instead of a program; --url here means the same"),
  header: several("header", "NAME=VALUE, sent with each request; ${secret.NAME} is filled in by the house"),
  env: several("env", "NAME=VALUE for the program; ${secret.NAME} is filled in by the house"),
  transport: Flag.Literals("transport", ["http", "sse", "websocket"]).pipe(
    Flag.withDescription("The transport for the address"),
    Flag.optional,
  ),
}

interface Reached {
  readonly name: string
  readonly program: ReadonlyArray<string>
  readonly address: Option.Option<string>
  readonly header: ReadonlyArray<string>
  readonly env: ReadonlyArray<string>
  readonly transport: Option.Option<"http" | "sse" | "websocket">
}

/** The same as the house takes it. */
const declared = Effect.fnUntraced(function* ({ address, env, header, name, program, transport }: Reached) {
  const [command, ...args] = program
  if ((command === undefined) === Option.isNone(address))
    return yield* refusal("Say how to reach it: give a program after --, or an address with --url.")
  const headers = yield* pairs(header, "header")
  const variables = yield* pairs(env, "env")
  return {
    name,
    ...(command === undefined ? {} : { command, ...(args.length > 0 ? { args } : {}) }),
    ...givenFlags({ url: address }),
    ...(header.length > 0 ? { headers } : {}),
    ...(env.length > 0 ? { env: variables } : {}),
    ...givenFlags({ transport }),
  }
})

type Program = NonNullable<Awaited<ReturnType<Stoa["mcpServers"]["look"]>>["program"]>

/** Each argument on a line of its own, quoted: none can look like two, or like none. */
const programLines = ({ args, command, env }: Program): ReadonlyArray<string> => [
  `  program   ${visibleJson(command)}`,
  ...args.map((one) => `  argument  ${visibleJson(one)}`),
  ...Object.entries(env).map(([name, value]) => `  variable  ${name}=${visibleJson(value)}`),
]

const look = Command.make(
  "look",
  {
    ...reach,
    confirm: textFlag("confirm", "The digest that was shown with the program: without it the program is not run"),
  },
  Effect.fn(function* ({ confirm, ...given }) {
    const wanted = yield* declared(given)
    const seen = yield* ask((stoa) => stoa.mcpServers.look(wanted, givenFlags({ confirm })))
    const { program } = seen
    if (program !== undefined) {
      yield* show(
        seen,
        ["This program would run on the house's machine, as its user:", ...programLines(program)].join("\n"),
      )
      return yield* refusal(
        `Nothing has run. To run exactly this and see its tools, give the same command with --confirm ${program.digest}`,
      )
    }
    yield* show(
      seen,
      seen.error === undefined
        ? `${seen.name} answers: ${countNoun(seen.tools.length, "tool")}\n${seen.tools.map((one) => `  ${one.name} (${one.risk} risk)`).join("\n")}`
        : `${seen.name} does not work: ${withCommand(seen.error)}`,
    )
    if (seen.status === "error") return yield* new Failure({ message: "Nothing was added.", exitCode: 1 })
  }),
).pipe(
  Command.withDescription(
    "Look at an MCP server without adding it; a program is shown first, and run only once confirmed",
  ),
  Command.withExamples([
    { command: "stoa servers look crm --url https://crm.example/mcp", description: "What an address offers" },
    { command: "stoa servers look notes -- npx -y my-notes-server", description: "What would be run" },
  ]),
)

const add = Command.make(
  "add",
  {
    ...reach,
    allow: several("allow", "A tool that may be used; without it all may"),
    timeout: Flag.Int("timeout").pipe(
      Flag.withDescription("Seconds a call may take without any sign of activity: 1 to 300 (default: 30)"),
      Flag.optional,
    ),
    review: Flag.Literals("review", ["hold", "trust"]).pipe(
      Flag.withDescription("Whether a tool that changes is held until you accept it"),
      Flag.optional,
    ),
  },
  Effect.fn(function* ({ allow, review, timeout, ...given }) {
    const wanted = yield* declared(given)
    const made = yield* ask((stoa) =>
      stoa.mcpServers.add({
        ...wanted,
        ...(allow.length > 0 ? { allowedTools: allow } : {}),
        ...givenFlags({ review, timeoutSeconds: timeout }),
      }),
    )
    yield* show(
      made,
      made.error === undefined
        ? `${made.name} is ${made.status}: ${countNoun(made.tools.length, "tool")}`
        : `${made.name} does not work yet: ${withCommand(made.error)}`,
    )
    if (made.status === "error")
      return yield* new Failure({
        message: `${made.name} is added, and the house keeps trying to reach it. Fix the problem above, or remove it with "stoa servers rm ${made.name}".`,
        exitCode: 1,
      })
  }),
).pipe(
  Command.withDescription("Add an MCP server: a program, or an address"),
  Command.withExamples([
    { command: "stoa servers add notes -- npx -y my-notes-server", description: "A program on this machine" },
    {
      command: "stoa servers add crm --url https://crm.example/mcp --header 'authorization=Bearer ${secret.CRM}'",
      description: "An address, with a secret of the house",
    },
  ]),
)

const ls = Command.make(
  "ls",
  {},
  Effect.fn(function* () {
    const { json } = yield* root
    const { items } = yield* ask((stoa) => stoa.mcpServers.list())
    yield* list(json ? items : items.map((one) => ({ ...one, tools: one.tools.length })), {
      shown: ["name", "status", "transport", "tools", "held", "error"],
      spare: ["transport"],
    })
  }),
).pipe(Command.withDescription("List the MCP servers and their status"))

const rm = Command.make(
  "rm",
  { server },
  Effect.fn(function* ({ server }) {
    yield* ask((stoa) => stoa.mcpServers.remove(server))
    yield* printNote(`${server} is removed`)
  }),
).pipe(Command.withDescription("Remove an MCP server"))

/** A digest prefix this long cannot be matched deliberately by another definition; a shorter one could. */
const shortest = 16

const pinned = Command.make(
  "tools",
  { server },
  Effect.fn(function* ({ server }) {
    const { json } = yield* root
    const { items } = yield* ask((stoa) => stoa.mcpServers.tools(server))
    const rows = items.map((one) => ({
      ...one,
      says: wordsOf(one.definition),
      "would say": wordsOf(one.held?.definition),
      digest: one.held?.digest.slice(0, shortest),
    }))
    const why = items.some((one) => one.why !== undefined) ? ["why"] : []
    yield* list(json ? items : rows, {
      shown: ["name", "state", "digest", ...why, "says", "would say"],
      spare: ["says"],
    })
    if (json) return
    // The tools are those it had; of a server that was never reached there are none.
    const { error, status } = yield* ask((stoa) => stoa.mcpServers.get(server))
    if (status !== "connected") yield* printNote(`${server} is ${status}${error === undefined ? "" : `: ${error}`}`)
    if (items.some(({ held }) => held !== null))
      yield* printNote(`To see a whole change, and how to accept it: stoa servers accept ${server} TOOL`)
  }),
).pipe(Command.withDescription("List its tools: active, held for review, or left out"))

/** Line by line. Characters that a terminal would hide or move are written out. */
const linesOf = (definition: unknown): ReadonlyArray<string> =>
  JSON.stringify(definition, null, 2)
    .split("\n")
    .map((line) =>
      line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`),
    )
const marked = (words: string, mark: string, lines: ReadonlyArray<string>, others: ReadonlyArray<string>) => [
  words,
  ...lines.map((line) => `${others.includes(line) ? " " : mark} ${line}`),
]
/** Both completely, with a mark at the lines that differ. */
const changeOf = (before: unknown, now: unknown): string => {
  const [old, young] = [linesOf(before), linesOf(now)]
  return [...marked("It said:", "-", old, young), ...marked("It says now:", "+", young, old)].join("\n")
}

const accept = Command.make(
  "accept",
  {
    server,
    tool: nameArgument("tool", "One of its held tools", 'Give a tool; "stoa servers tools SERVER" lists its tools'),
    digest: textFlag(
      "digest",
      "The digest of what you have looked at; without it the change is shown and nothing is accepted",
    ),
  },
  Effect.fn(function* ({ digest, server, tool }) {
    const { items } = yield* ask((stoa) => stoa.mcpServers.tools(server))
    const found = items.find((one) => one.name === tool)
    if (!found?.held) {
      const others = items.flatMap((one) => (one.held === null ? [] : [one.name]))
      const instead = others.length === 0 ? "No tool of it is held." : `Held are: ${others.join(", ")}.`
      return yield* refusal(`${server} has no held tool "${tool}". ${instead}`)
    }
    const { held } = found
    if (Option.isNone(digest)) {
      yield* show(found, changeOf(found.definition, held.definition))
      return yield* refusal(
        `Nothing is accepted yet. To accept what it says now: stoa servers accept ${shellQuote(server)} ${shellQuote(tool)} --digest ${held.digest}`,
      )
    }
    const seen = digest.value.toLowerCase()
    if (seen.length < shortest) return yield* refusal(`--digest must have at least ${shortest} characters.`)
    // The reviewed definition, not what the server may have made of it since: the house compares the complete digest.
    const whole = held.digest.startsWith(seen) ? held.digest : seen
    const now = yield* ask((stoa) => stoa.mcpServers.accept(server, tool, { digest: whole }))
    yield* show(now, `${server}/${tool} may be called again`)
  }),
).pipe(Command.withDescription("Show how a tool has changed; with --digest, accept the change"))

export const servers = Command.make("servers").pipe(
  Command.withDescription("MCP servers whose tools the house offers"),
  Command.withSubcommands([look, add, ls, rm, pinned, accept]),
)
