/**
 * The command that helps after a refusal. The house names no commands, because its words are read over MCP and on the
 * page as well: here its tag and fields, or a stored call's, become one. Pure.
 */
import { listYours } from "@stoa/contract"
import { shellQuote } from "./shellQuote.ts"

export interface Refusal {
  readonly tag: string
  readonly message: string
  /** Of the problem: rule, resource, noun and the like. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Who was refused. */
export interface RefusedPrincipal {
  readonly name: string
  readonly kind: string
  readonly toolsets: ReadonlyArray<string>
}

const listing: Readonly<Record<string, string>> = {
  "MCP server": "stoa servers ls",
  agent: "stoa agents ls",
  approval: "stoa decide --approvals",
  "chat session": "stoa chat ls",
  "configured tool": "stoa tools ls",
  decision: "stoa decide",
  "dead letter": "stoa runs letters",
  delegation: "stoa api delegations list",
  grant: "stoa grants ls",
  host: "stoa hosts ls",
  memory: "stoa memory ls",
  pause: "stoa pause",
  run: "stoa runs ls",
  space: "stoa spaces ls",
  token: "stoa token ls",
  tool: "stoa tools ls",
  wait: "stoa runs waits",
  "webhook tool": "stoa tools ls",
}

const where = (noun: string): string | undefined => {
  if (noun === "principal") return '"stoa people ls" and "stoa agents ls" list everybody.'
  if (noun === "secret") return '"stoa secrets ls" lists their names.'
  if (noun === "message") return '"stoa spaces read SPACE" shows the messages of a space, with their ids.'
  if (noun === "call") return '"stoa tools calls TOOL" lists the calls of a tool, with their ids.'
  return listing[noun] === undefined ? undefined : `"${listing[noun]}" lists yours.`
}

const nouns: Readonly<Record<string, string>> = {
  apv: "approval",
  call: "call",
  dcs: "decision",
  dlg: "delegation",
  gnt: "grant",
  hst: "host",
  mem: "memory",
  msg: "message",
  prn: "principal",
  run: "run",
  ses: "chat session",
  spc: "space",
  tok: "token",
}

/** An id of another form, or of something that is not there: where those are that do exist. */
const badInput = (message: string): string | undefined => {
  const noun =
    nouns[/Expected an id such as ([a-z]+)_/.exec(message)?.[1] ?? ""] ??
    (message.includes(listYours) ? /There is no ([a-zA-Z ]+) "/.exec(message)?.[1] : undefined)
  return noun === undefined ? inWords(message) : where(noun)
}

const whoOf = (me: Pick<RefusedPrincipal, "name"> | undefined): string =>
  me === undefined ? "NAME" : shellQuote(me.name)

const grant = (me: Pick<RefusedPrincipal, "name"> | undefined, resource: string, action: string): string =>
  `An admin can do this with: stoa grants add ${whoOf(me)} ${shellQuote(resource)}${action === "execute" ? "" : ` --action ${action}`}`

const forbidden = ({ fields }: Refusal, me: RefusedPrincipal | undefined): string | undefined => {
  const { action, instead, resource, rule } = fields as Readonly<Record<string, string | undefined>>
  if (resource === undefined || action === undefined) return undefined
  if (instead === undefined) return grant(me, resource, action)
  // Giving rights takes more than the right to do so.
  if (rule === "silence" && instead.includes("with the context internal"))
    return `${grant(me, resource, action)}; stoa token add ${whoOf(me)} --context internal`
  const set = /^toolsets\/(.+)$/.exec(resource)?.[1]
  if (set !== undefined && me !== undefined)
    return `An admin can do this with: stoa ${me.kind === "agent" ? "agents" : "people"} set ${shellQuote(me.name)} ${[...me.toolsets, set].map((one) => `--toolset ${one}`).join(" ")}`
  // Whatever is done in a space needs the right to write there.
  return rule === "silence" && resource.startsWith("spaces/") ? grant(me, resource, "write") : undefined
}

const secretsIn = /[Tt]he secret "([^"]+)"(?:, which)? (?:is not set|has fewer than)/g
const modelsIn = /[Tt]he agent "([^"]+)" thinks with the model "[^"]+", which the configuration file does not/g
const agentsIn = /the agent "([^"]+)", which does not exist/g

