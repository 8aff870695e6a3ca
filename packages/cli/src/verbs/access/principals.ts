import { Role, ToolsetName } from "@stoa/contract"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../../output/columns.ts"
import { type Failure, refusal, withMessage } from "../../Failure.ts"
import { withCommand } from "../../output/hints.ts"
import { change } from "../../command/change.ts"
import { givenFlags, nameArgument, textFlag, wordsFlag } from "../../command/flags.ts"
import { all, ask, client, list, show, printNote } from "../../command/root.ts"
import { teamVerbs } from "../agents/team.ts"

const toolset = Flag.Literals("toolset", ToolsetName.literals).pipe(
  Flag.withDescription("A set of tools it sees; can be given several times"),
  Flag.between(0, ToolsetName.literals.length),
)
const role = Flag.Literals("role", Role.literals).pipe(
  Flag.withDescription("A role; can be given several times"),
  Flag.between(0, 8),
)

const modelWords = "A model of the agent; several are tried in the given order"
/** Flags that only agents have. */
const thinking = {
  model: Flag.String("model").pipe(Flag.withDescription(modelWords), Flag.between(0, 10)),
  persona: wordsFlag("persona", "The text that tells it who it is"),
  parent: textFlag("parent", "The agent it works for"),
}
interface Thinking {
  readonly model: ReadonlyArray<string>
  readonly persona: Option.Option<string>
  readonly parent: Option.Option<string>
}
/** `--model none`: it has none any more. */
const isNone = (model: ReadonlyArray<string>): boolean => model.length === 1 && model[0] === "none"
const profileIn = ({ model, parent, persona }: Thinking) => ({
  ...(model.length === 0 ? {} : { model: isNone(model) ? null : model.length === 1 ? model[0]! : model }),
  ...givenFlags({ persona, parent }),
})
const nothingMore: Thinking = { model: [], persona: Option.none(), parent: Option.none() }

const wallet = textFlag("wallet", "The address of its wallet")

const name = nameArgument("name", "Its name, which must be unique", "Give the new one a name")

/** Adding or changing an agent takes two requests: everything that can fail is checked before the first one. */
const checked = Effect.fnUntraced(function* ({ model, parent }: Thinking) {
  if (model.length > 0 && !isNone(model)) {
    const names = (yield* ask((stoa) => stoa.models.list())).items.map((one) => one.name)
    const strange = model.find((one) => !names.includes(one))
    if (strange !== undefined)
      return yield* refusal(
        `There is no model "${strange}", and nothing has changed. ${names.length === 0 ? 'Declare one under "models" in the configuration file.' : `There are: ${names.join(", ")}.`}`,
      )
  }
  if (Option.isSome(parent)) yield* ask((stoa) => stoa.principals.get(parent.value))
})
/** What is done already when the second request fails. */
const after = (done: string) => (failure: Failure) => withMessage(failure, `${failure.message} ${done}`)

