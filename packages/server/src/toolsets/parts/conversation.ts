/**
 * What the conversation tools of every toolset share: how an older system's toolset names spaces and messages. The room `spaces`
 * decides what is allowed.
 */
import { type Message, messageIdOf, type RunId, type Space, WrongState } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Grants } from "../../access/rights/Grants.ts"
import type { Viewer } from "../../access/rights/Viewer.ts"
import { Runs } from "../../runs/Runs.ts"
import { ActiveSpaces } from "../../spaces/ActiveSpaces.ts"
import { Messages } from "../../spaces/messages/Messages.ts"
import type { MessageQuery } from "../../spaces/messages/PostOptions.ts"
import { isMember, Spaces } from "../../spaces/Spaces.ts"

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Seeds promise bare UUIDs; ours have a prefix. Both are accepted. */
const withPrefix = (prefix: string, id: string): string => (uuid.test(id) ? `${prefix}_${id}` : id)

/** `dm-jim-michael`, in either order: a DM is identified by its two members, not by a name (S0-54). */
const pairOf = (ref: string): ReadonlyArray<readonly [string, string]> => {
  const parts = ref.toLowerCase().split("-")
  if (parts[0] !== "dm") return []
  return parts.slice(2).map((_, at) => [parts.slice(1, at + 2).join("-"), parts.slice(at + 2).join("-")] as const)
}
const isPair = (space: Space, pairs: ReturnType<typeof pairOf>): boolean => {
  const names = space.members.map((member) => member.name.toLowerCase())
  return space.kind === "dm" && pairs.some(([one, other]) => names.includes(one) && names.includes(other))
}

export const makeConversation = Effect.gen(function* () {
  const grants = yield* Grants
  const spaces = yield* Spaces
  const messages = yield* Messages
  const active = yield* ActiveSpaces
  const runs = yield* Runs

  const viewer = grants.viewer("spaces")

  /** All spaces that the viewer is a member of. */
  const own = Effect.fnUntraced(function* (who: Viewer) {
    const found: Array<Space> = []
    let cursor: string | undefined
    do {
      const page = yield* spaces.list(
        who,
        { limit: 100, ...(cursor === undefined ? {} : { cursor }) },
        { asMember: true },
      )
      found.push(...page.items.filter((space) => isMember(space, who.principal.id)))
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    return found
  })

  const dm = Effect.fnUntraced(function* (ref: string, who: Viewer) {
    const pairs = pairOf(ref)
    return pairs.length === 0 ? undefined : (yield* own(who)).find((space) => isPair(space, pairs))
  })

  /** By id, by name, or by the two members of a DM. */
  const find = (get: (typeof spaces)["get"], ref: string, who: Viewer) =>
    Effect.catchTag(get(withPrefix("spc", ref), who), "Missing", (error) =>
      Effect.flatMap(dm(ref, who), (found) => (found === undefined ? Effect.fail(error) : Effect.succeed(found))),
    )

  /** A space the caller may see. */
  const readable = Effect.fnUntraced(function* (ref: string, by?: Viewer) {
    return yield* find(spaces.get, ref, by ?? (yield* viewer))
  })

  const memberOf = Effect.fnUntraced(function* (ref: string) {
    return yield* find(spaces.ofMember, ref, yield* viewer)
  })

  /** The space of this call, or the caller's active space. */
  const here = Effect.fnUntraced(function* ({ caller, space }: HandlerCall) {
    const ref = space ?? (yield* active.of(caller))
    return ref === undefined
      ? yield* new WrongState({ detail: "There is no active space. Call enter_space first." })
      : yield* memberOf(ref)
  })

  const say = Effect.fnUntraced(function* ({ caller }: HandlerCall, space: Space, text: string, replyTo?: string) {
    const wanted = { text, ...(replyTo === undefined ? {} : { replyTo: messageIdOf(replyTo) }) }
    const run = caller.run as RunId | undefined
    const options = run === undefined ? {} : { run, ...(yield* runs.originOf(run, space.id)) }
    return yield* messages.post(space, yield* viewer, wanted, options)
  })

  const react = Effect.fnUntraced(function* (id: string, emoji: string) {
    yield* messages.react(messageIdOf(id), yield* viewer, emoji)
  })

  const read = Effect.fnUntraced(function* (space: Space, query: MessageQuery) {
    return yield* messages.list(space, yield* viewer, query)
  })

  return { viewer, own, readable, memberOf, here, say, react, read, spaces, messages, active }
})

/** A message as agents read it: always with its id (S0-26). */
export const messageView = (message: Message) => ({
  id: message.id,
  seq: message.seq,
  author: { id: message.author.id, name: message.author.name, kind: message.author.kind },
  text: message.text,
  ...(message.call === null ? {} : { call: message.call }),
  replyTo: message.replyTo,
  createdAt: DateTime.formatIso(message.createdAt),
})
