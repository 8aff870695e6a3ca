/** What an agent of the house has besides its identity: its persona, its model or program, and its limits. */
import { Schema } from "effect"
import { PrincipalId } from "../Ids.ts"
import { ModelName } from "./Model.ts"
import { Principal, PrincipalRef } from "../access/identity/Principal.ts"

const Count = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))
const Dollars = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

const spending = { cost: Schema.optionalKey(Dollars), tokens: Schema.optionalKey(Count(1_000_000_000_000)) }

/** Each can only tighten what the agent's toolset allows. */
export const AgentLimits = Schema.Struct({
  /** Per run. */
  steps: Schema.optionalKey(Count(10_000)),
  ...spending,
  minutes: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))),
  waits: Schema.optionalKey(Count(1000)),
  /** How deep agents' messages may wake other agents. */
  depth: Schema.optionalKey(Count(100)),
  /** How many of its runs work at once; at least one, or they would wait forever. */
  width: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
  /** For all its runs of one day, in UTC. */
  perDay: Schema.optionalKey(Schema.Struct(spending)),
})
export type AgentLimits = typeof AgentLimits.Type

const Path = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4096))

/** A folder; or a repository of which each agent has its own worktree, merged to a branch when a person approves it. */
const Workspace = Schema.Union([
  Path,
  Schema.Struct({
    git: Path,
    branch: Schema.optionalKey(
      Schema.String.check(Schema.isPattern(/^(?!.*(\.\.|\/\/|@\{))[A-Za-z0-9][\w./-]{0,99}(?<![./])$/)),
    ),
  }),
])

/** The programs whose command lines the house knows; `command` is any other. */
export const ProgramName = Schema.Literals(["claude", "codex", "cursor-agent", "gemini", "opencode", "command"])
export type ProgramName = typeof ProgramName.Type

const Words = Schema.String.check(Schema.isMaxLength(4096))

const Bound = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most }))

/** How much of the machine one turn may use. What is left out has the house's default. */
export const ProgramBounds = Schema.Struct({
  /** Processes and threads together. */
  processes: Schema.optionalKey(Bound(100_000)),
  memoryMiB: Schema.optionalKey(Bound(1_048_576)),
  /** Per process. */
  openFiles: Schema.optionalKey(Bound(1_000_000)),
  /** In its workspace and its home. */
  diskMiB: Schema.optionalKey(Bound(104_857_600)),
})
export type ProgramBounds = typeof ProgramBounds.Type

/** A program, and how it is started. */
const program = {
  program: ProgramName,
  command: Schema.optionalKey(Schema.Array(Words).check(Schema.isMinLength(1), Schema.isMaxLength(100))),
  /** Additional arguments for a known program, such as its model. */
  args: Schema.optionalKey(Schema.Array(Words).check(Schema.isMaxLength(100))),
  /** Additional environment, such as its key: `${secret.NAME}` and `${env.NAME}` are filled in for each turn. */
  env: Schema.optionalKey(Schema.Record(Schema.String, Words)),
  /** How long one turn may take. */
  turnSeconds: Schema.optionalKey(Count(86_400)),
  bounds: Schema.optionalKey(ProgramBounds),
  /** Whether it has network access; vendors' programs do not work without. */
  network: Schema.optionalKey(Schema.Boolean),
  /** Folders and files of the machine that it sees besides its workspace; it may write to those that say so. */
  links: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Path, write: Schema.optionalKey(Schema.Boolean) })).check(
      Schema.isMaxLength(50),
    ),
  ),
}
const commandFits = Schema.makeFilter(
  (it: { readonly program: ProgramName; readonly command?: ReadonlyArray<string> }) =>
    (it.program === "command") === (it.command !== undefined) || {
      path: ["command"],
      issue: it.program === "command" ? "the program and its arguments" : "only with the program command",
    },
)

/** A model is asked step by step; a program is started for each turn, on the machine of the house. */
export const AgentThinker = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("model") }),
  Schema.Struct({
    kind: Schema.Literal("program"),
    ...program,
    workspace: Schema.optionalKey(Workspace),
    /** The folder of the workspace in which it works; it sees the whole workspace. */
    subdir: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(4096))),
    /** The programs that it may give to agents it creates, by name, besides its own. */
    children: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct(program).check(commandFits))),
  }).check(commandFits),
])
export type AgentThinker = typeof AgentThinker.Type

/** One, or several in order of preference. */
export const AgentModel = Schema.Union([ModelName, Schema.Array(ModelName).check(Schema.isMaxLength(10))])
export type AgentModel = typeof AgentModel.Type

const Persona = Schema.String.check(Schema.isMaxLength(32_768))

/** Its role in its team: a label, which changes none of its rights. */
export const AgentRole = Schema.Literals(["worker", "reviewer"])
export type AgentRole = typeof AgentRole.Type

/** `held`: its runs wait until it is opened, or one of them is permitted. */
const AgentGate = Schema.Literals(["open", "held", "permitted"])

const profile = {
  persona: Schema.NullOr(Persona),
  model: Schema.NullOr(AgentModel),
  limits: AgentLimits,
  thinker: AgentThinker,
  role: AgentRole,
  /** Whether mail wakes it; agents that wait for its answer wake it in any case. */
  autoWake: Schema.Boolean,
  gate: AgentGate,
}

/** What the configuration file declares of an agent, besides its identity. */
export const declaredProfile = {
  persona: Schema.optionalKey(Persona),
  model: Schema.optionalKey(AgentModel),
  limits: Schema.optionalKey(AgentLimits),
  thinker: Schema.optionalKey(AgentThinker),
  role: Schema.optionalKey(AgentRole),
  autoWake: Schema.optionalKey(Schema.Boolean),
  parent: Schema.optionalKey(PrincipalRef),
}

/** A given field replaces the old value; null removes it. */
export const AgentChange = Schema.Struct({
  persona: Schema.optionalKey(profile.persona),
  model: Schema.optionalKey(profile.model),
  limits: Schema.optionalKey(AgentLimits),
  thinker: Schema.optionalKey(AgentThinker),
  role: Schema.optionalKey(AgentRole),
  autoWake: Schema.optionalKey(Schema.Boolean),
  gate: Schema.optionalKey(AgentGate),
  parent: Schema.optionalKey(Schema.NullOr(PrincipalRef)),
}).annotate({ identifier: "AgentChange" })
export type AgentChange = typeof AgentChange.Type

export class Agent extends Schema.Class<Agent>("Agent")({
  ...Principal.fields,
  ...profile,
  /** The agent it works for. */
  parent: Schema.NullOr(PrincipalId),
  /** What its parent, siblings and children call it, if its name is a path because another agent has that name. */
  called: Schema.optionalKey(Schema.String),
  /**
   * Settings without effect, and why: a limit that is looser than its toolset's, a program that is not there, a model
   * that cannot be used.
   */
  notes: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The limits that really apply to its runs: its own, or its toolset's if they are tighter. */
  inForce: Schema.optionalKey(AgentLimits),
}) {
  /** In order of preference. */
  get models(): ReadonlyArray<string> {
    return this.model === null ? [] : typeof this.model === "string" ? [this.model] : this.model
  }
}