/** `agents` and `people` are the same verb for two kinds of principal. */
const verb = (plural: string, kind: "agent" | "person") => {
  const add = Command.make(
    "add",
    {
      name,
      toolset,
      role,
      wallet,
      ...(kind === "agent" ? thinking : {}),
    },
    Effect.fn(function* ({ name, role, toolset, wallet, ...more }) {
      const profile = profileIn({ ...nothingMore, ...more })
      yield* checked({ ...nothingMore, ...more })
      const added = yield* ask((stoa) =>
        stoa.principals.add({
          kind,
          name,
          ...(toolset.length > 0 ? { toolsets: toolset } : {}),
          ...(role.length > 0 ? { roles: role } : {}),
          ...givenFlags({ wallet }),
        }),
      )
      const agent =
        Object.keys(profile).length === 0
          ? undefined
          : yield* Effect.mapError(
              ask((stoa) => stoa.agents.change(added.id, profile)),
              after(`${added.name} is added, but without ${Object.keys(profile).join(", ")}.`),
            )
      yield* show(agent ?? added, `${added.name} is added: ${added.id}`)
      for (const note of agent?.notes ?? []) yield* printNote(withCommand(note))
    }),
  ).pipe(
    Command.withDescription(`Add one of the ${plural}`),
    Command.withExamples([{ command: `stoa ${plural} add Pam --json`, description: "Add Pam and print her" }]),
  )
  const ls = Command.make(
    "ls",
    {},
    Effect.fn(function* () {
      const stoa = yield* client
      const items = yield* all((cursor) =>
        stoa.principals.list({ kind, limit: 100, ...(cursor === undefined ? {} : { cursor }) }),
      )
      yield* list(items, columns.agents)
    }),
  ).pipe(Command.withDescription(`List the ${plural}`))
  const found = Effect.fnUntraced(function* (name: string) {
    const one = yield* ask((stoa) => stoa.principals.get(name))
    return one.kind === kind
      ? one
      : yield* refusal(
          `${one.name} is not one of the ${plural}: it is ${one.kind === "agent" ? "an" : "a"} ${one.kind}.`,
        )
  })
  const known = { name: nameArgument("name", "Name or id", `Give a name; "stoa ${plural} ls" lists them`) }
  const set = Command.make(
    "set",
    {
      ...known,
      toolset,
      role,
      rename: textFlag("rename", "A new name"),
      wallet: wallet.pipe(Flag.withDescription("The address of its wallet; none removes it")),
      ...(kind === "agent"
        ? { ...thinking, model: thinking.model.pipe(Flag.withDescription(`${modelWords}; none removes them`)) }
        : {}),
    },
    Effect.fn(function* ({ name, rename, role, toolset, wallet, ...more }) {
      const profile = profileIn({ ...nothingMore, ...more })
      const changes = {
        ...(toolset.length > 0 ? { toolsets: toolset } : {}),
        ...(role.length > 0 ? { roles: role } : {}),
        ...givenFlags({ name: rename }),
        ...(Option.isSome(wallet) ? { wallet: wallet.value === "none" ? null : wallet.value } : {}),
      }
      const [rights, thinks] = [Object.keys(changes).length > 0, Object.keys(profile).length > 0]
      if (!rights && !thinks)
        return yield* refusal(
          `Nothing to change. Give --role, --toolset, --wallet, ${kind === "agent" ? "--model, --persona, --parent " : ""}or --rename.`,
        )
      const one = yield* found(name)
      yield* checked({ ...nothingMore, ...more })
      const changed = rights ? yield* change((stoa) => stoa.principals.change(one.id, changes)) : one
      const done = rights ? `${Object.keys(changes).join(", ")} of ${one.name} changed.` : "Nothing has changed."
      const agent = thinks
        ? yield* Effect.mapError(
            ask((stoa) => stoa.agents.change(one.id, profile)),
            after(done),
          )
        : undefined
      const made = agent ?? changed
      const address = Option.isSome(wallet) ? `; wallet ${changed.wallet ?? "none"}` : ""
      yield* show(made, `${made.name}: roles ${made.roles.join(", ")}; toolsets ${made.toolsets.join(", ")}${address}`)
      for (const note of agent?.notes ?? []) yield* printNote(withCommand(note))
    }),
  ).pipe(
    Command.withDescription("Change roles, toolsets or the name; new values replace the old ones"),
    Command.withExamples([
      { command: `stoa ${plural} set Pam --toolset office --toolset stoa`, description: "Pam sees these two sets" },
    ]),
  )
  const rm = Command.make(
    "rm",
    known,
    Effect.fn(function* ({ name }) {
      const { id } = yield* found(name)
      yield* ask((stoa) => stoa.principals.retire(id))
      yield* printNote(`${name} is retired; its tokens no longer work`)
    }),
  ).pipe(Command.withDescription("Retire one: its tokens stop working, its history stays"))
  return Command.make(plural).pipe(
    Command.withDescription(`The ${plural} of the house`),
    Command.withSubcommands(kind === "agent" ? [add, ls, set, rm, ...teamVerbs] : [add, ls, set, rm]),
  )
}

export const agents = verb("agents", "agent")
export const people = verb("people", "person")
