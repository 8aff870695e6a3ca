/** Sharing records, and what others share with you. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { givenFlags, nameArgument, textFlag } from "../../command/flags.ts"
import { all, ask, client, list, printNote, root } from "../../command/root.ts"
import { namesForPeople, nameOf } from "../../output/names.ts"

const id = nameArgument("id", "The record's id, mem_…", 'Give a record; "stoa memory ls" lists yours')

export const share = Command.make(
  "share",
  {
    id,
    principal: nameArgument(
      "principal",
      "With whom: name or id",
      'Give a principal; "stoa people ls" and "stoa agents ls" list them',
    ),
    right: Flag.Literals("right", ["read", "write", "none"]).pipe(
      Flag.withDescription("none stops sharing it"),
      Flag.withDefault("read"),
    ),
  },
  Effect.fn(function* ({ id, principal, right }) {
    yield* ask((stoa) =>
      right === "none" ? stoa.memory.unshare(id, principal) : stoa.memory.share(id, principal, { right }),
    )
    yield* printNote(
      right === "none"
        ? `${principal} no longer sees ${id}`
        : `${id} is shared with ${principal} to ${right}: an offer until they take it, unless you administer them`,
    )
  }),
).pipe(Command.withDescription("Offer a record to somebody"))

const forWhom = textFlag("for", "An agent that you own or administer, instead of yourself")

export const offers = Command.make(
  "offers",
  {
    of: forWhom,
    state: Flag.Literals("state", ["pending", "taken", "declined"]).pipe(
      Flag.withDescription("How they were answered"),
      Flag.withDefault("pending"),
    ),
  },
  Effect.fn(function* ({ of, state }) {
    const stoa = yield* client
    const items = yield* all((cursor) =>
      stoa.memory.offers({
        state,
        limit: 100,
        ...givenFlags({ for: of }),
        ...(cursor === undefined ? {} : { cursor }),
      }),
    )
    const { json } = yield* root
    const known = yield* namesForPeople(items)
    const rows = items.map((row) => ({ ...row, from: nameOf(row.owner, known) }))
    yield* list(json ? items : rows, { shown: ["id", "from", "kind", "key", "right", "size", "offeredAt"] })
  }),
).pipe(Command.withDescription("What others share with you; it is in none of your lists until you take it"))

const answerVerb = (name: "take" | "decline", description: string) =>
  Command.make(
    name,
    { id, of: forWhom },
    Effect.fn(function* ({ id, of }) {
      yield* ask((stoa) => stoa.memory.answer(id, { taken: name === "take", ...givenFlags({ for: of }) }))
      yield* printNote(name === "take" ? `${id} is taken` : `${id} is declined`)
    }),
  ).pipe(Command.withDescription(description))
export const take = answerVerb("take", "Take what somebody shares with you")
export const decline = answerVerb("decline", "Decline what somebody shares with you, or give it back")
