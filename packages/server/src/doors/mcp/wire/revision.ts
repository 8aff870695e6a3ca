/**
 * The protocol's revisions, and what each of them supports. Those up to 2025-11-25 begin with `initialize`; the newest
 * does not.
 */

const oldRevisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
export type OldRevision = (typeof oldRevisions)[number]
export const newRevision = "2026-07-28"
export type Revision = OldRevision | typeof newRevision

export const servedRevisions: ReadonlyArray<Revision> = [newRevision, ...oldRevisions.toReversed()]

export const isOldRevision = (text: unknown): text is OldRevision =>
  (oldRevisions as ReadonlyArray<unknown>).includes(text)

/** The revision without sessions or any later one: a client that names it is not sending `initialize`. */
export const isNewEra = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= newRevision

/** The revision of a request that names none and has no session. */
export const assumedRevision: OldRevision = "2025-03-26"

/** A supported revision is echoed (S2-77); otherwise the newest one with a handshake is chosen. */
export const negotiate = (asked: string): OldRevision => (isOldRevision(asked) ? asked : "2025-11-25")

/** What a revision supports. Dates compare as text. */
const understands = (revision: Revision) => ({
  batches: revision <= "2025-03-26",
  audio: revision >= "2025-03-26",
  annotations: revision >= "2025-03-26",
  completions: revision >= "2025-03-26",
  progressMessage: revision >= "2025-03-26",
  /** Titles, `_meta` on things, output schemas, structured content, resource links. */
  structured: revision >= "2025-06-18",
  elicitation: revision >= "2025-06-18",
  icons: revision >= "2025-11-25",
  urlElicitation: revision >= "2025-11-25",
  /** Forms with multiple choice, titled choices, and default values. */
  richForms: revision >= "2025-11-25",
  /** A stream begins with an empty event to resume from. Older clients cannot handle it. */
  priming: revision === "2025-11-25",
  /** `resultType`, any JSON as structured content, cache hints. */
  stateless: revision === newRevision,
})
export type RevisionFeatures = ReturnType<typeof understands>

const table = new Map<Revision, RevisionFeatures>(servedRevisions.map((it) => [it, understands(it)]))
export const featuresOf = (revision: Revision): RevisionFeatures => table.get(revision)!
