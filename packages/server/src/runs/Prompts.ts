/** Loads the rows for a prompt. The pure functions in `prompt/` make the texts. */
import {
  type Agent,
  Caller,
  type Forbidden,
  type Missing,
  type Prompt,
  promptTextOf,
  type RunId,
  type Space,
  type SpaceId,
} from "@stoa/contract"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../access/identity/Agents.ts"
import { Principals } from "../access/identity/Principals.ts"
import { Tokens } from "../access/identity/Tokens.ts"
import { Wallets } from "../access/identity/wallets/Wallets.ts"
import { Grants } from "../access/rights/Grants.ts"
import type { Viewer } from "../access/rights/Viewer.ts"
import { Catalogue, everything } from "../calls/catalogue/Catalogue.ts"
import { makeVisitorProfile } from "../memory/VisitorProfile.ts"
import { makeMemoryPrompt } from "../memory/MemoryPrompt.ts"
import { estimatedTokens, lettersFor, usualWindow } from "../models/text/Estimate.ts"
import { Languages } from "../models/Languages.ts"
import { excerptOf, type MessageExcerpt } from "../spaces/messages/MessageExcerpts.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import { makeBatch } from "../store/journal/Batch.ts"
import { makeEventCache } from "../store/journal/events/EventCache.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { makeAudience } from "./Audience.ts"
import { profileNamed, profileNameOf } from "./profile.ts"
import { tokensFor } from "./prompt/shares.ts"
import { shortened, shortenedAll } from "./prompt/shorten.ts"
import { systemPrompt, systemSections } from "./prompt/system.ts"
import { type PromptMessage, type PromptTrigger, userPrompt } from "./prompt/user.ts"
import { open } from "./record/lifecycle.ts"
import type { TriggerRow } from "./record/rows.ts"
import { inState } from "../store/database/dialect/States.ts"
import { wireToolsOf } from "./working/wireTools.ts"

export interface PromptTexts {
  readonly system: string
  readonly user: string
}

/** The run that a prompt is for. */
export interface PromptSubject {
  readonly agent: Agent
  readonly caller: Caller["Service"]
  readonly profile: string
  readonly run: RunId | null
  readonly persona: string | null
  /** The prompt of the run that called it, if it should know that. */
  readonly context: string | null
  /** It is told what was said in its space. */
  readonly reads: boolean
  /** Its last message is its answer. */
  readonly speaks: boolean
  readonly space: SpaceId | null
  readonly triggers: ReadonlyArray<TriggerRow>
}

/** How many members of its space it is told by name. */
const maxNamed = 100
/** How many of its other runs an agent is told about. */
const maxOthers = 20
interface OpenRun {
  readonly id: string
  readonly space: SpaceId | null
  readonly agent: string
  readonly state: string
  readonly summary: string
}

const sizeOf = (text: string) => ({ size: text.length, tokens: estimatedTokens(text) })

const shownCall = ({ call }: MessageExcerpt): string | null =>
  call === null ? null : `used the tool ${call.tool} with ${call.input}`

export class Prompts extends Context.Service<
  Prompts,
  {
    readonly make: (about: PromptSubject) => Effect.Effect<PromptTexts>
    /**
     * What an agent is told about itself now, section by section. Its memory is its own: besides itself, only those who
     * administer it may read that.
     */
    readonly preview: (ref: string) => Effect.Effect<Prompt, Missing | Forbidden, Caller>
  }
