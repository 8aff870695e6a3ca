/** What seed 002's tools share: names, descriptions, inputs and outputs. Everything here is snake_case (X-47). */
import { type Caller, EngramType, type MemoryId, type MemoryRecord, Missing } from "@stoa/contract"
import { DateTime } from "effect"
import type { Transaction } from "../../store/journal/Journal.ts"
import {
  type ToolForm,
  integer,
  lineOfText,
  type CatalogueOffer,
  catalogueOffer,
  type Run,
  text,
} from "../toolsetTool.ts"

/**
 * The seed's four kinds of tool (S2-63), with every annotation stated: a client would assume something else (S2-68).
 */
const annotationsOf = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  "idempotent write": { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
} as const

type Of<A, R> = Omit<ToolForm, "annotations"> & { readonly run: Run<A, R> }

/** The wallet fields of a tool: in a run, the house fills them in. */
const walletsOf = ({ input }: Pick<ToolForm, "input">) =>
  "wallet_address" in input.properties ? { wallets: ["wallet_address"] } : {}

export const reading = <A>(tool: Of<A, Caller>): CatalogueOffer =>
  catalogueOffer<A>("engrams", { ...tool, ...walletsOf(tool), effects: "none", annotations: annotationsOf.read })

export const writing = <A>(
  how: Exclude<keyof typeof annotationsOf, "read">,
  tool: Of<A, Caller | Transaction>,
): CatalogueOffer =>
  catalogueOffer<A>("engrams", { ...tool, ...walletsOf(tool), effects: "store", annotations: annotationsOf[how] })

/** The address of a wallet; the house knows whose it is. */
export const wallet = (description: string) => text(description, { minLength: 1, maxLength: 128 })
/**
 * Dots by convention, domain first. Any text without control characters is valid, including slashes and percent signs
 * (S2-32).
 */
export const key = (description: string) => lineOfText(description, 512)
export const engramId = (description: string) => text(description, { minLength: 1, maxLength: 64 })
export const engramType = (types: ReadonlyArray<EngramType>, description: string) =>
  text(description, { enum: [...types] })
export const types = EngramType.literals
/** Limit and offset of a page. */
export const page = (usual: number) => ({
  limit: integer(`Max results (default ${usual})`, { minimum: 1, maximum: 100, default: usual }),
  offset: integer("Pagination offset", { minimum: 0, maximum: 10_000, default: 0 }),
})

/** An engram's id is its record's id with the seed's own prefix. */
export const engramIdOf = (id: MemoryId): string => `eng_${id.slice(id.indexOf("_") + 1)}`
export const recordIdOf = (given: string): MemoryId => given.replace(/^eng_/, "mem_") as MemoryId

export const missingEngram = (given: string) => new Missing({ noun: "engram", ref: given })

/** Content is JSON text; plain text written through another toolset is returned as a JSON string. */
const contentOf = ({ content, mediaType }: MemoryRecord): string =>
  mediaType === "application/json" ? content : JSON.stringify(content)

/** An engram's content says that it is JSON; memory refuses what then is not (S2-11). */
export const asJson = (content: string) => ({ content, mediaType: "application/json" })

export const engramView = (record: MemoryRecord, address: string | undefined) => ({
  id: engramIdOf(record.id),
  wallet_address: address ?? null,
  engram_type: record.kind,
  key: record.key,
  content: contentOf(record),
  tags: record.tags,
  is_public: record.public,
  is_pinned: record.pinned,
  version: record.version,
  created_at: DateTime.formatIso(record.createdAt),
  updated_at: DateTime.formatIso(record.updatedAt),
})
