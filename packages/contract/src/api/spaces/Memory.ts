import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BadInput, Forbidden, Missing, StaleVersion, TooLarge, WrongState } from "../../Errors.ts"
import { MemoryId } from "../../Ids.ts"
import {
  MemoryChange,
  MemoryEmbedding,
  MemoryKind,
  MemoryNamespace,
  MemoryOffer,
  MemoryRecord,
  MemoryRight,
  MemoryShare,
  MemoryTag,
  MemoryVersion,
  NewMemory,
  OffersWaiting,
  OfferState,
} from "../../memory/Memory.ts"
import { MemoryDiff, MemoryImported, MemoryLine, maxLines } from "../../memory/MemoryLine.ts"
import { pageOfMany, pageQuery } from "../../Page.ts"
import { PrincipalRef } from "../../access/identity/Principal.ts"
import { problem } from "../../Problem.ts"
import { Idempotency, createdResponses } from "../guards.ts"

const ref = { id: MemoryId }
const share = { id: MemoryId, principal: PrincipalRef }
const versionQuery = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(1))
const writing = [
  problem(Missing),
  problem(StaleVersion),
  problem(WrongState),
  problem(TooLarge),
  problem(Forbidden),
] as const

export class MemoryApi extends HttpApiGroup.make("memory")
  .add(
    HttpApiEndpoint.get("list", "/memory", {
      query: {
        ...pageQuery,
        /** A search in plain words: best matches first. */
        q: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2000))),
        namespace: Schema.optionalKey(MemoryNamespace),
        kind: Schema.optionalKey(MemoryKind),
        key: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(512))),
        tag: Schema.optionalKey(MemoryTag),
        /** Another principal's records: those that are public or shared with the caller. */
        owner: Schema.optionalKey(PrincipalRef),
        deleted: Schema.optionalKey(Schema.Literals(["true", "false"])),
      },
      success: pageOfMany(MemoryRecord),
      error: [problem(Missing), problem(BadInput)],
    }),
    HttpApiEndpoint.post("put", "/memory", {
      payload: NewMemory,
      success: createdResponses(MemoryRecord),
      error: [...writing, problem(BadInput)],
    }).middleware(Idempotency),
    HttpApiEndpoint.get("export", "/memory/export", { query: pageQuery, success: pageOfMany(MemoryLine) }),
    HttpApiEndpoint.get("embedding", "/memory/embedding", { success: MemoryEmbedding }),
    HttpApiEndpoint.post("import", "/memory/import", {
      payload: Schema.Struct({ lines: Schema.Array(MemoryLine).check(Schema.isMaxLength(maxLines)) }),
      success: MemoryImported,
      error: [...writing, problem(BadInput)],
    }),
    HttpApiEndpoint.post("erase", "/memory/erase", {
      payload: Schema.Struct({
        /** The caller's own name, so that nothing is erased by mistake. */
        confirm: Schema.String,
        /** Only returns how many records would be erased. */
        dryRun: Schema.optionalKey(Schema.Boolean),
      }),
      success: Schema.Struct({ erased: Schema.Int }),
      error: problem(BadInput),
    }),
    HttpApiEndpoint.get("offers", "/memory/offers", {
      query: {
        ...pageQuery,
        /** By default, those that wait for an answer. */
        state: Schema.optionalKey(OfferState),
        /** An agent that the caller owns or administers; by default the caller. */
        for: Schema.optionalKey(PrincipalRef),
        /** Also how each begins: at most 2,000 characters. */
        text: Schema.optionalKey(Schema.Literals(["true", "false"])),
      },
      success: pageOfMany(MemoryOffer),
      error: [problem(Missing), problem(Forbidden)],
    }),
    HttpApiEndpoint.get("waiting", "/memory/offers/waiting", { success: OffersWaiting }),
    HttpApiEndpoint.put("answer", "/memory/:id/offer", {
      params: ref,
      payload: Schema.Struct({ taken: Schema.Boolean, for: Schema.optionalKey(PrincipalRef) }),
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(Forbidden)],
    }),
    HttpApiEndpoint.get("get", "/memory/:id", { params: ref, success: MemoryRecord, error: problem(Missing) }),
    HttpApiEndpoint.patch("change", "/memory/:id", {
      params: ref,
      payload: MemoryChange,
      success: MemoryRecord,
      error: writing,
    }),
    HttpApiEndpoint.delete("remove", "/memory/:id", {
      params: ref,
      /** With its history, and irrevocably. Otherwise it can be restored. */
      query: { permanent: Schema.optionalKey(Schema.Literals(["true", "false"])) },
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(WrongState), problem(Forbidden)],
    }),
    HttpApiEndpoint.post("restore", "/memory/:id/restore", { params: ref, success: MemoryRecord, error: writing }),
    HttpApiEndpoint.get("history", "/memory/:id/history", {
      params: ref,
      query: pageQuery,
      success: pageOfMany(MemoryVersion),
      error: problem(Missing),
    }),
    HttpApiEndpoint.get("diff", "/memory/:id/diff", {
      params: ref,
      /** Two versions; by default, what the newest changed. */
      query: { from: Schema.optionalKey(versionQuery), to: Schema.optionalKey(versionQuery) },
      success: MemoryDiff,
      error: [problem(Missing), problem(WrongState)],
    }),
    HttpApiEndpoint.post("revert", "/memory/:id/revert", {
      params: ref,
      payload: Schema.Struct({ version: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)) }),
      success: MemoryRecord,
      error: writing,
    }),
    HttpApiEndpoint.get("shares", "/memory/:id/shares", {
      params: ref,
      success: pageOfMany(MemoryShare),
      error: problem(Missing),
    }),
    HttpApiEndpoint.put("share", "/memory/:id/shares/:principal", {
      params: share,
      payload: Schema.Struct({ right: MemoryRight }),
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(WrongState), problem(Forbidden)],
    }),
    HttpApiEndpoint.delete("unshare", "/memory/:id/shares/:principal", {
      params: share,
      success: HttpApiSchema.NoContent,
      error: [problem(Missing), problem(Forbidden)],
    }),
  )
  .prefix("/api/v1") {}
