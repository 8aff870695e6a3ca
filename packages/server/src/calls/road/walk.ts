/** The steps before anything is written or run: find, judge, validate, and whether somebody must be asked. */
import {
  type Caller,
  type Judgement,
  ToolAuthorizationError,
  ToolValidationError,
  type Visibility,
} from "@stoa/contract"
import { type Call as Begun, CurrentToolsConfig, type Identity, IdentityPort, Road } from "@stoa/tools"
import { Effect } from "effect"
import { Limits } from "../../access/limits/Limits.ts"
import { Pauses, pausedBy, pausedMessage } from "../../access/limits/Pauses.ts"
import { Approvals } from "../../decisions/Approvals.ts"
import { goOn } from "../../store/AtHand.ts"
import { Catalogue, type Face, shelfOf } from "../catalogue/Catalogue.ts"
import { visibilityOf } from "./posting.ts"
import type { Listed } from "../catalogue/Traits.ts"

/** How far a call came: what its row says, however it ends. */
export interface Reached {
  tool: string
  rule: string | null
  fingerprint: string | null
  visibility: Visibility
  customUI: string | null
}

export const reachedNothing = (tool: string): Reached => ({
  tool,
  rule: null,
  fingerprint: null,
  visibility: "hidden",
  customUI: null,
})

export interface Walked {
  readonly listed: Listed
  readonly call: Begun
  readonly asks: boolean
}

export const makeWalk = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const pauses = yield* Pauses
  const limits = yield* Limits
  const approvals = yield* Approvals
  const config = yield* CurrentToolsConfig

  /** What the caller's grants say, told to whoever wants to know by which rule. */
  const identityOf = (caller: Caller["Service"], told: (judgement: Judgement) => void = () => {}): Identity => ({
    authorize: (_, resource) =>
      goOn(catalogue.judge(caller, resource.slice("tools/".length)), (judgement) => {
        told(judgement)
        return judgement.verdict === "deny" ? Effect.fail(judgement) : Effect.void
      }),
  })

  // Nothing here waits, as a rule: view, pauses, limits and judgement are at hand while rights and catalogue stand.
  return Effect.fnUntraced(function* (
    caller: Caller["Service"],
    begun: Begun,
    options: { readonly face: Face; readonly hasSpace: boolean; readonly counted: boolean },
    reached: Reached,
  ) {
    const stopped = (subject: string, toolName: string) => {
      reached.rule = `paused:${subject}`
      return new ToolAuthorizationError({
        message: pausedMessage(toolName, subject, caller.principal),
        toolName,
        agentId: caller.principal.id,
      })
    }
    const view = yield* catalogue.view(caller, options.face)
    const stops = yield* pauses.at(caller.epoch)
    const listed = view.get(begun.toolName)
    if (listed === undefined) {
      // A paused server has no tools; whoever asks for one is told why.
      const server = `servers/${begun.toolName.split(/\/|__/)[0]!.toLowerCase()}`
      if (stops.has(server)) return yield* stopped(server, begun.toolName)
      return yield* Effect.provideService(Road.missing(shelfOf(view), begun), IdentityPort, identityOf(caller))
    }
    const { tool } = listed
    const { name } = tool.definition
    // From here on the tool has one name, whichever of its two it was called by.
    const named = begun.toolName === name ? begun : { ...begun, toolName: name }
    reached.tool = name
    reached.fingerprint = tool.fingerprint
    reached.visibility = visibilityOf(listed)
    reached.customUI = tool.definition.customUI ?? null
    const { principal } = caller
    const paused = pausedBy(stops, { principal, tool: name, server: listed.server })
    if (paused !== undefined) return yield* stopped(paused, name)
    if (options.counted) yield* limits.take(caller, `tools/${name}`)
    let judged: Judgement | undefined
    const identity = identityOf(caller, (judgement) => {
      judged = judgement
      reached.rule = judgement.rule
    })
    yield* Road.judgeBy(identity, config, tool, named)
    const call = { ...named, arguments: yield* Road.validate(tool, named) }
    if (listed.interactive === true && !options.hasSpace)
      return yield* new ToolValidationError({
        message: `People act on "${name}", so it needs a space where they see it. Call it again with "space"`,
        toolName: name,
        parameter: "space",
        expected: "a space you are in",
        received: "none",
      })
    const needed = judged?.verdict === "ask" || Road.needsApprovalBy(config, tool)
    const standing =
      needed && listed.approval?.people !== 2
        ? yield* approvals.standing(principal.id, name, tool.fingerprint)
        : undefined
    if (standing !== undefined) reached.rule = `approval:${standing.id}`
    // S1-18: it runs, and its caller alone has the result.
    if (reached.visibility !== "hidden" && !options.hasSpace)
      yield* Effect.logWarning(
        `${name} is visible, but ${principal.name} called it in no space: nobody is shown its result`,
      )
    const walked: Walked = { listed, call, asks: needed && standing === undefined }
    return walked
  })
})
