/**
 * Changes of rights. Allowed changes are made at once. If a policy says `ask`, the change becomes a decision and is
 * made when a second person has agreed (G-38), in the name of the person who wanted it, and only if they still may.
 */
import {
  AccessContext,
  type AllowList,
  AllowListChange,
  type BadInput,
  Caller,
  Forbidden,
  type Grant,
  GrantId,
  ListedSet,
  type Missing,
  type NameTaken,
  NewGrant,
  type OwnedByFile,
  type Principal,
  PrincipalChange,
  PrincipalId,
  type TokenId,
  type TooManyRequests,
  WaitingChange,
  type WrongState,
} from "@stoa/contract"
import { digestOf } from "@stoa/tools"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../access/identity/Principals.ts"
import { Tokens } from "../access/identity/Tokens.ts"
import { causedBy, currentCause } from "../store/journal/Correlation.ts"
import { AllowLists, defaultTools } from "../access/rights/AllowLists.ts"
import { type Approved, Authority, type NeedsApproval } from "../access/rights/delegation/Authority.ts"
import { Grants } from "../access/rights/Grants.ts"
import { findOrRefuse } from "../access/rights/FindIfPermitted.ts"
import { Journal } from "../store/journal/Journal.ts"
import { readerLayer } from "../store/journal/readers/Readers.ts"
import { Decisions } from "./Decisions.ts"
import * as words from "./rightsWords.ts"

/** As for a call: an approval that nobody gives counts as a no after a day. */
const approvalTime = 24 * 3600 * 1000

const Change = Schema.TaggedUnion({
  AllowListSet: { toolset: ListedSet, context: AccessContext, tools: AllowListChange.fields.tools },
  AllowListReset: { toolset: ListedSet, context: AccessContext },
  GrantAdded: { grant: NewGrant },
  GrantRevoked: { grant: GrantId },
  PrincipalChanged: { principal: PrincipalId, changes: PrincipalChange },
})
type Change = typeof Change.Type
const encode = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(Change)))
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Change)))

type Refused = Forbidden | TooManyRequests

interface Row {
  readonly decision: string
  readonly principal: PrincipalId
  readonly context: AccessContext
  readonly token: TokenId | null
  readonly expiresAt: string | null
  readonly change: string
}

export class RightsChanges extends Context.Service<
  RightsChanges,
  {
    readonly setAllowList: (
      toolset: ListedSet,
      context: AccessContext,
      tools: ReadonlyArray<string>,
    ) => Effect.Effect<AllowList | WaitingChange, BadInput | OwnedByFile | Refused, Caller>
    readonly resetAllowList: (
      toolset: ListedSet,
      context: AccessContext,
    ) => Effect.Effect<AllowList | WaitingChange, OwnedByFile | Refused, Caller>
    readonly addGrant: (wanted: NewGrant) => Effect.Effect<Grant | WaitingChange, Missing | BadInput | Refused, Caller>
    readonly revokeGrant: (id: GrantId) => Effect.Effect<void | WaitingChange, Missing | OwnedByFile | Refused, Caller>
    readonly changePrincipal: (
      principal: Principal,
      changes: typeof PrincipalChange.Type,
    ) => Effect.Effect<Principal | WaitingChange, Missing | NameTaken | OwnedByFile | WrongState | Refused, Caller>
    /** A decision was answered: makes its change, or drops it. Idempotent. */
    readonly resume: (decision: string) => Effect.Effect<void>
  }
