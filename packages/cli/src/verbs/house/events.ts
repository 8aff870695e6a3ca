// edge: ends on a signal.
import { visible, visibleJson } from "@stoa/contract"
import type { FeedItem } from "@stoa/sdk"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { failureOf } from "../../Failure.ts"
import { givenFlags, textFlag } from "../../command/flags.ts"
import { knownNames, nameLearner, type Names, withNames } from "../../output/names.ts"
import { ask, client, explainFailure, root } from "../../command/root.ts"

type Shown = Exclude<FeedItem, { readonly type: "reload" }>

const words = (item: Shown, known: Names): string => {
  if (item.type === "delta") return withNames(`${item.name}  ${JSON.stringify(item.delta["body"])}`, known)
  const { actor, at, body, cursor } = item.event
  return withNames(`${cursor}  ${at}  ${item.name}  ${actor ?? "house"}  ${JSON.stringify(body)}`, known)
}

const jsonOf = (item: Shown): string => visibleJson(item.type === "event" ? item.event : item.delta)

/** `inWords`: undefined for JSON. */
const print = async (
  items: AsyncIterable<FeedItem>,
  inWords: ((item: Shown) => Promise<string>) | undefined,
): Promise<void> => {
  for await (const item of items)
    if (item.type === "reload") process.stderr.write(`Load the current state again: ${visible(item.reason)}\n`)
    else process.stdout.write(`${inWords === undefined ? jsonOf(item) : visible(await inWords(item))}\n`)
}

/** Names as known at the start; whoever is named later is looked up once. */
const inWords = Effect.gen(function* () {
  const known = yield* knownNames()
  const learn = yield* nameLearner
  return (item: Shown) => Effect.runPromise(Effect.map(learn(item, known), () => words(item, known)))
})

/** Handles repeated signals: a launcher and the terminal may both send the same Ctrl-C. */
const stopAsked = Effect.callback<void>((resume) => {
  const stop = () => resume(Effect.void)
  process.on("SIGINT", stop).on("SIGTERM", stop).on("disconnect", stop)
})

export const events = Command.make(
  "events",
  {
    after: Flag.Int("after").pipe(Flag.withDescription("Start after this cursor; 0 is the beginning"), Flag.optional),
    space: textFlag("space", "Only this space"),
    names: Flag.Literals("names", ["office", "gateway", "skills"]).pipe(
      Flag.withDescription("Event names of another system: office or gateway"),
      Flag.optional,
    ),
  },
  Effect.fn(function* ({ after, names, space }) {
    const { json } = yield* root
    const stoa = yield* client
    // The feed would wait for a missing house; a mistyped address or token should be reported now.
    yield* ask((house) => house.principals.me())
    const wanted = {
      onReconnect: (why: string) => void process.stderr.write(`${why}; connecting again\n`),
      ...givenFlags({ after, space, names }),
    }
    const asWords = json ? undefined : yield* inWords
    const watching = explainFailure(
      Effect.tryPromise({
        try: (signal) => print(stoa.feed({ ...wanted, signal }), asWords),
        catch: failureOf,
      }),
    )
    yield* Effect.raceFirst(watching, stopAsked)
  }),
).pipe(
  Command.withDescription("Watch events, one line per event"),
  Command.withExamples([{ command: "stoa events --after 0 --json", description: "All stored events, then new ones" }]),
)
