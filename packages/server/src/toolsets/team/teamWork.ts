/**
 * The tools of toolset `team` for work in worktrees: asking for a merge, and the merge that a person has reviewed and
 * approved.
 */
import { type Agent, Caller, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { Calls } from "../../calls/Calls.ts"
import type { Unshown } from "../../programs/Workspaces.ts"
import { Team } from "../../team/Team.ts"
import { catalogueOffer, integer, text } from "../toolsetTool.ts"

interface MergeInput {
  readonly name?: string
  readonly message?: string
  readonly unshown?: ReadonlyArray<string>
}

interface ApplyInput {
  readonly name: string
  readonly commit: string
  readonly diff: string
  readonly unshown?: ReadonlyArray<Unshown>
  readonly message?: string
}

/** A path as git writes it in a diff. */
const path = (description: string) => text(description, { minLength: 1, maxLength: 16_384 })
const message = (description: string) =>
  text(description, { minLength: 1, maxLength: 10_000, pattern: "^(?:[^\\p{Cc}]|[\\n\\t])+$" })

export const teamWork = Effect.fnUntraced(function* <E extends { readonly message: string }>(
  self: Effect.Effect<Agent, E, Caller>,
) {
  const calls = yield* Calls
  const team = yield* Team

  return [
    catalogueOffer("team", {
      name: "merge_work",
      description:
        "Ask a person to merge what a child, or you, changed in its worktree. They see the whole diff; you get the outcome as a message. Files that are not text cannot be shown: they are refused (status `unshown`) unless `unshown` names each of them.",
      effects: "outside",
      timeoutMs: 120_000,
      input: {
        properties: {
          name: text("A child of yours; without it, your own work", { minLength: 1, maxLength: 100 }),
          message: message("What the change is for: the message of its commit"),
          unshown: {
            type: "array",
            items: path("A path"),
            maxItems: 100,
            description: "The files to merge although nobody can read their changes, such as pictures",
          },
        },
      },
      run: Effect.fnUntraced(function* (input: MergeInput) {
        const me = yield* self
        const { agent, work } = yield* team.work(me, input.name)
        if (work.conflicts.length > 0) return { status: "conflict", name: agent.name, conflicts: work.conflicts }
        if (work.files.length === 0) return { status: "unchanged", name: agent.name }
        const unnamed = work.unshown.filter((file) => input.unshown?.includes(file.path) !== true)
        if (unnamed.length > 0) return { status: "unshown", name: agent.name, unshown: unnamed }
        const wanted: ApplyInput = {
          name: agent.name,
          commit: work.commit,
          ...(input.message === undefined ? {} : { message: input.message }),
          ...(work.unshown.length === 0 ? {} : { unshown: work.unshown }),
          diff: work.diff,
        }
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
      approvedOnce: true,
      description:
        "Merge the diff that is given, once a person has approved it. Do not call this yourself: merge_work calls it for you.",
      effects: "outside",
      timeoutMs: 120_000,
      requiresApproval: true,
      input: {
        properties: {
          name: text("Whose work it is", { minLength: 1, maxLength: 100 }),
          commit: text("The commit with it", { minLength: 40, maxLength: 64 }),
          message: message("The message of its commit"),
          unshown: {
            type: "array",
            items: {
              type: "object",
              properties: {
                path: path("Its path"),
                size: integer("Its bytes", { minimum: 0 }),
                sha256: { type: ["string", "null"], description: "Its digest; null: it is removed" },
              },
              required: ["path", "size", "sha256"],
              additionalProperties: false,
            },
            maxItems: 100,
            description: "The changed files that cannot be shown as text",
          },
          diff: text("What it changes", { contentMediaType: "text/x-diff" }),
        },
        required: ["name", "commit", "diff"],
      },
      run: Effect.fnUntraced(function* (input: ApplyInput) {
        const { diff, message, name, unshown = [] } = input
        const commit = yield* team.merge(yield* self, name, { commit: input.commit, diff, unshown }, message)
        return { status: "merged", name: input.name, commit }
      }),
    }),
  ]
})