>()("server/runs/Prompts") {
  static readonly layer = Layer.effect(
    Prompts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const spaces = yield* Spaces
      const messages = yield* Messages
      const agents = yield* Agents
      const principals = yield* Principals
      const grants = yield* Grants
      const tokens = yield* Tokens
      const catalogue = yield* Catalogue
      const languages = yield* Languages
      const memoryOf = yield* makeMemoryPrompt
      const profileOf = yield* makeVisitorProfile
      const wallets = yield* Wallets
      const audience = yield* makeAudience

      const people = yield* makeEventCache(["principal.changed", "principal.retired"], (id) =>
        Effect.option(principals.get(id)),
      )
      const shownTrigger = Effect.fnUntraced(function* (row: TriggerRow) {
        const author = row.author === null ? Option.none() : yield* people.get(row.author)
        const waits =
          row.message === null
            ? []
            : yield* Effect.orDie(sql`SELECT id FROM waits WHERE message = ${row.message} AND state = 'open'`)
        return {
          kind: row.kind,
          message: row.message,
          text: row.text,
          author: Option.match(author, {
            onNone: () => null,
            onSome: ({ id, kind, name }) => ({ id, name, kind }),
          }),
          waits: waits.length > 0,
        } satisfies PromptTrigger
      })

      const openRuns = sql`SELECT id, agent, state, trigger_space AS space, trigger_summary AS summary FROM runs WHERE ${inState(sql, open)}`
      const first = sql`ORDER BY id LIMIT ${maxOthers + 1}`
      /** Includes the run itself, which is filtered out later. On Postgres one statement reads several agents. */
      const openOf = yield* sql.onDialectOrElse({
        pg: () =>
          makeBatch((agents: ReadonlyArray<string>) =>
            Effect.map(
              Effect.orDie(sql<OpenRun>`SELECT found.* FROM principals p CROSS JOIN LATERAL
                (${openRuns} AND agent = p.id ${first}) AS found WHERE ${sql.in("p.id", [...new Set(agents)])} ORDER BY id`),
              (rows) => (agent: string) => rows.filter((row) => row.agent === agent),
            ),
          ),
        orElse: () =>
          Effect.succeed((agent: string) => Effect.orDie(sql<OpenRun>`${openRuns} AND agent = ${agent} ${first}`)),
      })
      /** Of its other runs, those that everybody who reads it may know of, and how many more there are. */
      const othersOf = Effect.fnUntraced(function* (agent: string, run: RunId | null, space: Space | null) {
        const others = (yield* openOf(agent)).filter(({ id }) => id !== run)
        const seen = yield* audience.seenByAll(
          space,
          others.flatMap((one) => (one.space === null ? [] : [one.space])),
        )
        const told = others.filter((one) => one.space !== null && seen.has(one.space)).slice(0, maxOthers)
        return { told, more: others.length - told.length }
      })

      /** The messages that woke a run, if its agent still sees them. */
      const wokenBy = Effect.fnUntraced(function* (
        triggers: ReadonlyArray<TriggerRow>,
        newest: ReadonlyArray<MessageExcerpt>,
        viewer: Viewer,
        most: number,
      ) {
        const woke: Array<MessageExcerpt> = []
        let letters = 0
        // The newest first: many long ones that woke it together are not all read.
        for (const { message } of triggers.toReversed()) {
          if (message === null || letters > most) continue
          const known = newest.find(({ id, left }) => id === message && left === 0)
          const found =
            known ?? Option.getOrUndefined(Option.map(yield* Effect.option(messages.get(message, viewer)), excerptOf))
          if (found === undefined) continue
          letters += found.text.length
          woke.push(found)
        }
        return woke.toReversed()
      })

      const make: Prompts["Service"]["make"] = Effect.fn("Prompts.make")(function* (about) {
        const { agent, caller } = about
        const { guidance, history: most } = profileNamed(about.profile)
        const window = (yield* windowOf(agent)) ?? usualWindow
        const viewer = yield* grants.viewerOf(caller, "spaces")
        const found = about.space === null ? Option.none() : yield* Effect.option(spaces.get(about.space, viewer))
        const space = Option.getOrNull(found)
        const asked = {
          limit: most,
          letters: lettersFor(tokensFor("history", window)),
          besides: about.triggers.slice(-most).flatMap(({ message }) => message ?? []),
        }
        const shown = (query: { readonly thread?: string }) =>
          space === null || !about.reads
            ? Effect.succeed([])
            : Effect.orElseSucceed(messages.excerpts(space, viewer, { ...query, ...asked }), () => [])
        const read = space === null ? 0 : space.lastSeq - space.unread
        const newest = yield* shown({})
        const woke = yield* wokenBy(
          about.triggers.slice(-most),
          newest,
          viewer,
          lettersFor(tokensFor("triggers", window)),
        )
        const answers = woke.at(-1)?.replyTo ?? null
        // A thread is shown instead of the space (S0-68).
        const page = answers === null ? newest : yield* shown({ thread: answers })
        // What woke it is always included, however much was said since.
        const isWoke = new Set(woke.map(({ id }) => id))
        const told = [...woke, ...page.filter(({ id }) => !isWoke.has(id))].toSorted(
          (one, other) => one.seq - other.seq,
        )
        const reads = [
          memoryOf(agent.id, {
            tokens: tokensFor("memory", window),
            mayTell: (runs) => audience.mayTell(space, runs),
          }),
          Effect.forEach(about.triggers.slice(-most), shownTrigger),
          about.speaks ? Effect.succeed({ told: [], more: 0 }) : othersOf(agent.id, about.run, space),
        ] as const
        const roomy = (part: "triggers" | "history", some: ReadonlyArray<MessageExcerpt>) =>
          shortenedAll(
            some.map((message) => {
              const call = shownCall(message)
              return { id: message.id, text: call ?? message.text, left: call === null ? message.left : 0 }
            }),
            tokensFor(part, window),
          )
        // What woke it has room of its own: nobody can crowd it out.
        const texts = new Map(
          [
            ...roomy(
              "triggers",
              told.filter(({ id }) => isWoke.has(id)),
            ),
            ...roomy(
              "history",
              told.filter(({ id }) => !isWoke.has(id)),
            ),
          ].map(({ id, text }) => [id, text]),
        )
        const [memory, triggers, others] = yield* Effect.all(reads, { concurrency: "unbounded" })
        const visitor = about.speaks ? yield* wallets.behind(caller) : undefined
        const profile = visitor === undefined || visitor.id === agent.id ? [] : yield* profileOf(visitor)
        return {
          system: systemPrompt({
            name: agent.name,
            persona: about.persona === null ? null : shortened(about.persona, tokensFor("persona", window)),
            memory: [...memory, ...profile],
            guidance,
            speaks: about.speaks,
          }),
          user: userPrompt({
            now: DateTime.formatIso(yield* DateTime.now),
            triggers: shortenedAll(triggers, tokensFor("triggers", window)),
            joined: Math.max(0, about.triggers.length - triggers.length),
            space:
              space === null
                ? null
                : {
                    id: space.id,
                    name: space.name,
                    kind: space.kind,
                    members: space.members.slice(0, maxNamed),
                    more: Math.max(0, space.members.length - maxNamed),
                  },
            thread: answers !== null,
            history: told.map((message): PromptMessage => ({
              id: message.id,
              at: message.createdAt,
              author: message.author,
              text: texts.get(message.id)!,
              provenance: message.provenance,
              call: message.call === null ? null : texts.get(message.id)!,
              replyTo: message.replyTo,
              seen: message.seq <= read,
            })),
            others: others.told,
            elsewhere: others.more,
            context: about.context === null ? null : shortened(about.context, tokensFor("context", window)),
          }),
        }
      })

      /** The tools its model is told about, which are not part of the text. */
      const toolsOf = Effect.fnUntraced(function* (agent: Agent) {
        const found = yield* Effect.option(tokens.callerNow(agent.id, "agent"))
        if (Option.isNone(found)) return { names: [], ...sizeOf("") }
        const tools = wireToolsOf(yield* catalogue.list(found.value, everything), found.value.principal.wallet)
        return { names: tools.map(({ name }) => name), ...sizeOf(tools.length === 0 ? "" : JSON.stringify(tools)) }
      })

      /** The smallest among its models: if the first fails, the next is told the same. */
      const windowOf = Effect.fnUntraced(function* ({ models, thinker }: Agent) {
        if (models.length === 0 || thinker.kind !== "model") return null
        const windows = yield* Effect.forEach(models, (model) =>
          Effect.match(languages.access(model), {
            onFailure: () => usualWindow,
            onSuccess: ({ declared }) => declared.window ?? usualWindow,
          }),
        )
        return Math.min(...windows)
      })

      const preview: Prompts["Service"]["preview"] = Effect.fn("Prompts.preview")(function* (ref) {
        const agent = yield* agents.find(ref)
        if ((yield* Caller).principal.id !== agent.id) yield* grants.require("admin", `principals/${agent.name}`)
        const sections = systemSections({
          name: agent.name,
          persona: agent.persona,
          memory: yield* memoryOf(agent.id, { tokens: tokensFor("memory", (yield* windowOf(agent)) ?? usualWindow) }),
          guidance: profileNamed(profileNameOf(agent)).guidance,
          speaks: false,
        })
        const parts = sections.map(({ name, text }) => ({ name, text, ...sizeOf(text) }))
        const tools = yield* toolsOf(agent)
        const sum = parts.reduce((all, { tokens: some }) => all + some, tools.tokens)
        return {
          sections: parts,
          tools,
          text: promptTextOf(parts),
          tokens: sum,
          window: yield* windowOf(agent),
        }
      })

      return Prompts.of({ make, preview })
    }),
  )
}
