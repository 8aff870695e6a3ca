/**
 * The kill switch (G-12). Calls of and to a paused subject are refused; the room that runs calls learns of it through
 * the journal.
 */
import { BadInput, Missing, type NewPause, type Page, Pause, type Principal } from "@stoa/contract"
import { nearest } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { chain } from "../../store/fibers/Resolved.ts"
import { currentCause } from "../../store/journal/Correlation.ts"
import { Journal, type Transaction } from "../../store/journal/Journal.ts"
import { branchesOf, branchOf } from "../identity/Agents.ts"
import { Principals } from "../identity/Principals.ts"
import { rightsBell, rightsChanged, rightsEpoch } from "../rights/Rights.ts"

const decode = Schema.decodeUnknownSync(Pause)

/** The paused subjects in lower case, with the given reason, which may be empty. */
export type Paused = ReadonlyMap<string, string>

/** What a call, or another request to a server, uses: it does not run if any of these is paused. */
export interface PauseTargets {
  readonly principal: Principal
  readonly tool?: string
  readonly server: string | undefined
}

/** A condition for statements: the agent in this column is paused, by itself, with one above it, or with everything. */
export const isPausedAgent = (sql: SqlClient.SqlClient, column: string) =>
  sql`(EXISTS (SELECT 1 FROM pauses WHERE subject = 'everything') OR ${sql(column)} IN ${branchesOf(
    sql,
    sql`SELECT substr(subject, 8) FROM pauses WHERE subject LIKE 'agents/%'`,
  )})`

export const serverSubject = (server: string): string => `servers/${server.toLowerCase()}`
/** Whether a server of this name is paused, and so must not be connected. */
export const isServerPaused = (paused: Paused, server: string): boolean => paused.has(serverSubject(server))

/** The subject that stops it, if any. Pure. */
export const pausedBy = (paused: Paused, { principal, server, tool }: PauseTargets): string | undefined =>
  paused.size === 0
    ? undefined
    : [
        "everything",
        `agents/${principal.id}`,
        ...(tool === undefined ? [] : [`tools/${tool.toLowerCase()}`]),
        ...(server === undefined ? [] : [serverSubject(server)]),
      ].find((subject) => paused.has(subject))

const pausePrefix = "paused:"
/** The name of a pause where the rule that refused is named. */
export const pauseRule = (subject: string): string => pausePrefix + subject
export const isPause = (rule: string | undefined): boolean => rule?.startsWith(pausePrefix) === true

/** The text for a stopped caller: why, and what to do. */
export const pausedMessage = (what: string, subject: string, { name }: Principal, paused: Paused): string => {
  const reason = paused.get(subject) ?? ""
  const why = reason === "" ? "" : ` (${reason})`
  return `"${what}" does not run now: ${subject.startsWith("agents/") ? name : subject} is paused${why}. Try again when an admin has lifted the pause`
}

/** Stopped by a pause. Each door words the error for its clients. */
export class Stopped {
  readonly _tag = "Stopped"
  readonly subject: string
  readonly message: string
  constructor(subject: string, message: string) {
    this.subject = subject
    this.message = message
  }
}

/** The tools and servers there are, by name. */
export interface Pausable {
  readonly tools: ReadonlyArray<string>
  readonly servers: ReadonlyArray<string>
}

/** Why a subject cannot be paused: a tool or a server that does not exist, so that pausing it would stop nothing. Pure. */
const unpausable = (subject: string, { servers, tools }: Pausable): string | undefined => {
  const [, kind, name] = /^(tools|servers)\/(.+)$/.exec(subject) ?? []
  if (kind === undefined || name === undefined) return undefined
  const same = (one: string) => one.toLowerCase() === name.toLowerCase()
  // A tool of a server that is not connected counts as existing.
  const away = (server: string) => name.toLowerCase().startsWith(`${server.toLowerCase()}/`)
  if (kind === "servers" ? servers.some(same) : tools.some(same) || servers.some(away)) return undefined
  const meant = nearest(name, kind === "servers" ? servers : tools)
  const hint = meant === undefined ? `list the ${kind} to see those there are` : `did you mean "${kind}/${meant}"?`
  return `nobody has "${subject}"; ${hint}`
}

