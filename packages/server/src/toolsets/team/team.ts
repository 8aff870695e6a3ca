/**
 * Seed 003's tools, for agents that work in a tree. All of them return at once: answers arrive as the next message
 * (S3-09). The room `team` decides whom an agent may write to, and what answers what.
 */
import { type Agent, Caller, type MailKind, type NewTeamAgent, withoutPrefix } from "@stoa/contract"
import { Effect } from "effect"
import { Agents, nearName } from "../../access/identity/Agents.ts"
import { makeVisiblePrincipal } from "../../access/rights/VisiblePrincipal.ts"
import type { HandlerCall } from "../../calls/road/Handler.ts"
import { Inbox } from "../../runs/waking/Inbox.ts"
import { nameOfHuman, TeamMail } from "../../team/TeamMail.ts"
import { makePolling } from "../../team/Polling.ts"
import { Team, type TeamAsker } from "../../team/Team.ts"
import { isCalled, Tree } from "../../team/Tree.ts"
import { integer, catalogueOffer, text } from "../toolsetTool.ts"
import { teamPermits } from "./teamPermits.ts"
import { teamWork } from "./teamWork.ts"

/** The sender of mail from the house itself. */
const system = "system"
const name = text("The agent's name", { minLength: 1, maxLength: 100 })
const body = text("Message body", { minLength: 1 })
const seconds = integer(
  "Stop waiting after so many seconds; without it the wait ends when nobody can answer any more",
  {
    minimum: 1,
    maximum: 604_800,
  },
)

interface SendInput {
  readonly recipient: string
  readonly text: string
  readonly sync?: boolean
  readonly reply_to?: string
  readonly timeout_seconds?: number
}

interface BroadcastInput {
  readonly text: string
  readonly gather?: "all" | "any" | number
  readonly timeout_seconds?: number
}

interface SpawnInput {
  readonly name: string
  readonly instructions: string
  readonly role?: "worker" | "reviewer"
  readonly workspace_subdir?: string | null
  readonly program?: string
}

