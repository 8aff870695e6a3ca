/**
 * Mail between agents of a team. It is a message in the space of their common parent's team, with its addressees and
 * its kind. What a message answers is decided here, when it is sent (S3-17).
 */
import {
  type Agent,
  Caller,
  type Forbidden,
  type MailKind,
  type Message,
  type MessageId,
  messageIdOf,
  type Missing,
  type NewSpace,
  type PrincipalId,
  type RunId,
  type Space,
  WrongState,
} from "@stoa/contract"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../access/identity/Agents.ts"
import { Principals } from "../access/identity/Principals.ts"
import { Grants } from "../access/rights/Grants.ts"
import { houseViewer } from "../access/rights/Viewer.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import type { HandlerCall } from "../calls/road/Handler.ts"
import { Inbox } from "../runs/waking/Inbox.ts"
import { Waits } from "../runs/waiting/Waits.ts"
import { makeMessageReads } from "../spaces/MessageReads.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import { isMember, Spaces } from "../spaces/Spaces.ts"
import { lockName } from "../store/database/dialect/Locks.ts"
import { newId } from "../store/journal/Correlation.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import { type Relative, Tree } from "./Tree.ts"

/** The agents' name for the human: whoever wrote to the root agent, or owns it (S3-27). */
export const nameOfHuman = "USER"

export interface SentMail {
  readonly message: Message
  readonly waits: boolean
}

/** How many answers a broadcast waits for, and how long. */
export interface ReplyCondition {
  readonly needed: number | "all" | "any"
  readonly seconds: number | undefined
}

type Refusal = { readonly message: string }

export class TeamMail extends Context.Service<
  TeamMail,
  {
    /** Default of `sync`: a request waits, and an answer to one does not. */
    readonly send: (
      self: Agent,
      name: string,
      mail: {
        readonly text: string
        readonly sync: boolean | undefined
        readonly replyTo: string | undefined
        readonly seconds: number | undefined
      },
      call: HandlerCall,
    ) => Effect.Effect<SentMail, Refusal, Transaction | Caller>
    readonly broadcast: (
      self: Agent,
      text: string,
      gathering: ReplyCondition | undefined,
      call: HandlerCall,
    ) => Effect.Effect<SentMail & { readonly recipients: number }, Refusal, Transaction | Caller>
    /** The instructions of a parent to a child that was just created. Without them there is no child. */
    readonly instruct: (
      self: Agent,
      child: Agent,
      text: string,
      run: string | undefined,
    ) => Effect.Effect<Message, Missing | Forbidden | WrongState, Transaction>
    /** The space of an agent and the agents that work for it. */
    readonly spaceOf: (parent: Agent) => Effect.Effect<Space, never, Transaction>
    /** The direct-message space of a person and an agent. */
    readonly dmOf: (self: Agent, person: PrincipalId) => Effect.Effect<Space, Missing | WrongState, Transaction>
  }
