// edge: ends on SIGINT.
import type { FeedItem } from "@stoa/sdk"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { failureOf } from "../Failure.ts"
import { client, out, root, talk } from "../root.ts"

const words = (item: FeedItem): string => {
  if (item.type === "reload") return `reload  ${item.reason}`
  if (item.type === "delta") return `${item.name}  ${JSON.stringify(item.delta["body"])}`
  const { actor, at, body, cursor } = item.event
  return `${cursor}  ${at}  ${item.name}  ${actor ?? "house"}  ${JSON.stringify(body)}`
}

export const events = Command.make(
  "events",
  {
    after: Flag.Int("after").pipe(Flag.withDescription("Go on after this cursor; 0 is the beginning"), Flag.optional),
    space: Flag.String("space").pipe(Flag.withDescription("Only this space"), Flag.optional),
    names: Flag.Literals("names", ["office", "gateway", "skills"]).pipe(
      Flag.withDescription("The event names of a seed"),
      Flag.optional,
    ),
  },
  Effect.fn(function* ({ after, names, space }) {
    const { json } = yield* root
    const stoa = yield* client
    const stop = new AbortController()
    const onSignal = () => stop.abort()
    process.once("SIGINT", onSignal).once("SIGTERM", onSignal)
    const print = async () => {
      const items = stoa.feed({
        signal: stop.signal,
        onReconnect: (why) => void process.stderr.write(`${why}; connecting again\n`),
        ...(Option.isSome(after) ? { after: after.value } : {}),
        ...(Option.isSome(space) ? { space: space.value } : {}),
        ...(Option.isSome(names) ? { names: names.value } : {}),
      })
      for await (const item of items)
        await Effect.runPromise(
          json && item.type !== "reload"
            ? out(JSON.stringify(item.type === "event" ? item.event : item.delta))
            : item.type === "reload"
              ? talk(words(item))
              : out(words(item)),
        )
    }
    yield* Effect.tryPromise({ try: print, catch: failureOf })
  }),
).pipe(
  Command.withDescription("Watch what happens, one line an event"),
  Command.withExamples([
    { command: "stoa events --after 0 --json", description: "Everything that is still kept, and on" },
  ]),
)