export class Pauses extends Context.Service<
  Pauses,
  {
    readonly list: Effect.Effect<Page<Pause>>
    /** The pauses of this epoch of rights. */
    readonly at: (epoch: number) => Effect.Effect<Paused>
    /** The pauses of now, whichever epoch the caller has. */
    readonly now: Effect.Effect<Paused>
    /**
     * For what is not a call: does not start while something it uses is paused, and is interrupted when that is paused.
     */
    readonly unless: <A, E, R>(
      what: string,
      touched: PauseTargets,
      it: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | Stopped, R>
    /** In a transaction of its own, or in the one around it. Fails for what does not exist. */
    readonly set: (wanted: NewPause) => Effect.Effect<Pause, BadInput>
    readonly lift: (subject: string) => Effect.Effect<void, Missing, Transaction>
    /**
     * Says which tools and servers there are: the room on a higher floor that has them. Until then there are none. Told
     * later, and not a layer that this one needs, because that room is built on this service.
     */
    readonly learn: (there: Effect.Effect<Pausable>) => void
  }
>()("server/access/limits/Pauses") {
  static readonly layer = Layer.effect(
    Pauses,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const principals = yield* Principals
      const changed = Effect.provideService(rightsChanged, SqlClient.SqlClient, sql)
      const epochNow = yield* rightsEpoch
      const bell = yield* rightsBell
      let known: { readonly epoch: number; readonly subjects: Paused } | undefined

      const all = Effect.map(
        Effect.orDie(sql`SELECT subject, reason, by_principal, created_at FROM pauses ORDER BY subject`),
        (rows) => rows.map(({ byPrincipal, ...row }) => decode({ ...row, by: byPrincipal })),
      )

      // Stored by id, so that a rename does not lift it; shown by name.
      const kept = Effect.fnUntraced(function* (subject: string) {
        if (!subject.startsWith("agents/")) return { key: subject.toLowerCase(), shown: subject }
        const { id, name } = yield* principals.get(subject.slice("agents/".length))
        return { key: `agents/${id}`, shown: `agents/${name}` }
      })
      const shown = Effect.fnUntraced(function* (pause: Pause) {
        const { shown: subject } = yield* Effect.orElseSucceed(kept(pause.subject), () => ({ shown: pause.subject }))
        return new Pause({ ...pause, subject })
      })

      /** Agents that work for a paused agent are paused too. A new parent raises the epoch, as a pause does. */
      const branches = Effect.fnUntraced(function* (pauses: ReadonlyArray<Pause>) {
        const subjects = new Map<string, string>()
        for (const { reason, subject } of pauses) {
          if (!subject.startsWith("agents/")) continue
          const rows = yield* Effect.orDie(
            sql<{ id: string }>`SELECT id FROM ${branchOf(sql, subject.slice(7))} AS branch`,
          )
          for (const { id } of rows) subjects.set(`agents/${id}`, reason)
        }
        for (const { reason, subject } of pauses) subjects.set(subject.toLowerCase(), reason)
        return subjects
      })

      const at: Pauses["Service"]["at"] = (epoch) =>
        known?.epoch === epoch
          ? Effect.succeed(known.subjects)
          : Effect.map(Effect.flatMap(all, branches), (subjects) => {
              known = { epoch, subjects }
              return subjects
            })

      const now: Pauses["Service"]["now"] = Effect.suspend(() => chain(epochNow(), at))

      const check = (what: string, touched: PauseTargets): Effect.Effect<void, Stopped> =>
        Effect.flatMap(now, (paused) => {
          const subject = pausedBy(paused, touched)
          return subject === undefined
            ? Effect.void
            : Effect.fail(new Stopped(subject, pausedMessage(what, subject, touched.principal, paused)))
        })
      const unless: Pauses["Service"]["unless"] = (what, touched, it) => {
        const stopped: Effect.Effect<never, Stopped> = Effect.suspend(() => {
          const heard = bell.rung
          return Effect.andThen(check(what, touched), bell.waitPast(heard))
        }).pipe(Effect.forever)
        return Effect.andThen(check(what, touched), Effect.raceFirst(it, stopped))
      }

      let there: Effect.Effect<Pausable> = Effect.succeed({ tools: [], servers: [] })

      const write = Effect.fnUntraced(function* ({ reason = "", subject }: NewPause) {
        const { key, shown: name } = yield* Effect.mapError(
          kept(subject),
          (error) => new BadInput({ issues: [{ path: "subject", message: error.message }] }),
        )
        const createdAt = DateTime.formatIso(yield* DateTime.now)
        const { actor } = yield* currentCause
        const row = { subject: key, reason, byPrincipal: actor, createdAt }
        const rows = yield* Effect.orDie(
          sql`INSERT INTO pauses ${sql.insert(row)} ON CONFLICT (subject) DO NOTHING RETURNING subject`,
        )
        if (rows.length > 0) {
          yield* journal.append({ kind: "pause.set", body: { subject: key, reason } })
          yield* changed
        }
        // Pausing twice changes nothing: returns the existing pause.
        const standing = (yield* all).find((one) => one.subject === key)!
        return new Pause({ ...standing, subject: name })
      })
      const set: Pauses["Service"]["set"] = Effect.fn("Pauses.set")(function* (wanted) {
        const message = unpausable(wanted.subject, yield* there)
        if (message !== undefined) return yield* new BadInput({ issues: [{ path: "subject", message }] })
        return yield* journal.transact(write(wanted))
      })

      const lift: Pauses["Service"]["lift"] = Effect.fn("Pauses.lift")(function* (subject) {
        const { key } = yield* kept(subject)
        const rows = yield* Effect.orDie(sql`DELETE FROM pauses WHERE subject = ${key} RETURNING subject`)
        if (rows[0] === undefined) return yield* new Missing({ noun: "pause", ref: subject })
        yield* journal.append({ kind: "pause.lifted", body: { subject: key } })
        yield* changed
      })

      const list = Effect.map(
        Effect.flatMap(all, (pauses) => Effect.forEach(pauses, shown)),
        (items): Page<Pause> => ({ items, next: null }),
      )

      return Pauses.of({ list, at, now, unless, set, lift, learn: (from) => void (there = from) })
    }),
  )
}
