/**
 * The configuration file. It owns what it declares: applied at start and on reload, read-only elsewhere, retired when
 * removed.
 */
import { Schema } from "effect"
import { declaredProfile } from "../runs/Agent.ts"
import { ToolName } from "../access/rights/AllowList.ts"
import { Action, ResourcePattern, Verdict } from "../access/rights/Grant.ts"
import { Limit } from "../access/Limit.ts"
import { DeclaredMCPServer, MCPServerName, OwnMCPServer } from "../tools/servers/MCPServerSpec.ts"
import { DeclaredModel, ModelName } from "../runs/Model.ts"
import { Name, PrincipalRef, Role } from "../access/identity/Principal.ts"
import { NewSpace } from "../spaces/Space.ts"
import { ApprovalRule, ToolForm } from "../tools/ToolConfiguration.ts"
import { ListedSet, ToolsetName } from "../tools/Toolset.ts"

const declared = {
  roles: Schema.optionalKey(Schema.Array(Role)),
  toolsets: Schema.optionalKey(Schema.Array(ToolsetName)),
  wallet: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))),
}

/** Where a person is notified of questions that wait for them. */
const Address = Schema.String.check(
  Schema.isMaxLength(2000),
  Schema.isPattern(/^https?:\/\/[^\s/?#@]+([/?#]\S*)?$/, {
    message: "must be an address such as https://hooks.example.com/ada, without a user name in it",
  }),
)

const DeclaredPerson = Schema.Struct({
  name: Name,
  ...declared,
  /** The house posts every question for this person there, with a signed link that answers it. */
  notify: Schema.optionalKey(Address),
})
const DeclaredAgent = Schema.Struct({
  name: Name,
  owner: Schema.optionalKey(PrincipalRef),
  ...declared,
  ...declaredProfile,
  /** Servers whose tools only this agent may use. */
  mcp: Schema.optionalKey(
    Schema.Struct({ servers: Schema.optionalKey(Schema.Array(OwnMCPServer).check(Schema.isMaxLength(100))) }),
  ),
})

/** A rule for a role or a principal. Among the rules that match, deny wins over ask, and ask over allow. */
export const Policy = Schema.Struct({
  /** A principal's name, `role:<role>`, or `*`. */
  principal: Schema.String.check(Schema.isMinLength(1)),
  resource: ResourcePattern,
  actions: Schema.Array(Action).check(Schema.isMinLength(1)),
  effect: Verdict,
  /** With `ask`: who is asked, instead of those the tool names. */
  approval: Schema.optionalKey(ApprovalRule),
})
export type Policy = typeof Policy.Type

const ToolList = Schema.Array(ToolName)
const ContextLists = Schema.Struct({
  agent: Schema.optionalKey(ToolList),
  crossroads: Schema.optionalKey(ToolList),
  internal: Schema.optionalKey(ToolList),
})

const AllowListsSection = Schema.Struct(
  Object.fromEntries(ListedSet.literals.map((set) => [set, Schema.optionalKey(ContextLists)])) as {
    readonly [K in ListedSet]: Schema.optionalKey<typeof ContextLists>
  },
)

/** Tools must not read the house's own settings. */
const EnvName = Schema.String.check(
  Schema.isPattern(/^(?!STOA_|DATABASE_URL$|NODE_OPTIONS$)[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
    message:
      "must be the name of an environment variable that is not the house's own (STOA_…, DATABASE_URL, NODE_OPTIONS)",
  }),
)
const Host = Schema.String.check(
  Schema.isPattern(/^((\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/, {
    message:
      "must be a host such as api.example.com, *.example.com, 10.0.0.7:8080 or [fd00::7]:8080, without a scheme or path",
  }),
)
const Hosts = Schema.Array(Host).check(Schema.isMaxLength(1000))

/** Where tools may connect to. Without it: every public address and no other. */
export const EgressSection = Schema.Struct({
  /** If given, only these. */
  hosts: Schema.optionalKey(Hosts),
  /** Named exceptions that may be private or loopback. Link-local and metadata addresses are never allowed. */
  allow: Schema.optionalKey(Hosts),
  maxRedirects: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))),
})
export type EgressSection = typeof EgressSection.Type

export const Configuration = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  people: Schema.optionalKey(Schema.Array(DeclaredPerson).check(Schema.isMaxLength(10_000))),
  agents: Schema.optionalKey(Schema.Array(DeclaredAgent).check(Schema.isMaxLength(10_000))),
  spaces: Schema.optionalKey(Schema.Array(NewSpace).check(Schema.isMaxLength(1000))),
  /** Seed 001's form. */
  tools: Schema.optionalKey(Schema.Array(ToolForm).check(Schema.isMaxLength(1000))),
  allowLists: Schema.optionalKey(AllowListsSection),
  policies: Schema.optionalKey(Schema.Array(Policy).check(Schema.isMaxLength(1000))),
  limits: Schema.optionalKey(Schema.Array(Limit).check(Schema.isMaxLength(1000))),
  /** The house's MCP servers, by name. */
  mcpServers: Schema.optionalKey(Schema.Record(MCPServerName, DeclaredMCPServer)),
  /** The environment variables that tools may read, as `${env.NAME}`. */
  env: Schema.optionalKey(Schema.Array(EnvName).check(Schema.isMaxLength(1000))),
  egress: Schema.optionalKey(EgressSection),
  /** The language models of the house, by the names agents know them by. */
  models: Schema.optionalKey(Schema.Record(ModelName, DeclaredModel)),
})
export type Configuration = typeof Configuration.Type

/** The file's JSON Schema, for editors and programs that write it. As strict as the house is. */
export const configurationSchema = (): Readonly<Record<string, unknown>> => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(Configuration, { onExcessProperty: "error" })
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Stoa configuration file",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }),
  }
}
