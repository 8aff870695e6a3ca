/** Listing and reading questions, for principals who may see them. */
import { type Caller, type DecisionState, Missing, type PageQuery, type Principal } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../access/rights/Grants.ts"
import { type BasicViewer, ownViewer, type Viewer } from "../access/rights/Viewer.ts"
import { pageFrom, pageOf } from "../store/Pages.ts"
import type { makeEligibility } from "./electorate/eligibility.ts"
import { optionsOf } from "./answerOptions.ts"
import { decisionFrom, type FullRow, isNamed, makeRows } from "./rows.ts"

export type DecisionQuery = PageQuery & {
  readonly state?: DecisionState
  readonly for?: "me"
  readonly begins?: string
}

/** Who looks at decisions under a token. */
export type DecisionReader = Pick<Viewer, "principal" | "context" | "all" | "judge">
/** Who looks at one by its link. */
interface LinkReader extends BasicViewer {
  readonly byLink: true
}

/** Whether somebody could call a tool themselves, as the room that has the tools says. */
export type MayCall = (who: Pick<DecisionReader, "principal" | "context">, tool: string) => Effect.Effect<boolean>

/** Nobody has so many that a higher count would tell more. */
const maxCounted = 1000

export const makeDecisionReads = Effect.fnUntraced(function* (eligibility: Effect.Success<typeof makeEligibility>) {
  const sql = yield* SqlClient.SqlClient
  const grants = yield* Grants
  const rows = yield* makeRows
  let ofTools: MayCall = () => Effect.succeed(false)

  /** Whether somebody may call the tool of a question themselves: whoever may not cannot say what it is given. */
  const mayCall = (reader: DecisionReader, tool: string | null): Effect.Effect<boolean> =>
    tool === null ? Effect.succeed(false) : ofTools(reader, tool)

  const shown = Effect.fnUntraced(function* (page: ReadonlyArray<FullRow>, viewer?: DecisionReader | LinkReader) {
    const able = yield* eligibility.mayAnswer(page)
    const approved = yield* rows.approvers(page)
    // Many questions of a page are about few tools.
    const callable = new Map<string | null, boolean>()
    const may = Effect.fnUntraced(function* (reader: DecisionReader, tool: string | null) {
      const known = callable.get(tool)
      if (known !== undefined) return known
      const answer = yield* mayCall(reader, tool)
      callable.set(tool, answer)
      return answer
    })
    return yield* Effect.forEach(
      page,
      Effect.fnUntraced(function* (one) {
        const mayAnswer = able.get(one.id) ?? []
        const approvals = (approved.get(one.id) ?? []).map(({ principal }) => principal)
        if (viewer === undefined || one.kind !== "approval" || !mayAnswer.includes(viewer.principal.id))
          return decisionFrom(one, { mayAnswer, approvals })
        const byLink = "byLink" in viewer
        const mayAlways = viewer.all || isNamed(one, viewer.principal.id)
        return decisionFrom(one, {
          mayAnswer,
          approvals,
          options: optionsOf(one, { byLink, mayAlways, mayCall: !byLink && (yield* may(viewer, one.tool)) }),
        })
      }),
    )
  })
  const show = (one: FullRow) => Effect.map(shown([one]), ([decision]) => decision!)
  /** As the bearer of a link sees it: with what a link may say, whatever else the person may. */
  const showByLink = (one: FullRow, principal: Principal) =>
    Effect.map(shown([one], { ...ownViewer(principal), byLink: true }), ([decision]) => decision!)

  /** The caller with its present rights: it may have waited. */
  const readerOf = ({ context, principal }: Caller["Service"]): Effect.Effect<DecisionReader, Missing> =>
    grants.viewerNow(principal.id, context, "decisions")

  /** A question as far as a viewer may see it; with `lockRead`, locked until the end of the transaction. */
  const find = Effect.fnUntraced(function* (id: string, reader: DecisionReader, lock = sql``) {
    const may = reader.all ? sql`1 = 1` : yield* eligibility.seen(reader)
    const found = yield* Effect.orDie(
      sql<FullRow>`SELECT ${rows.full} FROM decisions WHERE id = ${id} AND ${may} ${lock}`,
    )
    return found[0]
  })

  const seenBy = (id: string, by: Caller["Service"]) =>
    Effect.flatMap(readerOf(by), (reader) => find(id, reader)).pipe(
      Effect.map((found) => found !== undefined),
      Effect.orElseSucceed(() => false),
    )

  const get = Effect.fn("Decisions.get")(function* (id: string, viewer: DecisionReader) {
    const found = yield* find(id, viewer)
    if (found === undefined) return yield* new Missing({ noun: "decision", ref: id })
    return (yield* shown([found], viewer))[0]!
  })

  /**
   * The open ones that wait for this person, oldest first; without those they have approved and that wait for a second
   * person.
   */
  const waitingFor = Effect.fnUntraced(function* (viewer: DecisionReader, query: DecisionQuery) {
    const { all, principal } = viewer
    if (principal.kind !== "person") return { items: [], next: null, count: 0 }
    const { after, limit } = pageFrom(query)
    const may = all ? sql`1 = 1` : yield* eligibility.seen(viewer)
    const open = yield* Effect.orDie(
      sql<FullRow>`SELECT ${rows.full} FROM decisions WHERE state = 'open' AND ${may} ORDER BY id LIMIT ${maxCounted}`,
    )
    const able = yield* eligibility.mayAnswer(open)
    const approved = yield* rows.approvers(open)
    const mine = open.filter(
      ({ id }) =>
        able.get(id)?.includes(principal.id) === true &&
        approved.get(id)?.some((one) => one.principal === principal.id) !== true,
    )
    const page = pageOf(
      mine.filter(({ id }) => id > after && id.startsWith(query.begins ?? "")).slice(0, limit + 1),
      limit,
      (one) => one,
      (one) => one.id,
    )
    return { items: yield* shown(page.items, viewer), next: page.next, count: mine.length }
  })

  const list = Effect.fn("Decisions.list")(function* (viewer: DecisionReader, query: DecisionQuery) {
    if (query.for === "me") return yield* waitingFor(viewer, query)
    const { after, limit } = pageFrom(query)
    const where = [sql`id > ${after}`]
    // After hex digits and hyphens comes g.
    if (query.begins !== undefined) where.push(sql`id >= ${query.begins} AND id < ${`${query.begins}g`}`)
    if (query.state !== undefined) where.push(sql`state = ${query.state}`)
    if (!viewer.all) where.push(yield* eligibility.seen(viewer))
    const found = yield* Effect.orDie(
      sql<FullRow>`SELECT ${rows.full} FROM decisions WHERE ${sql.and(where)} ORDER BY id LIMIT ${limit + 1}`,
    )
    const page = pageOf(
      found,
      limit,
      (one) => one,
      (one) => one.id,
    )
    return { items: yield* shown(page.items, viewer), next: page.next }
  })

  return {
    learn: (mayCallNow: MayCall) => void (ofTools = mayCallNow),
    show,
    showByLink,
    mayCall,
    readerOf,
    find,
    seenBy,
    get,
    list,
  }
})