/** What changes the thing that has the name. For a tool it needs the file, so the verb that has it says it. */
const changing = (noun: string, name: string): string | undefined => {
  if (noun === "principal") return `To change it: stoa agents set ${name}, or for a person: stoa people set ${name}`
  if (noun === "MCP server") return `To change it, remove it and add it again: stoa servers rm ${name}`
  return undefined
}

/** In texts of failures that have no fields, because they were stored with a call, and in warnings. */
const inWords = (message: string): string | undefined => {
  const named = (pattern: RegExp) => [...new Set([...message.matchAll(pattern)].map(([, name]) => shellQuote(name!)))]
  const commands = [
    ...named(secretsIn).map((name) => `stoa secrets set ${name}`),
    ...named(agentsIn).map((name) => `stoa agents add ${name}`),
    ...named(modelsIn).map((name) => `stoa agents set ${name} --model MODEL`),
  ]
  if (commands.length > 0) return `An operator can do this with: ${commands.join("; ")}`
  const [, tool, server] = /"([^"]+)" of the MCP server "([^"]+)" is held/.exec(message) ?? []
  if (tool !== undefined && server !== undefined)
    return `To see the change and accept it: stoa servers accept ${shellQuote(server)} ${shellQuote(tool)}`
  const kind = /list the (tools|servers) to see/.exec(message)?.[1]
  if (kind !== undefined) return `"stoa ${kind} ls" lists yours.`
  const agent = /(?:^|\s)(\S+) has no model to think with/.exec(message)?.[1]
  return agent === undefined
    ? undefined
    : `An admin can do this with: stoa agents set ${shellQuote(agent)} --model MODEL`
}

/** A warning of the house, and the command. */
export const withCommand = (warning: string): string => {
  const hint = inWords(warning)
  return hint === undefined ? warning : `${warning} ${hint}`
}

/** Whether the hint names the caller. */
export const needsName = ({ tag }: Pick<Refusal, "tag">): boolean =>
  tag === "Forbidden" || tag === "ToolAuthorizationError"

/** Whose right is missing: a call that is read later may be somebody else's, or an agent's that works for another. */
const calledBy = (message: string): { readonly name: string } | undefined => {
  const name = /an admin can grant (.+) execute on tools\//.exec(message)?.[1]
  return name === undefined ? undefined : { name }
}

const hintFor = (refusal: Refusal, me: RefusedPrincipal | undefined): string | undefined => {
  const { fields, message, tag } = refusal
  switch (tag) {
    case "Forbidden":
      return forbidden(refusal, me)
    case "ToolAuthorizationError":
      return fields["rule"] === "silence" && typeof fields["toolName"] === "string"
        ? grant(calledBy(message) ?? me, `tools/${fields["toolName"]}`, "execute")
        : inWords(message)
    case "BadInput":
      return badInput(message)
    case "Missing":
      return where(String(fields["noun"]))
    case "NameTaken":
      return changing(String(fields["noun"]), shellQuote(String(fields["name"])))
    case "OwnedByFile":
      return "To reload now: stoa reload"
    case "Unauthenticated":
      return fields["reason"] === "refused" ? "An admin can do this with: stoa token add NAME" : undefined
    default:
      return inWords(message)
  }
}

/** The house's sentence, and the command. */
export const withHint = (refusal: Refusal, me: RefusedPrincipal | undefined): string => {
  const hint = hintFor(refusal, me)
  if (hint === undefined) return refusal.message
  const said = refusal.message
    .replace(` ${listYours}`, "")
    .replace(
      /^The request could not be read\. path\.\w+: Expected an id such as ([a-z]+)_\S+$/,
      (all, prefix: string) => (nouns[prefix] === undefined ? all : `This is not the id of a ${nouns[prefix]}.`),
    )
  return `${said}${/[.?!)]$/.test(said) ? "" : "."} ${hint}`
}
