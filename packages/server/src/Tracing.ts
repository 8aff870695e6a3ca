/**
 * Exports spans: run > step > call, under the trace id of what woke the run. To any OTLP collector, or to Sentry, which
 * accepts OTLP at its own address. Without a collector no spans are made.
 */
import { Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { Settings } from "./Settings.ts"
import { refuse } from "./store/StartError.ts"

interface Collector {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A DSN is https://KEY@HOST/PROJECT; undefined if it is not. Pure. */
export const sentryOf = (dsn: string): Collector | undefined => {
  const url = URL.parse(dsn)
  const parts = url?.pathname.split("/").filter((part) => part !== "") ?? []
  const project = parts.at(-1)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username === "" || project === undefined) return undefined
  const before = parts
    .slice(0, -1)
    .map((part) => `/${part}`)
    .join("")
  return {
    url: `${url.protocol}//${url.host}${before}/api/${project}/integration/otlp/v1/traces`,
    headers: { "x-sentry-auth": `sentry sentry_key=${url.username}` },
  }
}

const collectorOf = Effect.gen(function* () {
  const { otlpUrl, sentryDsn } = yield* Settings
  if (Option.isSome(otlpUrl)) return { url: `${otlpUrl.value.replace(/\/$/, "")}/v1/traces`, headers: {} }
  if (Option.isNone(sentryDsn)) return undefined
  return (
    sentryOf(Redacted.value(sentryDsn.value)) ??
    (yield* refuse("SENTRY_DSN is not a DSN. Give one such as https://KEY@o1.ingest.sentry.io/2, or unset it."))
  )
})

/** The spans of `effect/sql`, by what they are called. */
const ofDatabase = new Set(["sqlite", "postgresql", "sql.execute", "sql.transaction"])

/** Is never exported: what is inside it belongs to its parent. */
const unseen = (span: Tracer.Span): Tracer.Span => {
  const parent = Option.getOrUndefined(span.parent)
  return {
    _tag: "Span",
    name: span.name,
    spanId: parent?.spanId ?? span.spanId,
    traceId: span.traceId,
    parent: span.parent,
    annotations: span.annotations,
    status: span.status,
    attributes: span.attributes,
    links: span.links,
    sampled: span.sampled,
    kind: span.kind,
    end: () => {},
    attribute: () => {},
    event: () => {},
    addLinks: () => {},
  }
}

const withoutDatabase = Layer.effect(
  Tracer.Tracer,
  Effect.map(Tracer.Tracer, (inner) =>
    Tracer.make({
      ...(inner.context === undefined ? {} : { context: inner.context }),
      span: (options) => {
        const span = inner.span(options)
        return ofDatabase.has(options.name) ? unseen(span) : span
      },
    }),
  ),
)

const exporting = (collector: Collector, databaseSpans: "on" | "off") => {
  const exporter = OtlpTracer.layer({
    ...collector,
    resource: { serviceName: "stoa" },
    exportInterval: "1 second",
  }).pipe(Layer.provide(Layer.merge(OtlpSerialization.layerJson, FetchHttpClient.layer)))
  return databaseSpans === "on" ? exporter : Layer.provide(withoutDatabase, exporter)
}

export const tracing = Layer.unwrap(
  Effect.gen(function* () {
    const collector = yield* collectorOf
    const { databaseSpans } = yield* Settings
    return collector === undefined
      ? Layer.succeed(References.TracerEnabled, false)
      : Layer.merge(Layer.succeed(References.TracerEnabled, true), exporting(collector, databaseSpans))
  }),
)