>()("server/decisions/RightsChanges") {
  static readonly layer = Layer.effect(
    RightsChanges,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const authority = yield* Authority
      const decisions = yield* Decisions
      const grants = yield* Grants
      const lists = yield* AllowLists
      const principals = yield* Principals
      const tokens = yield* Tokens
      const { transact } = yield* Journal

      const applied = (approval: Approved) => ({
        AllowListSet: Effect.fnUntraced(function* ({ context, tools, toolset }: Of<"AllowListSet">) {
          yield* authority.allowList(yield* lists.get(toolset, context), tools, approval)
          return yield* transact(lists.set(toolset, context, tools))
        }),
        AllowListReset: Effect.fnUntraced(function* ({ context, toolset }: Of<"AllowListReset">) {
          yield* authority.allowList(yield* lists.get(toolset, context), defaultTools(toolset, context), approval)
          return yield* transact(lists.reset(toolset, context))
        }),
        GrantAdded: Effect.fnUntraced(function* ({ grant }: Of<"GrantAdded">) {
          const whose = yield* principals.get(grant.principal)
          const wanted = yield* authority.grant(grant, whose, approval)
          return yield* transact(grants.add({ ...wanted, principal: whose.id }))
        }),
        GrantRevoked: Effect.fnUntraced(function* ({ grant }: Of<"GrantRevoked">) {
          const found = yield* grants.get(grant)
          yield* authority.revokeGrant(found, yield* principals.get(found.principal), approval)
          yield* transact(grants.revoke(grant))
        }),
        PrincipalChanged: Effect.fnUntraced(function* ({ changes, principal }: Of<"PrincipalChanged">) {
          yield* authority.changedPrincipal(yield* principals.get(principal), changes, approval)
          return yield* transact(principals.change(principal, changes, { caller: yield* Caller }))
        }),
      })

      const question = Effect.fnUntraced(function* (by: Principal, change: Change) {
        return `${by.name} wants to change rights: ${yield* Effect.orDie(wordsOf(change))}`
      })
      /** With the names of what it is about, as it is now. */
      const wordsOf = (change: Change): Effect.Effect<string, Missing> => {
        const nameOf = (id: string) => Effect.map(principals.get(id), ({ name }) => name)
        switch (change._tag) {
          case "AllowListSet":
            return Effect.map(lists.get(change.toolset, change.context), ({ tools }) =>
              words.listSet({ ...change, before: tools, after: change.tools }),
            )
          case "AllowListReset":
            return Effect.map(lists.get(change.toolset, change.context), ({ tools }) =>
              words.listReset({ ...change, before: tools, after: defaultTools(change.toolset, change.context) }),
            )
          case "GrantAdded":
            return Effect.map(nameOf(change.grant.principal), (name) => words.grantAdded(name, change.grant))
          case "GrantRevoked":
            return Effect.flatMap(grants.get(change.grant), (grant) =>
              Effect.map(nameOf(grant.principal), (name) => words.grantRevoked(name, grant)),
            )
          case "PrincipalChanged":
            return Effect.map(principals.get(change.principal), (before) =>
              words.principalChanged(before, change.changes),
            )
        }
      }

      const ask = Effect.fnUntraced(function* (change: Change, { action, resource, rule }: NeedsApproval) {
        const caller = yield* Caller
        // A program asks for whoever has its token: one of the people who agree may be that person.
        const people = caller.principal.kind === "person" ? 1 : 2
        const others = (yield* principals.admins).filter(({ id }) => id !== caller.principal.id)
        if (others.length < people)
          return yield* new Forbidden({
            action,
            resource,
            rule,
            instead:
              people === 1
                ? "A second admin must agree to it, and there is none. Add one, or change the policy in the file."
                : "Two admins must agree to what a program asks for, and there are not two. Add one, or change the policy in the file.",
          })
        const kept = encode(change)
        const id = yield* transact(
          Effect.gen(function* () {
            const { id: decision } = yield* decisions.ask({
              kind: "approval",
              question: yield* question(caller.principal, change),
              askedBy: caller.principal,
              call: null,
              digest: digestOf([kept]),
              fingerprint: null,
              policy: caller.epoch,
              space: null,
              rule,
              people,
              milliseconds: approvalTime,
            })
            const row = {
              decision,
              principal: caller.principal.id,
              context: caller.context,
              token: caller.token,
              expiresAt: caller.expiresAt === null ? null : DateTime.formatIso(caller.expiresAt),
              change: kept,
              createdAt: DateTime.formatIso(yield* DateTime.now),
            }
            yield* Effect.orDie(sql`INSERT INTO rights_changes ${sql.insert(row)}`)
            return decision
          }),
        )
        return new WaitingChange({ state: "waiting", on: { kind: "decision", id } })
      })

      const orAsk = <A, E>(change: Change, made: Effect.Effect<A, E | NeedsApproval, Caller>) =>
        Effect.catchTag(made as Effect.Effect<A, NeedsApproval, Caller>, "NeedsApproval", (needed) =>
          ask(change, needed),
        ) as Effect.Effect<A | WaitingChange, Exclude<E, NeedsApproval> | Refused, Caller>

      /** The person who wanted it, with the same token, by their present rights. */
      const again = Effect.fnUntraced(function* ({ context, expiresAt, principal, token }: Row) {
        if (token !== null && !(yield* tokens.isAlive(token))) return undefined
        const by = { token, expiresAt: expiresAt === null ? null : DateTime.makeUnsafe(expiresAt) }
        return Option.getOrUndefined(yield* Effect.option(tokens.callerNow(principal, context, by)))
      })

      /**
       * In the name of whoever asked for it; the approval has its own event. A refusal is passed on with a way to record
       * it, for after the transaction, which undoes what it has written.
       */
      const makeApproved = Effect.fnUntraced(function* (change: Change, caller: Caller["Service"]) {
        const cause = { ...(yield* currentCause), actor: caller.principal.id }
        const asCaller = <A, E>(it: Effect.Effect<A, E, Caller>) =>
          causedBy(cause, Effect.provideService(it, Caller, caller))
        const made: Effect.Effect<unknown, { readonly message: string }, Caller> = Change.match(
          change,
          applied("given"),
        )
        yield* Effect.mapError(asCaller(made), (error) => ({
          message: error.message,
          record: error instanceof Forbidden ? asCaller(grants.recordDenial(error)) : Effect.void,
        }))
      })

      const resume: RightsChanges["Service"]["resume"] = Effect.fn("RightsChanges.resume")(function* (decision) {
        const bound = yield* decisions.bound(decision)
        // Removed and made in one transaction: a repeat finds nothing.
        const made = transact(
          Effect.gen(function* () {
            const rows = yield* Effect.orDie(
              sql<Row>`DELETE FROM rights_changes WHERE decision = ${decision} RETURNING *`,
            )
            const row = rows[0]
            if (row === undefined || bound?.verdict !== "approve" || bound.value !== null) return
            if (bound.digest !== digestOf([row.change])) return
            const caller = yield* again(row)
            if (caller === undefined)
              return yield* Effect.logWarning(`${decision}: the token that asked for it has ended; nothing was changed`)
            yield* makeApproved(decode(row.change), caller)
          }),
        )
        yield* Effect.catch(
          made,
          Effect.fnUntraced(function* ({ message, record }) {
            yield* Effect.logWarning(`${decision} was approved, but the change was not made: ${message}`)
            yield* record
            yield* Effect.orDie(sql`DELETE FROM rights_changes WHERE decision = ${decision}`)
          }),
        )
      })

      return RightsChanges.of({
        setAllowList: (toolset, context, tools) => {
          const change = Change.cases.AllowListSet.make({ toolset, context, tools })
          return orAsk(change, applied("none").AllowListSet(change))
        },
        resetAllowList: (toolset, context) => {
          const change = Change.cases.AllowListReset.make({ toolset, context })
          return orAsk(change, applied("none").AllowListReset(change))
        },
        addGrant: Effect.fnUntraced(function* (wanted) {
          const ref = wanted.principal
          const whose = yield* findOrRefuse(grants, principals.get(ref), { ref, action: "admin", of: "grants" })
          // By id: until somebody agrees, another principal may get the name.
          const change = Change.cases.GrantAdded.make({ grant: { ...wanted, principal: whose.id } })
          return yield* orAsk(change, applied("none").GrantAdded(change))
        }),
        revokeGrant: (grant) => {
          const change = Change.cases.GrantRevoked.make({ grant })
          return orAsk(change, applied("none").GrantRevoked(change))
        },
        changePrincipal: ({ id: principal }, changes) => {
          const change = Change.cases.PrincipalChanged.make({ principal, changes })
          return orAsk(change, applied("none").PrincipalChanged(change))
        },
        resume,
      })
    }),
  )

  static readonly reader = readerLayer({
    name: "rights-changes",
    atomic: false,
    kinds: ["decision.answered", "decision.expired", "decision.canceled"],
    concerns: ({ body }) => !("call" in body) || body.call === null,
    handle: Effect.fnUntraced(function* ([event]) {
      const changes = yield* RightsChanges
      if (
        event?.kind === "decision.answered" ||
        event?.kind === "decision.expired" ||
        event?.kind === "decision.canceled"
      )
        yield* changes.resume(event.body.decision)
    }),
  })
}

type Of<Tag extends Change["_tag"]> = Extract<Change, { readonly _tag: Tag }>
