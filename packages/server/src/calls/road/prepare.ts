/** The steps before anything is written or run: find, judge, validate. Each adds what it found out. */
import { type Judgement, ToolAuthorizationError, ToolNotFoundError, ToolValidationError } from "@stoa/contract"
import { CurrentToolsConfig, type Identity, Road } from "@stoa/tools"
import { Effect, Option } from "effect"
import { Limits } from "../../access/limits/Limits.ts"
import {
  isServerPaused,
  type Paused,
  Pauses,
  pausedBy,
  pausedMessage,
  pauseRule,
  serverSubject,
} from "../../access/limits/Pauses.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { ServerContents } from "../../servers/contents/ServerContents.ts"
import { Servers } from "../../servers/Servers.ts"
import { Wallets } from "../../access/identity/wallets/Wallets.ts"
import { fillWallets } from "../catalogue/ForModel.ts"
import { Catalogue, type CallerTools } from "../catalogue/Catalogue.ts"
import type { Attempt } from "./attempt.ts"
import { Budget } from "./Budget.ts"

export const makePrepare = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const pauses = yield* Pauses
  const limits = yield* Limits
  const config = yield* CurrentToolsConfig
  const contents = yield* ServerContents
  const budget = yield* Budget
  const grants = yield* Grants
  const servers = yield* Servers
  const wallets = yield* Wallets

  const paused = (attempt: Attempt, subject: string, stops: Paused): ToolAuthorizationError => {
    attempt.rule = pauseRule(subject)
    return new ToolAuthorizationError({
      message: pausedMessage(attempt.tool, subject, attempt.caller.principal, stops),
      toolName: attempt.tool,
      agentId: attempt.principal,
      rule: attempt.rule,
    })
  }

  /** A held tool is in nobody's catalogue: whoever may accept it is told why. */
  const held = Effect.fnUntraced(function* ({ caller, tool }: Attempt, ref: string) {
    if (ref === tool || (yield* grants.judge(caller, "admin", `servers/${ref}`)).verdict !== "allow") return
    const server = Option.getOrUndefined(yield* Effect.option(servers.get(ref)))
    const name = tool.slice(ref.length).replace(/^(?:\/|__)/, "")
    if (server?.held.includes(name) !== true) return
    return yield* new ToolNotFoundError({
      message: `"${name}" of the MCP server "${server.name}" is held: its definition has changed, and it cannot be called until somebody accepts it.`,
      toolName: tool,
    })
  })

  /** Says what there is instead. A paused server has no tools; a caller that may use it is told about the pause. */
  const missing = Effect.fnUntraced(function* (attempt: Attempt, view: CallerTools, stops: Paused) {
    const server = attempt.tool.split(/\/|__/)[0]!
    if (isServerPaused(stops, server) && (yield* contents.servers(attempt.caller, server)).length > 0)
      return yield* paused(attempt, serverSubject(server), stops)
    yield* held(attempt, server)
    const identity: Identity = {
      authorize: (_, resource) => catalogue.judge(attempt.caller, resource.slice("tools/".length)),
    }
    return yield* Road.find(view, attempt, identity)
  })

  /** Which rule refused, and who can change that. */
  const explained = (error: ToolAuthorizationError, { caller, rule }: Attempt): ToolAuthorizationError => {
    const next =
      rule === "silence"
        ? `No rule allows it; an admin can grant ${caller.principal.name} execute on tools/${error.toolName}`
        : `The rule ${rule ?? "of this house"} refuses it; an admin can change it`
    return new ToolAuthorizationError({
      ...error,
      message: `${error.message}. ${next}`,
      ...(rule === null ? {} : { rule }),
    })
  }

  /** A priced tool is paid for when it is about to run, not when a person is asked about it. */
  const pay = Effect.fnUntraced(function* (attempt: Attempt) {
    const micros = attempt.found?.priceMicros
    if (micros === undefined) return
    const { principal, run } = attempt
    yield* Effect.catch(budget.pay({ principal, run, micros }), (why) => {
      attempt.rule = "budget"
      return Effect.fail(
        new ToolAuthorizationError({
          message: `"${attempt.tool}" costs ${micros / 1e6} USD, and was not run: ${why}`,
          toolName: attempt.tool,
          agentId: attempt.principal,
          rule: attempt.rule,
        }),
      )
    })
  })

  // Nothing here waits, as a rule: view, pauses, limits and judgement are at hand while rights and catalogue stand.
  const walk = Effect.fnUntraced(function* (attempt: Attempt, options: { readonly counted: boolean }) {
    const { caller } = attempt
    const view = yield* catalogue.view(caller, attempt.scope)
    const stops = yield* pauses.at(caller.epoch)
    const found = view.find(attempt.tool) ?? (yield* missing(attempt, view, stops))
    const { definition } = found.tool
    // From here on the tool has one name, whichever of its two names was used.
    attempt.tool = definition.name
    attempt.found = found
    const stop = pausedBy(stops, { principal: caller.principal, tool: definition.name, server: found.server })
    const judgement: Judgement = yield* catalogue.judge(caller, definition.name)
    const judged = () => {
      attempt.rule = judgement.rule
      return Effect.mapError(Road.judge(config, attempt, judgement), (error) => explained(error, attempt))
    }
    if (stop !== undefined) {
      // Whoever may not use the tool is not told of its pause.
      yield* judged()
      return yield* paused(attempt, stop, stops)
    }
    if (options.counted) yield* limits.take(caller, `tools/${definition.name}`, 1, found.countedAs)
    yield* judged()

    if (attempt.run !== null && found.wallets !== undefined)
      attempt.input = fillWallets(found, attempt.input, (yield* wallets.behind(caller))?.wallet ?? null)
    attempt.input = yield* Road.validate(found.tool, attempt)
    if (found.interactive === true && attempt.space === null)
      return yield* new ToolValidationError({
        message: `"${definition.name}" is answered by people, so it needs a space. Call it with "space".`,
        toolName: definition.name,
        parameter: "space",
        expected: "a space you are in",
        received: "none",
      })
    /** Whether the judgement, the tool or its risk requires asking a person. */
    const mustAsk = Road.mustAsk(config, found.tool, judgement)
    return { found, mustAsk }
  })
  return { prepare: walk, pay }
})
export type Prepare = Effect.Success<typeof makePrepare>