export const team = Effect.gen(function* () {
  const agents = yield* Agents
  const visible = yield* makeVisiblePrincipal
  const inbox = yield* Inbox
  const teamMail = yield* TeamMail
  const tree = yield* Tree
  const group = yield* Team
  const polling = yield* makePolling

  const self = Effect.flatMap(Caller, tree.self)
  const within = Effect.map(Caller, (caller): TeamAsker => ({ caller, from: "team" }))

  const shownName = ({ from, fromKind }: { readonly from: string | null; readonly fromKind: string | null }) =>
    from === null ? system : fromKind === "person" ? nameOfHuman : from

  /** The reverse: the principal that a filter means by a sender's shown name. */
  const senderNamed = Effect.fnUntraced(function* (named: string) {
    if (named === nameOfHuman) return "person" as const
    if (named === system) return null
    const near = (yield* tree.around(yield* self)).find(({ agent }) => isCalled(agent, named))
    return near?.agent.id ?? (yield* visible(named)).id
  })

  const member = Effect.fnUntraced(function* (agent: Agent) {
    const { inbox: mail, role, state } = yield* tree.shown(agent)
    return { name: nearName(agent), agent_id: withoutPrefix(agent.id), role, state, inbox: mail }
  })

  return [
    catalogueOffer("team", {
      name: "send_message",
      approvedOnce: true,
      mergedDefaults: { status: "sent", waiting_for_reply: false },
      description:
        "Send a message to another agent: your parent, a child or a sibling. Returns at once; the reply to a sync message arrives as your next message, so end your turn then.",
      effects: "store",
      input: {
        properties: {
          recipient: text(`The agent's name. A root agent may write to ${nameOfHuman}, the human`, { minLength: 1 }),
          text: body,
          sync: {
            type: "boolean",
            description:
              "Whether the reply is to be your next message. An answer to somebody who waits for you needs none",
            default: true,
          },
          reply_to: text("The message that this answers, if not the oldest open request of the recipient", {
            minLength: 1,
          }),
          timeout_seconds: seconds,
        },
        required: ["recipient", "text"],
      },
      run: Effect.fnUntraced(function* (input: SendInput, call: HandlerCall) {
        const { message, waits } = yield* teamMail.send(
          yield* self,
          input.recipient,
          { text: input.text, sync: input.sync, replyTo: input.reply_to, seconds: input.timeout_seconds },
          call,
        )
        return { status: "sent", message_id: withoutPrefix(message.id), waiting_for_reply: waits }
      }),
    }),
    catalogueOffer("team", {
      name: "broadcast",
      approvedOnce: true,
      description:
        "Send a message to all your siblings. Their replies arrive as separate messages; with gather they arrive together, as your next message.",
      effects: "store",
      input: {
        properties: {
          text: body,
          gather: {
            anyOf: [
              { type: "string", enum: ["all", "any"] },
              { type: "integer", minimum: 1, maximum: 1000 },
            ],
            description: "Wait for all replies, for the first one, or for this number of replies",
          },
          timeout_seconds: seconds,
        },
        required: ["text"],
      },
      run: Effect.fnUntraced(function* (input: BroadcastInput, call: HandlerCall) {
        const gathering =
          input.gather === undefined ? undefined : { needed: input.gather, seconds: input.timeout_seconds }
        const sent = yield* teamMail.broadcast(yield* self, input.text, gathering, call)
        return {
          status: "sent",
          message_id: withoutPrefix(sent.message.id),
          recipient_count: sent.recipients,
          ...(sent.waits ? { waiting_for_reply: true } : {}),
        }
      }),
    }),
    catalogueOffer("team", {
      name: "check_inbox",
      description: "Retrieve pending messages. Replies to sync messages do not come here: they are your next message.",
      effects: "store",
      input: {
        properties: {
          sender: text(`Only of this agent, of ${nameOfHuman} or of ${system}`, { minLength: 1 }),
          kind: {
            type: "string",
            enum: ["request", "response", "notification", "multicast", "error"],
            description: "Only of this kind",
          },
        },
      },
      run: Effect.fnUntraced(function* (
        input: { readonly sender?: string; readonly kind?: MailKind },
        { caller, run }: HandlerCall,
      ) {
        const me = yield* self
        const sender = input.sender === undefined ? {} : { sender: yield* senderNamed(input.sender) }
        const kind = input.kind === undefined ? {} : { kind: input.kind }
        const taken = yield* inbox.take(me.id, caller.run ?? null, { ...sender, ...kind })
        const hint = yield* polling(run, taken.length)
        return {
          messages: taken.map((one) => ({
            from: shownName(one),
            text: one.text,
            message_id: withoutPrefix(one.message ?? one.source),
            ...(one.replyTo === null ? {} : { reply_to: withoutPrefix(one.replyTo) }),
          })),
          ...(hint === undefined ? {} : { hint }),
        }
      }),
    }),
    catalogueOffer("team", {
      name: "spawn_agent",
      houseText: true,
      description: "Create a subagent. It begins with its instructions as soon as there is room, and works for you.",
      effects: "store",
      input: {
        properties: {
          name: text("The name of the child; no agent near you may have it", { minLength: 1, maxLength: 63 }),
          instructions: text("What the child is, and what it has to do", { minLength: 1, maxLength: 32_768 }),
          role: { type: "string", enum: ["worker", "reviewer"], description: "What it is called", default: "worker" },
          workspace_subdir: {
            type: ["string", "null"],
            description: "The subdirectory of your workspace in which the child works. Default: your whole workspace",
            default: null,
          },
          program: text("One of the programs you were given, if not your own", { minLength: 1 }),
        },
        required: ["name", "instructions"],
      },
      run: Effect.fnUntraced(function* (input: SpawnInput) {
        const wanted: NewTeamAgent = {
          name: input.name,
          instructions: input.instructions,
          ...(input.role === undefined ? {} : { role: input.role }),
          ...(input.workspace_subdir === undefined ? {} : { workspaceSubdir: input.workspace_subdir }),
          ...(input.program === undefined ? {} : { program: input.program }),
        }
        const child = yield* group.spawn(yield* within, undefined, wanted)
        return { status: "created", agent_id: withoutPrefix(child.id), name: nearName(child) }
      }),
    }),
    catalogueOffer("team", {
      name: "inspect_agent",
      description: "View the recent activity of a subordinate.",
      effects: "none",
      input: { properties: { name }, required: ["name"] },
      run: Effect.fnUntraced(function* (input: { readonly name: string }) {
        const { agent, calls, messages } = yield* group.activity(yield* within, input.name)
        return {
          state: agent.state,
          recent_messages: messages.map(({ from, id, text: words, to }) => ({
            from,
            to,
            text: words,
            message_id: withoutPrefix(id),
          })),
          recent_calls: calls.map(({ state, tool }) => ({ tool, state })),
          inbox: agent.inbox,
        }
      }),
    }),
    catalogueOffer("team", {
      name: "complete",
      description:
        "Say that your work is done, with its result: it goes to your parent as the answer to its request, or to the human if you have no parent.",
      effects: "store",
      input: { properties: { result: text("The result of your work", { minLength: 1 }) }, required: ["result"] },
      run: Effect.fnUntraced(function* (input: { readonly result: string }, call: HandlerCall) {
        const me = yield* self
        const parent = me.parent === null ? nameOfHuman : me.parent
        const mail = { text: input.result, sync: false, replyTo: undefined, seconds: undefined }
        const { message } = yield* teamMail.send(me, parent, mail, call)
        return { status: "completed", message_id: withoutPrefix(message.id) }
      }),
    }),
    catalogueOffer("team", {
      name: "list_team",
      description: "List your parent, your children and your siblings, with what each is doing.",
      effects: "none",
      input: { properties: {} },
      run: Effect.fnUntraced(function* () {
        const kin = yield* tree.around(yield* self)
        const those = (relation: string) =>
          Effect.forEach(
            kin.filter((one) => one.relation === relation),
            ({ agent }) => member(agent),
          )
        return {
          parent: (yield* those("parent"))[0] ?? null,
          children: yield* those("child"),
          siblings: yield* those("sibling"),
        }
      }),
    }),
    catalogueOffer("team", {
      name: "whoami",
      houseText: true,
      description: "Who you are in your team.",
      effects: "none",
      input: { properties: {} },
      run: Effect.fnUntraced(function* () {
        const me = yield* self
        const { depth, role, state } = yield* tree.shown(me)
        const parent = me.parent === null ? null : nearName(yield* agents.get(me.parent))
        return { agent_id: withoutPrefix(me.id), name: nearName(me), role, state, parent, depth }
      }),
    }),
    catalogueOffer("team", {
      name: "stop_agent",
      houseText: true,
      description:
        "Stop what a child is doing. With remove, the child also leaves the team. Only an agent without children can be removed.",
      effects: "outside",
      input: {
        properties: {
          name,
          remove: { type: "boolean", description: "Whether the child also leaves the team", default: false },
        },
        required: ["name"],
      },
      run: Effect.fnUntraced(function* (input: { readonly name: string; readonly remove?: boolean }) {
        const { agent, stopped } = yield* group.stop(yield* within, input.name, input.remove === true)
        return { status: input.remove === true ? "removed" : "stopped", name: nearName(agent), runs_stopped: stopped }
      }),
    }),
    ...(yield* teamWork(self)),
    ...(yield* teamPermits),
  ]
})
