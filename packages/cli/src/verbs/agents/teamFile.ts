/**
 * A team in a file: its root, each agent's persona, and the message to the root at the end. Read completely before any
 * agent is made.
 */
// edge: reads a file that is named on the command line.
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { AgentChange, issuesOf, NewTeamAgent, ToolsetName } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { refusal } from "../../Failure.ts"

interface Member extends NewTeamAgent {
  readonly children?: ReadonlyArray<Member>
}
const children = Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Member> => Member)))
const Member = Schema.Struct({ ...NewTeamAgent.fields, children })

const { instructions, name, role } = NewTeamAgent.fields
const { model, thinker } = AgentChange.fields
const TeamFile = Schema.Struct({
  name,
  instructions,
  role,
  thinker,
  model,
  toolsets: Schema.optionalKey(Schema.Array(ToolsetName)),
  children,
  say: Schema.optionalKey(Schema.String),
})
const decode = Schema.decodeUnknownEffect(TeamFile, { errors: "all", onExcessProperty: "error" })

export const readTeam = Effect.fnUntraced(function* (file: string) {
  const read = yield* Effect.try({
    try: (): unknown => {
      // Programs beside the file are named relative to it: a command has no folder of its own.
      const here = JSON.stringify(dirname(resolve(file))).slice(1, -1)
      return JSON.parse(readFileSync(file, "utf8").replaceAll("${here}", () => here))
    },
    catch: (cause) =>
      refusal(`${file} cannot be read as JSON: ${cause instanceof Error ? cause.message : String(cause)}`),
  })
  return yield* Effect.mapError(decode(read), (error) => {
    const faults = issuesOf(error).map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))
    return refusal(`${file} describes no team. ${faults.join("; ")}`)
  })
})

/** With their parents: parents are made before their children. */
export const membersOf = (
  parent: string,
  members: ReadonlyArray<Member> = [],
): ReadonlyArray<readonly [string, NewTeamAgent]> =>
  members.flatMap(({ children: below, ...member }) => [[parent, member] as const, ...membersOf(member.name, below)])