>()("server/team/TeamMail") {
  static readonly layer = Layer.effect(
    TeamMail,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const agents = yield* Agents
      const principals = yield* Principals
      const grants = yield* Grants
      const spaces = yield* Spaces
      const messages = yield* Messages
      const reads = makeMessageReads(sql)
      const waits = yield* Waits
      const tree = yield* Tree
      const inbox = yield* Inbox

      const slug = (name: string): string => name.replaceAll(/[^\p{L}\p{N}._-]/gu, "-").slice(0, 40)

      /** If the name is taken, the space gets a different one. */
      const opened = (wanted: NewSpace, house: Viewer) =>
        Effect.catchTag(spaces.add(wanted, house), "NameTaken", () =>
          spaces.add({ ...wanted, name: `${wanted.name}-${newId("spc").slice(-8)}` }, house),
        )

      const openedAlone = (kind: string, name: string) => Effect.orDie(lockName(sql, `${kind} space`, name))

      const spaceOf: TeamMail["Service"]["spaceOf"] = Effect.fn("TeamMail.spaceOf")(function* (parent) {
        const house = houseViewer(parent)
        const known = Effect.map(
          Effect.orDie(sql<{ space: string }>`SELECT space FROM team_spaces WHERE parent = ${parent.id}`),
          (rows) => rows[0]?.space,
        )
        // If two processes send at the same moment, only one opens the space.
        const there = (yield* known) ?? (yield* Effect.andThen(openedAlone("team", parent.id), known))
        if (there !== undefined) return yield* Effect.orDie(spaces.get(there, house))
        const owner = parent.owner === null ? undefined : yield* Effect.option(principals.get(parent.owner))
        const members =
          owner !== undefined && Option.isSome(owner) && owner.value.retiredAt === null ? [owner.value.id] : []
        const name = `team-${slug(parent.name)}-${parent.id.slice(-6)}`
        const space = yield* Effect.orDie(opened({ name, kind: "team", members }, house))
        yield* Effect.orDie(sql`INSERT INTO team_spaces ${sql.insert({ parent: parent.id, space: space.id })}`)
        return space
      })

      /**
       * The space for two agents that are one hop apart, with both as members. Mail is kept there: if it is archived,
       * the sender is refused, and nothing is lost.
       */
      const meeting = Effect.fnUntraced(function* (self: Agent, kin: ReadonlyArray<Relative>) {
        const { agent, relation } = kin[0]!
        const parent =
          relation === "parent" ? agent : relation === "child" ? self : yield* Effect.orDie(agents.get(self.parent!))
        const space = yield* spaceOf(parent)
        if (space.archivedAt !== null) {
          // As what it would be there: what it may not see or say is refused first.
          const members = [...space.members, { id: self.id, name: self.name, kind: self.kind, role: "member" as const }]
          const viewer = yield* grants.viewerNow(self.id, "agent", "spaces")
          yield* spaces.require("post", { ...space, members, archivedAt: null }, viewer)
          return yield* new WrongState({
            detail: `${space.name}, the space of this team, is archived, so its agents cannot write to each other. Its owner or an admin can bring it back with {"archived": false}.`,
          })
        }
        const house = houseViewer(parent)
        // Sorted: two transactions that add the same members at once would otherwise wait for each other's rows.
        const absent = [self, ...kin.map((one) => one.agent)]
          .filter(({ id }) => !isMember(space, id))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        for (const one of absent)
          yield* Effect.catchTag(
            spaces.addMember(space, one, house),
            ["Missing", "Forbidden", "OwnedByFile"],
            Effect.die,
          )
        return absent.length === 0 ? space : yield* Effect.orDie(spaces.get(space.id, house))
      })

      const dmOf: TeamMail["Service"]["dmOf"] = Effect.fn("TeamMail.dmOf")(function* (self, person) {
        const house = houseViewer(self)
        // Two principals have one DM, found by its members: anybody could have opened another space with its name.
        const known = spaces.between(self.id, person)
        const there = (yield* known) ?? (yield* Effect.andThen(openedAlone("dm", `${self.id} ${person}`), known))
        if (there !== undefined) return yield* Effect.orDie(spaces.get(there, house))
        const name = `dm-${slug(self.name)}-${person.slice(-6)}`
        return yield* Effect.catchTags(opened({ name, kind: "dm", members: [person] }, house), {
          NameTaken: (error) => Effect.fail(new WrongState({ detail: error.message })),
          BadInput: (error) => Effect.fail(new WrongState({ detail: error.message })),
          Forbidden: (error) => Effect.fail(new WrongState({ detail: error.message })),
        })
      })

      /** The person who wrote to this run, otherwise the agent's owner, otherwise an admin. */
      const personOf = Effect.fnUntraced(function* (self: Agent, run: string | undefined) {
        const wrote = run === undefined ? undefined : yield* inbox.writerOf(run)
        if (wrote !== undefined) {
          const space = yield* Effect.option(spaces.get(wrote.space, houseViewer(self)))
          if (Option.isSome(space)) return { person: wrote.author, space: space.value }
        }
        const owner = self.owner === null ? undefined : yield* Effect.option(principals.get(self.owner))
        const own =
          owner !== undefined && Option.isSome(owner) && owner.value.kind === "person" ? owner.value.id : undefined
        const person = own ?? (yield* principals.admins)[0]?.id
        if (person === undefined) return yield* new WrongState({ detail: "There is no person to write to." })
        return { person, space: yield* dmOf(self, person) }
      })

      const say = Effect.fnUntraced(function* (
        self: Agent,
        space: Space,
        text: string,
        kind: MailKind,
        to: ReadonlyArray<PrincipalId>,
        replyTo: MessageId | undefined,
        run: string | undefined,
      ) {
        const viewer = yield* grants.viewerNow(self.id, "agent", "spaces")
        return yield* messages.post(
          space,
          viewer,
          { text, ...(replyTo === undefined ? {} : { replyTo }) },
          { mail: { kind, to }, ...(run === undefined ? {} : { run: run as RunId }) },
        )
      })

      /** A message to one agent answers only that agent: others that wait must not get it. */
      const theirs = Effect.fnUntraced(function* (other: Agent, message: MessageId) {
        if ((yield* reads.authorOf(message)) === other.id) return message
        return yield* new WrongState({
          detail: `reply_to names no message of ${other.name}: leave it out to answer its oldest open request.`,
        })
      })

      /**
       * Which of their messages this answers: their oldest open request, otherwise a broadcast that this run has read
       * and not answered. In a later run, a message to them is a new matter.
       */
      const answers = Effect.fnUntraced(function* (
        self: Agent,
        other: Agent,
        given: string | undefined,
        run: string | undefined,
      ) {
        if (given !== undefined) return yield* theirs(other, messageIdOf(given))
        // Locked, so that two messages sent at the same moment answer two requests.
        yield* Effect.orDie(lockName(sql, "answers", self.id))
        const asked = yield* waits.oldest(other.id, self.id)
        if (asked !== undefined) return asked
        return run === undefined ? undefined : yield* inbox.unanswered(run, self.id, other.id)
      })

      const noRing = Effect.fnUntraced(function* (self: Agent, awaited: ReadonlyArray<PrincipalId>, answered?: string) {
        const ring = yield* waits.ring(self.id, awaited, answered)
        if (ring.length === 0) return
        const names = yield* Effect.forEach(ring, (id) => Effect.map(Effect.orDie(agents.get(id)), ({ name }) => name))
        return yield* new WrongState({
          detail: `${names.join(", who waits for ")} waits for you. If you also waited for ${names[0]}, neither could continue. Answer first, or send with sync: false.`,
        })
      })

      const toHuman = Effect.fnUntraced(function* (
        self: Agent,
        mail: { readonly text: string; readonly sync: boolean | undefined; readonly seconds: number | undefined },
        call: HandlerCall,
      ) {
        if (self.parent !== null)
          return yield* new WrongState({
            detail: `Only a root agent can write to ${nameOfHuman}. Write to your parent instead.`,
          })
        const { run } = call.caller
        const { person, space } = yield* personOf(self, run)
        const wait = mail.sync ?? true
        const message = yield* say(self, space, mail.text, wait ? "request" : "notification", [], undefined, run)
        const milliseconds = mail.seconds === undefined ? {} : { milliseconds: mail.seconds * 1000 }
        if (wait) yield* waits.open(call, { space, message, parties: [person], hangs: true, ...milliseconds })
        return { message, waits: wait }
      })

      const send: TeamMail["Service"]["send"] = Effect.fn("TeamMail.send")(function* (self, name, mail, call) {
        if (name === nameOfHuman) return yield* toHuman(self, mail, call)
        const kin = yield* tree.find(self, name)
        const space = yield* meeting(self, [kin])
        const replyTo = yield* answers(self, kin.agent, mail.replyTo, call.caller.run)
        const wait = mail.sync ?? replyTo === undefined
        if (wait) yield* noRing(self, [kin.agent.id], replyTo)
        const kind = wait ? "request" : replyTo === undefined ? "notification" : "response"
        const message = yield* say(self, space, mail.text, kind, [kin.agent.id], replyTo, call.caller.run)
        const milliseconds = mail.seconds === undefined ? {} : { milliseconds: mail.seconds * 1000 }
        if (wait) yield* waits.open(call, { space, message, parties: [kin.agent.id], hangs: true, ...milliseconds })
        return { message, waits: wait }
      })

      const broadcast: TeamMail["Service"]["broadcast"] = Effect.fn("TeamMail.broadcast")(
        function* (self, text, gathering, call) {
          const siblings = (yield* tree.around(self)).filter(({ relation }) => relation === "sibling")
          if (siblings.length === 0)
            return yield* new WrongState({
              detail: "You have no siblings: a broadcast goes to the other children of your parent.",
            })
          const to = siblings.map(({ agent }) => agent.id)
          const space = yield* meeting(self, siblings)
          // After the space, as for a request: locks are taken in the same order.
          if (gathering !== undefined) yield* noRing(self, to)
          const message = yield* say(self, space, text, "multicast", to, undefined, call.caller.run)
          if (gathering === undefined) return { message, waits: false, recipients: to.length }
          const { needed, seconds } = gathering
          const count = needed === "all" ? to.length : needed === "any" ? 1 : Math.min(needed, to.length)
          const milliseconds = seconds === undefined ? {} : { milliseconds: seconds * 1000 }
          yield* waits.open(call, {
            space,
            message,
            parties: to,
            needed: count,
            gathers: true,
            hangs: true,
            ...milliseconds,
          })
          return { message, waits: true, recipients: to.length }
        },
      )

      const instruct: TeamMail["Service"]["instruct"] = Effect.fn("TeamMail.instruct")(
        function* (self, child, text, run) {
          const space = yield* meeting(self, [{ agent: child, relation: "child" }])
          return yield* Effect.catchTag(
            say(self, space, text, "notification", [child.id], undefined, run),
            ["TooLarge", "TooManyRequests"],
            (error) => Effect.fail(new WrongState({ detail: error.message })),
          )
        },
      )

      return TeamMail.of({ send, broadcast, instruct, spaceOf, dmOf })
    }),
  )
}
