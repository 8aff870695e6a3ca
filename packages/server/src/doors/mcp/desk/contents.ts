/**
 * Resources, prompts and completions as a part of a view: those of toolsets under their own names, those of servers
 * under their names at this endpoint. The source of the contents decides who may read what; here names are only
 * translated.
 */
import { Caller } from "@stoa/contract"
import { MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import { InputRequired } from "../../../servers/InputRequired.ts"
import type { Contents, ContentsReader } from "../../../servers/contents/Contents.ts"
import type { ServerContents, UsableServer } from "../../../servers/contents/ServerContents.ts"
import { codes, Fault, invalidParams } from "../wire/Fault.ts"
import { isObject } from "../wire/message.ts"
import type {
  Asks,
  Content,
  Endpoint,
  EndpointView,
  Interest,
  JsonObject,
  Lacks,
  ClientLink,
  ListPage,
  LogLevel,
} from "./Desk.ts"
import { questionsOutward } from "./servers/foreignQuestions.ts"
import {
  namesOf,
  type ServerName,
  ownName,
  ownNames,
  ownUri,
  promptOutward,
  resourceOutward,
  resultOutward,
} from "./servers/names.ts"

const readerOf = (link: ClientLink): ContentsReader => ({
  client: {
    capabilities: link.capabilities,
    logLevel: link.logLevel,
    answers: link.answers,
    log: (entry) => link.log({ ...entry, level: entry.level as LogLevel }),
    letGo: () => {},
  },
  progress: link.progress,
  answers: link.answers,
  state: link.state,
})

/** The contents of servers at an endpoint, under their names there. */
export const serversAt = (
  contents: ServerContents["Service"],
  endpoint: Endpoint,
  servers: ReadonlyArray<UsableServer>,
): Contents | undefined => {
  if (endpoint.kind === "toolset") return undefined
  const whole = servers.filter((one) => one.whole)
  const has = (capability: string) => whole.some(({ capabilities }) => capabilities[capability] !== undefined)
  const alone = endpoint.kind === "server" ? endpoint.name : undefined
  const namesFor = (server: string) => (alone === undefined ? namesOf(server) : ownNames)
  const ofUri = (uri: string): ServerName | undefined =>
    alone === undefined ? ownUri(uri) : { server: alone, own: uri }
  /** A name that had to be cut is looked up in the list. */
  const ofPrompt = (caller: Caller["Service"], name: string): Effect.Effect<ServerName | undefined, MCPRefused> => {
    const own = alone === undefined ? ownName(name) : { server: alone, own: name }
    if (own !== undefined) return Effect.succeed(own)
    return Effect.map(contents.list(caller, "prompts"), (listed) => {
      const found = listed.find(({ item, server }) => namesOf(server).prompt(String(item["name"])) === name)
      return found && { server: found.server, own: String(found.item["name"]) }
    })
  }
  const list = (what: "resources" | "templates" | "prompts") =>
    Effect.gen(function* () {
      const listed = yield* contents.list(yield* Caller, what, alone)
      return listed.map(({ item, server }) =>
        what === "prompts" ? promptOutward(item, namesFor(server)) : resourceOutward(item, namesFor(server)),
      )
    })
  const outward = (server: string, found: JsonObject | InputRequired | undefined) => {
    if (found === undefined) return undefined
    if (!(found instanceof InputRequired)) return resultOutward(found, namesFor(server))
    const questions = questionsOutward(
      alone === undefined ? server : undefined,
      found.questions,
    ) as typeof found.questions
    return new InputRequired(questions, found.state, found.held, found.isTask)
  }
  const instructions = alone === undefined ? undefined : whole[0]?.instructions
  return {
    ...(instructions === undefined ? {} : { instructions }),
    logs: has("logging"),
    empty: [
      ...(has("resources") ? [] : (["resources"] as const)),
      ...(has("prompts") ? [] : (["prompts"] as const)),
      ...(has("completions") ? [] : (["complete"] as const)),
    ],
    resources: {
      list: list("resources"),
      templates: list("templates"),
      read: Effect.fnUntraced(function* (uri, reader) {
        const it = ofUri(uri)
        if (it === undefined) return undefined
        return outward(it.server, yield* contents.read(yield* Caller, it.server, it.own, reader))
      }),
      subscribe: Effect.fnUntraced(function* (uri) {
        const it = ofUri(uri)
        return it === undefined ? undefined : yield* contents.subscribe(yield* Caller, it.server, it.own)
      }),
      watch: Effect.fnUntraced(function* (uris, tell) {
        const caller = yield* Caller
        const byServer = Map.groupBy(
          uris.flatMap((uri) => ofUri(uri) ?? []),
          ({ server }) => server,
        )
        const honoured: Array<string> = []
        const stops: Array<() => void> = []
        for (const [server, those] of byServer) {
          const { uri } = namesFor(server)
          const own = those.map((it) => it.own)
          const stop = yield* contents.watch(caller, server, own, (changed) => tell(uri(changed)))
          if (stop === undefined) continue
          stops.push(stop)
          honoured.push(...own.map(uri))
        }
        return { honoured, stop: () => stops.forEach((stop) => stop()) }
      }),
    },
    prompts: {
      list: list("prompts"),
      get: Effect.fnUntraced(function* (name, given, reader) {
        const caller = yield* Caller
        const it = yield* ofPrompt(caller, name)
        if (it === undefined) return undefined
        return outward(it.server, yield* contents.prompt(caller, it.server, it.own, given, reader))
      }),
    },
    complete: Effect.fnUntraced(function* ({ argument, context, ref }: JsonObject) {
      const caller = yield* Caller
      const { name, uri } = ref as { readonly name?: unknown; readonly uri?: unknown }
      const it = typeof name === "string" ? yield* ofPrompt(caller, name) : ofUri(String(uri))
      if (it === undefined) return undefined
      const own = typeof name === "string" ? { name: it.own } : { uri: it.own }
      const params = { ref: { ...(ref as object), ...own }, argument, ...(context === undefined ? {} : { context }) }
      return yield* contents.complete(caller, it.server, params)
    }),
    onChange: (caller, hear) => contents.onChange(caller, alone, hear),
  }
}

/** A refusal because the client lacks capabilities. */
const lacksOf = ({ code, data }: MCPRefused): Lacks | undefined => {
  const capabilities = code === codes.missingCapability && isObject(data) ? data["requiredCapabilities"] : undefined
  return isObject(capabilities) ? { _tag: "Lacks", capabilities } : undefined
}
const faultOf = ({ code, data, message }: MCPRefused): Fault =>
  // Codes of the transport are between a server and the house.
  new Fault(code <= -32_020 && code > -32_100 ? codes.internal : code, message, data)

type ContentOutcome = Content | Asks | Lacks | undefined
type Found<A> = Effect.Effect<A | undefined, MCPRefused, Caller>

/** The first one that has it. */
const first = Effect.fnUntraced(function* <A>(those: ReadonlyArray<Found<A>>) {
  for (const one of those) {
    const found = yield* one
    if (found !== undefined) return found
  }
  return undefined
})

const answerOf = (found: JsonObject | InputRequired | undefined): ContentOutcome => {
  if (found === undefined) return undefined
  return found instanceof InputRequired
    ? { _tag: "Asks", requests: found.questions, state: found.state }
    : { _tag: "Content", result: found }
}

const listed =
  (those: ReadonlyArray<Effect.Effect<ReadonlyArray<JsonObject>, Fault>>) =>
  (cursor: string | undefined): Effect.Effect<ListPage, Fault> =>
    // Everything is on the first page: there is no other.
    cursor === undefined
      ? Effect.map(Effect.all(those, { concurrency: "unbounded" }), (items) => ({ items: items.flat() }))
      : Effect.fail(invalidParams("No such cursor"))

const watchAll = (
  caller: Caller["Service"],
  all: ReadonlyArray<Contents>,
  inner: EndpointView["watch"],
): EndpointView["watch"] =>
  Effect.fnUntraced(function* (interest, tell) {
    const others = yield* inner(interest, tell)
    const stops = [others.stop]
    const uris = [...others.honoured.uris]
    const told = { prompts: others.honoured.prompts, resources: others.honoured.resources }
    for (const { onChange, prompts, resources } of all) {
      if (resources !== undefined && interest.uris.length > 0) {
        const tellOf = (uri: string) => Effect.sync(() => tell({ kind: "resource", uri }))
        const mine = yield* Effect.provideService(resources.watch(interest.uris, tellOf), Caller, caller)
        uris.push(...mine.honoured)
        stops.push(mine.stop)
      }
      if (onChange === undefined) continue
      told.prompts ||= interest.prompts && prompts !== undefined
      told.resources ||= interest.resources && resources !== undefined
      stops.push(onChange(caller, (what) => (interest[what] ? tell({ kind: what }) : undefined)))
    }
    const honoured: Interest = { ...others.honoured, ...told, uris }
    return { honoured, stop: () => stops.forEach((stop) => stop()) }
  })

/** A view with these contents; if the first of them has a thing, the next is not asked. */
export const withContents = (
  caller: Caller["Service"],
  all: ReadonlyArray<Contents>,
  view: EndpointView,
): EndpointView => {
  if (all.length === 0) return view
  const as = <A, E>(it: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> => Effect.provideService(it, Caller, caller)
  const page = (list: Effect.Effect<ReadonlyArray<JsonObject>, MCPRefused, Caller>) =>
    Effect.mapError(as(list), faultOf)
  const resources = all.flatMap((one) => one.resources ?? [])
  const prompts = all.flatMap((one) => one.prompts ?? [])
  const complete = all.flatMap((one) => one.complete ?? [])
  const serves = (what: "resources" | "prompts" | "complete") =>
    all.some((one) => one[what] !== undefined && one.empty?.includes(what) !== true)
  const answered = (those: ReadonlyArray<Found<JsonObject | InputRequired>>): Effect.Effect<ContentOutcome, Fault> =>
    Effect.matchEffect(as(first(those)), {
      onSuccess: (found) => Effect.succeed(answerOf(found)),
      onFailure: (refused): Effect.Effect<ContentOutcome, Fault> => {
        const lacks = lacksOf(refused)
        return lacks === undefined ? Effect.fail(faultOf(refused)) : Effect.succeed(lacks)
      },
    })
  const instructions = all.find((one) => one.instructions !== undefined)?.instructions
  return {
    ...view,
    ...(instructions === undefined ? {} : { instructions }),
    logs: view.logs || all.some(({ logs }) => logs === true),
    ...(serves("resources") && {
      resources: {
        list: listed(resources.map(({ list }) => page(list))),
        templates: listed(resources.flatMap(({ templates }) => (templates === undefined ? [] : [page(templates)]))),
        read: (uri, link) => answered(resources.map(({ read }) => read(uri, readerOf(link)))),
        subscribable: true,
        subscribe: (uri) =>
          Effect.map(
            Effect.mapError(as(first(resources.map(({ subscribe }) => subscribe(uri)))), faultOf),
            (found) => found !== undefined,
          ),
      },
    }),
    ...(serves("prompts") && {
      prompts: {
        list: listed(prompts.map(({ list }) => page(list))),
        get: (name, given, link) =>
          Effect.filterOrFail(
            answered(prompts.map(({ get }) => get(name, given, readerOf(link)))),
            (it) => it !== undefined,
            () => invalidParams(`Unknown prompt: ${name}`),
          ),
      },
    }),
    ...(serves("complete") && {
      complete: (params) =>
        Effect.filterOrFail(
          Effect.mapError(as(first(complete.map((one) => one(params)))), faultOf),
          (it) => it !== undefined,
          () => invalidParams("ref names nothing that is here"),
        ),
    }),
    watch: watchAll(caller, all, view.watch),
  }
}
