/**
 * The tools of toolset `team` for work in worktrees: asking for a merge, and the merge that a person has reviewed and
 * approved.
 */
import { type Agent, Caller, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Calls } from "../../calls/Calls.ts"
import { Team } from "../../team/Team.ts"
import { catalogueOffer, text } from "../toolsetTool.ts"

interface ApplyInput {
  readonly name: string
  readonly commit: string
  readonly diff: string
}

export const teamWork = Effect.fnUntraced(function* <E extends { readonly message: string }>(
  self: Effect.Effect<Agent, E, Caller>,
) {
  const calls = yield* Calls
  const team = yield* Team

  return [
    catalogueOffer("team", {
      name: "merge_work",
      description:
        "Ask a person to merge what a child, or you, changed in its worktree. They see the whole diff; you get the outcome as a message.",
      effects: "outside",
      timeoutMs: 120_000,
      input: {
        properties: { name: text("A child of yours; without it, your own work", { minLength: 1, maxLength: 100 }) },
      },
      run: Effect.fnUntraced(function* (input: { readonly name?: string }) {
        const me = yield* self
        const { agent, work } = yield* team.work(me, input.name)
        if (work.conflicts.length > 0) return { status: "conflict", name: agent.name, conflicts: work.conflicts }
        if (work.files.length === 0) return { status: "unchanged", name: agent.name }
        const wanted: ApplyInput = { name: agent.name, commit: work.commit, diff: work.diff }
        const asked = yield* calls
          .call({ tool: "apply_work", input: { ...wanted }, wait: 0 })
          .pipe(
            Effect.mapError(
              (error) => new WrongState({ detail: "message" in error ? error.message : "It was refused." }),
            ),
          )
        return { status: "asked", name: agent.name, files: work.files, call: asked.id }
      }),
    }),
    catalogueOffer("team", {
      name: "apply_work",
      description:
        "Merge the diff that is given, once a person has approved it. Do not call this yourself: merge_work calls it for you.",
      effects: "outside",
      timeoutMs: 120_000,
      requiresApproval: true,
      input: {
        properties: {
          name: text("Whose work it is", { minLength: 1, maxLength: 100 }),
          commit: text("The commit with it", { minLength: 40, maxLength: 64 }),
          diff: text("What it changes", { minLength: 1 }),
        },
        required: ["name", "commit", "diff"],
      },
      run: Effect.fnUntraced(function* (input: ApplyInput) {
        const commit = yield* team.merge(yield* self, input.name, input.commit, input.diff)
        return { status: "merged", name: input.name, commit }
      }),
    }),
  ]
})
