/** Teams of agents: what `stoa agents` has besides adding and listing, and `stoa team FILE`. */
import type { NewTeamAgent, TeamAgent } from "@stoa/contract"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { countNoun } from "../../output/countNoun.ts"
import { givenFlags, nameArgument, switchFlag, textFlag } from "../../command/flags.ts"
import { ask, list, root, show, printNote } from "../../command/root.ts"
import { withCommand } from "../../output/hints.ts"
import { membersOf, readTeam } from "./teamFile.ts"

const agent = nameArgument("agent", "Name or id of the agent", 'Give an agent; "stoa agents ls" lists them')

type Shown = Pick<TeamAgent, "depth" | "inbox" | "name" | "role" | "state" | "thinker">
const line = ({ depth, inbox, name, role, state, thinker }: Shown): string =>
  `${"  ".repeat(depth)}${name}  ${state}, ${role}, ${thinker}${inbox === 0 ? "" : `, ${inbox} in its inbox`}`

const tree = Command.make(
  "tree",
  {},
  Effect.fn(function* () {
    const { items } = yield* ask((stoa) => stoa.agents.tree())
    const { json } = yield* root
    if (json) return yield* list(items, { shown: ["name", "state"] })
    yield* show(items, items.map(line).join("\n"))
  }),
).pipe(Command.withDescription("Who works for whom, and what each is doing"))

const spawn = Command.make(
  "spawn",
  {
    parent: nameArgument(
      "parent",
      "The agent it works for",
      'Give the agent it works for; "stoa agents ls" lists them',
    ),
    name: nameArgument("name", "Its name", "Give the new agent a name"),
    instructions: Argument.String("instructions").pipe(
      Argument.withDescription("Its instructions: who it is, and what it should do"),
    ),
    role: Flag.Literals("role", ["worker", "reviewer"]).pipe(Flag.withDescription("What it is called"), Flag.optional),
    subdir: textFlag("subdir", "A part of its parent's workspace"),
    program: textFlag("program", "One of its parent's programs"),
  },
  Effect.fn(function* ({ instructions, name, parent, program, role, subdir }) {
    const wanted: NewTeamAgent = {
      name,
      instructions,
      ...givenFlags({ role, workspaceSubdir: subdir, program }),
    }
    const made = yield* ask((stoa) => stoa.agents.spawn(parent, wanted))
    yield* show(made, `${made.name} works for ${parent}: ${made.id}`)
    for (const note of made.notes ?? []) yield* printNote(withCommand(note))
  }),
).pipe(
  Command.withDescription("Make an agent that works for another, and give it its instructions"),
  Command.withExamples([
    { command: 'stoa agents spawn lead tester "Run the tests, and say what fails."', description: "Another worker" },
  ]),
)

/** Why an agent cannot work, if the house tells this caller. */
const warnings = Effect.fnUntraced(function* (name: string) {
  const found = yield* Effect.option(ask((stoa) => stoa.agents.get(name)))
  if (Option.isNone(found)) return []
  const { model, name: called, notes = [], thinker } = found.value
  const mindless = thinker.kind === "model" && (model ?? []).length === 0
  return [...(mindless ? [`${called} has no model to think with, so it does not answer.`] : []), ...notes].map(
    withCommand,
  )
})

const say = Command.make(
  "say",
  { agent, text: Argument.String("text").pipe(Argument.withDescription("What to say")) },
  Effect.fn(function* ({ agent, text }) {
    const message = yield* ask((stoa) => stoa.agents.say(agent, { text }))
    yield* show(message, `sent: ${message.id}`)
    yield* Effect.forEach(yield* warnings(agent), printNote, { discard: true })
  }),
).pipe(Command.withDescription("Write to an agent, in your direct-message space"))

const inspect = Command.make(
  "inspect",
  { agent },
  Effect.fn(function* ({ agent }) {
    const found = yield* ask((stoa) => stoa.agents.inspect(agent))
    const words = [
      line({ ...found.agent, depth: 0 }),
      ...found.messages.map(({ from, text, to }) => `${from} -> ${to ?? "-"}: ${text}`),
      ...found.calls.map(({ state, tool }) => `${tool}: ${state}`),
    ]
    yield* show(found, words.join("\n"))
    yield* Effect.forEach(yield* warnings(agent), printNote, { discard: true })
  }),
).pipe(Command.withDescription("Recent messages and calls of an agent"))

const stop = Command.make(
  "stop",
  {
    agent,
    remove: switchFlag("remove", "Also remove the agent, if it has no children"),
  },
  Effect.fn(function* ({ agent, remove }) {
    const done = yield* ask((stoa) => stoa.agents.stop(agent, { remove }))
    yield* show(done, `${agent} is ${remove ? "removed" : "stopped"}: ${countNoun(done.stopped, "run")} ended`)
  }),
).pipe(Command.withDescription("Stop what an agent is doing"))

export const teamVerbs = [tree, spawn, say, inspect, stop] as const

export const team = Command.make(
  "team",
  { file: nameArgument("file", "A JSON file that describes the team", "Give the file that describes the team") },
  Effect.fn(function* ({ file }) {
    const { children, instructions, name, say: words, toolsets, ...profile } = yield* readTeam(file)
    const members = membersOf(name, children)
    const made: Array<string> = []
    // Half a team would block the next attempt.
    const undo = Effect.suspend(() =>
      Effect.forEach(made.toReversed(), (one) => Effect.ignore(ask((stoa) => stoa.agents.stop(one, { remove: true })))),
    )
    const make = Effect.gen(function* () {
      yield* ask((stoa) => stoa.principals.add({ kind: "agent", name, toolsets: toolsets ?? ["team"] }))
      made.push(name)
      const lead = yield* ask((stoa) => stoa.agents.change(name, { persona: instructions, ...profile }))
      for (const [parent, member] of members) {
        yield* ask((stoa) => stoa.agents.spawn(parent, member))
        made.push(member.name)
      }
      return lead
    })
    const lead = yield* Effect.onError(make, () => undo)
    if (words !== undefined) yield* ask((stoa) => stoa.agents.say(name, { text: words }))
    yield* printNote(`${countNoun(members.length, "agent")} ${members.length === 1 ? "works" : "work"} for ${name}`)
    yield* show(lead, `${lead.name}: ${lead.id}`)
    for (const note of lead.notes ?? []) yield* printNote(withCommand(note))
  }),
).pipe(
  Command.withDescription("Start a team from a file: a root agent, its children, and the first message"),
  Command.withExamples([{ command: "stoa team team.json", description: "See docs/user/teams.md for the file" }]),
)
