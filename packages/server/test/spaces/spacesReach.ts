/**
 * Everything through which somebody could act in a space: every endpoint of the contract, every method of MCP and every
 * tool of the toolsets. What spacesRules.test.ts does not try is named here, with why.
 */
import { Api, toolNames, type ToolsetName } from "@stoa/contract"
import type { SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { newMethods, oldMethods } from "../../src/doors/mcp/eras/methods.ts"

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

/** Groups of endpoints that know no space. One of them that names a space must be tried all the same. */
const groupsWithout = words(`principals tokens grants delegations allowLists limits secrets audit house metrics
  mcpServers pauses hosts memory models waits deadLetters demo wallet session health`)

/** Endpoints that need not be tried here, by the reason. */
const endpointsElsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  "they show many spaces at once: spacesSeen.test.ts": words("spaces.list events.watch page.start agents.inspect"),
  "it opens a space: authorization.test.ts": ["spaces.add"],
  "a file is judged by the messages that show it: spacesSeen.test.ts": ["house.file"],
  "a tool is the same in every space": words(
    "tools.list tools.get tools.form tools.signingKey tools.add tools.import tools.change tools.remove",
  ),
  "a call belongs to its caller, and its message is the house's": words(
    "calls.list calls.get calls.cancel results.submit",
  ),
  "a decision belongs to its voters": words(
    "decisions.list decisions.get decisions.answer decisions.link decisions.approvals decisions.revoke",
  ),
  "an agent belongs to its owner, and a run to its agent": words(`agents.tree agents.spawn agents.stop agents.get
    agents.prompt agents.change runs.spend runs.get runs.messages runs.steps runs.retry runs.toolResults runs.cancel`),
  "they show and open sessions of the caller itself": words("chatSessions.list chatSessions.add"),
}

const methodsElsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  "they begin and keep a connection": words("initialize ping server/discover logging/setLevel"),
  "they list what many spaces are among: spacesSeen.test.ts": words(
    "tools/list resources/list resources/templates/list",
  ),
  "they are about no space": words("prompts/list prompts/get completion/complete"),
  "a task is a call, which belongs to its caller": words("tasks/get tasks/update tasks/cancel"),
  "it ends what a session asked for": ["resources/unsubscribe"],
}

/** Toolsets and their tools that need not be tried here, by the reason. */
const toolsElsewhere: Record<ToolsetName, Readonly<Record<string, ReadonlyArray<string>>>> = {
  stoa: {
    "they show many spaces at once: spacesSeen.test.ts": words("list_spaces search"),
    "they are about calls, decisions, agents and memory": words(
      "call_status cancel_call list_decisions answer_decision run_agent remember recall forget memory_history list_offers answer_offer",
    ),
  },
  office: { "they are about memory": words("do_nothing update_memory search_memory store_memory") },
  gateway: {
    "they are about runs, memory and plans": words(
      "stop_run get_my_runs set_goals delete_goals set_memories delete_memories set_plans delete_plans get_plans",
    ),
  },
  engrams: {
    "records and sessions of a wallet, for its holder alone: engramOwners.test.ts, engramSessions.test.ts":
      toolNames.engrams,
  },
  team: {
    "they are about the tree of agents": words("spawn_agent list_team whoami stop_agent permit_use allow_use"),
    "the agent's own mail and work": words("check_inbox merge_work apply_work"),
    "it shows messages of many spaces: spacesSeen.test.ts, as agents.inspect": ["inspect_agent"],
  },
  skills: { "they reach files and the network": toolNames.skills },
}

interface Endpoint {
  readonly name: string
  readonly group: string
  /** As it is asked: method and path. */
  readonly route: string
  readonly namesSpace: boolean
}

const fieldsOf = (ast: SchemaAST.AST | undefined): ReadonlyArray<string> => {
  if (ast === undefined) return []
  if (ast._tag === "Union") return ast.types.flatMap(fieldsOf)
  return ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const { method, path, payload, query } = endpoint
    const bodies = [...payload.values()].flatMap(({ schemas }) => schemas.map(({ ast }) => fieldsOf(ast)))
    const fields = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!).concat(fieldsOf(query?.ast), ...bodies)
    endpoints.push({
      name: `${group.identifier}.${endpoint.identifier}`,
      group: group.identifier,
      route: `${method} ${path}`,
      namesSpace: fields.some((field) => /^(space|channel)/i.test(field)),
    })
  },
})

const named = (lists: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlySet<string> =>
  new Set(Object.values(lists).flat())

/** What nobody tried and nobody excused; and what is excused and does not exist. */
export const untried = (asked: ReadonlySet<string>): ReadonlyArray<string> => {
  const wasAsked = (route: string) => {
    const fits = new RegExp(`^${route.replaceAll(/:\w+/g, "[^/?]+")}(\\?.*)?$`)
    return [...asked].some((one) => fits.test(one))
  }
  const excused = named(endpointsElsewhere)
  const routes = endpoints.filter(
    ({ group, name, namesSpace, route }) =>
      !excused.has(name) && (namesSpace || !groupsWithout.includes(group)) && !wasAsked(route),
  )
  const methods = new Set(["initialize", ...newMethods.keys(), ...oldMethods.keys(), "subscriptions/listen"])
  const excusedMethods = named(methodsElsewhere)
  const tools = Object.entries(toolNames).flatMap(([set, names]) => {
    const elsewhere = named(toolsElsewhere[set as ToolsetName])
    const gone = [...elsewhere].filter((name) => !names.includes(name))
    return [...names.filter((name) => !elsewhere.has(name) && !asked.has(`${set} ${name}`)), ...gone].map(
      (name) => `${set} ${name}`,
    )
  })
  return [
    ...routes.map(({ name, route }) => `${name}: ${route}`),
    ...[...methods].filter((method) => !excusedMethods.has(method) && !asked.has(`MCP ${method}`)),
    ...tools,
    ...[...excused].filter((name) => !endpoints.some((one) => one.name === name)),
    ...[...excusedMethods].filter((name) => !methods.has(name)),
    ...groupsWithout.filter((name) => !endpoints.some(({ group }) => group === name)),
  ]
}
