/** What toolsets have beside tools, as a part of a face: put around whatever the face has of servers. */
import { Caller } from "@stoa/contract"
import type { MCPRefused } from "@stoa/tools"
import { Effect } from "effect"
import type { Beside } from "../../../toolsets/Beside.ts"
import { Asked, type McpAsker } from "../../../upstreams/Asked.ts"
import type { Asks, Content, Face, Interest, JsonObject, Lacks, Line, Listed } from "./Desk.ts"
import { Fault, invalidParams } from "../wire/Fault.ts"
import { isObject } from "../wire/message.ts"
import { clientOf, lacksOf } from "./upstreamFace.ts"

type Said = JsonObject | Asked | undefined
type Answer = Content | Asks | Lacks | undefined

/** Asks the first that knows of it, and the client whatever that one wants to know. */
const askEach = (asks: ReadonlyArray<Effect.Effect<Said, MCPRefused, Caller>>) =>
  Effect.gen(function* () {
    let said: Said
    for (const ask of asks) if ((said = yield* ask) !== undefined) break
    const answer: Answer =
      said === undefined
        ? undefined
        : said instanceof Asked
          ? { _tag: "Asks", requests: said.questions, state: { own: said.state } }
          : { _tag: "Content", result: said }
    return answer
  }).pipe(
    Effect.catch((refused): Effect.Effect<Answer, Fault> => {
      const lacks = lacksOf(refused)
      return lacks === undefined ? Effect.fail(faultOf(refused)) : Effect.succeed(lacks)
    }),
  )

const askerOf = (line: Line): McpAsker => ({
  client: { ...clientOf(line), answers: line.answers },
  answered:
    isObject(line.state) && "own" in line.state
      ? { answers: line.answers, state: line.state["own"] as Asked["state"] }
      : undefined,
})

const faultOf = ({ code, data, message }: MCPRefused): Fault => new Fault(code, message, data)

const some = <K extends keyof Beside>(besides: ReadonlyArray<Beside>, key: K): ReadonlyArray<NonNullable<Beside[K]>> =>
  besides.flatMap((one) => one[key] ?? [])

/** The first page has them all, before what servers have; further pages are servers'. */
const listed = (
  own: ReadonlyArray<Effect.Effect<ReadonlyArray<JsonObject>>>,
  servers: ((from: string | undefined) => Effect.Effect<Listed, Fault>) | undefined,
) => {
  const others = servers ?? ((from) => (from === undefined ? Effect.succeed({ items: [] }) : noCursor))
  return (from: string | undefined): Effect.Effect<Listed, Fault> =>
    from === undefined
      ? Effect.zipWith(
          Effect.forEach(own, (one) => one),
          others(from),
          (mine, more) => ({
            ...more,
            items: [...mine.flat(), ...more.items],
          }),
        )
      : others(from)
}
const noCursor = Effect.fail(invalidParams("No such cursor"))

const watchAll = (caller: Caller["Service"], besides: ReadonlyArray<Beside>, inner: Face["watch"]): Face["watch"] =>
  Effect.fnUntraced(function* (interest, tell) {
    const others = yield* inner(interest, tell)
    const stops = [others.stop]
    const uris = [...others.honoured.uris]
    const told = { prompts: others.honoured.prompts, resources: others.honoured.resources }
    for (const { onChange, prompts, resources } of besides) {
      if (resources !== undefined && interest.uris.length > 0) {
        const tellOf = (uri: string) => tell({ kind: "resource", uri })
        const mine = yield* Effect.provideService(resources.watch(interest.uris, tellOf), Caller, caller)
        uris.push(...mine.honoured)
        stops.push(mine.stop)
      }
      if (onChange === undefined) continue
      told.prompts ||= interest.prompts && prompts !== undefined
      told.resources ||= interest.resources && resources !== undefined
      stops.push(onChange((what) => (interest[what] ? tell({ kind: what }) : undefined)))
    }
    const honoured: Interest = { ...others.honoured, ...told, uris }
    return {
      honoured,
      stop: () => {
        for (const stop of stops) stop()
      },
    }
  })

/** A face with what these toolsets have beside tools. `alone`: nothing else is shown here. */
export const withBesides = (
  caller: Caller["Service"],
  besides: ReadonlyArray<Beside>,
  alone: boolean,
  face: Face,
): Face => {
  if (besides.length === 0) return face
  const as = <A, E>(it: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> => Effect.provideService(it, Caller, caller)
  const [resources, prompts, complete] = [
    some(besides, "resources"),
    some(besides, "prompts"),
    some(besides, "complete"),
  ]
  const instructions = alone ? besides[0]!.instructions : undefined
  return {
    ...face,
    ...(instructions === undefined ? {} : { instructions }),
    logs: face.logs || besides.some(({ logs }) => logs === true),
    ...(resources.length === 0
      ? {}
      : {
          resources: {
            list: listed(
              resources.map(({ list }) => as(list)),
              face.resources?.list,
            ),
            templates: listed(
              resources.flatMap(({ templates }) => (templates === undefined ? [] : [as(templates)])),
              face.resources?.templates,
            ),
            read: (uri, line) =>
              Effect.flatMap(
                as(askEach(resources.map(({ read }) => read(uri, askerOf(line))))),
                (found): Effect.Effect<Answer, Fault> =>
                  found === undefined
                    ? (face.resources?.read(uri, line) ?? Effect.succeed(undefined))
                    : Effect.succeed(found),
              ),
            subscribable: true,
            watchable: Effect.fnUntraced(function* (uri) {
              for (const { watch } of resources) {
                const { honoured, stop } = yield* as(watch([uri], () => {}))
                stop()
                if (honoured.length > 0) return true
              }
              return face.resources === undefined ? false : yield* face.resources.watchable(uri)
            }),
          },
        }),
    ...(prompts.length === 0
      ? {}
      : {
          prompts: {
            list: listed(
              prompts.map(({ list }) => as(list)),
              face.prompts?.list,
            ),
            get: (name, given, line) =>
              Effect.flatMap(as(askEach(prompts.map(({ get }) => get(name, given, askerOf(line))))), (found) =>
                found === undefined
                  ? (face.prompts?.get(name, given, line) ?? Effect.fail(invalidParams(`Unknown prompt: ${name}`)))
                  : Effect.succeed(found),
              ),
          },
        }),
    ...(complete.length === 0
      ? {}
      : {
          complete: Effect.fnUntraced(function* (params) {
            for (const one of complete) {
              const found = yield* Effect.mapError(as(one(params)), faultOf)
              if (found !== undefined) return found
            }
            return yield* face.complete?.(params) ?? Effect.fail(invalidParams("ref names nothing that is here"))
          }),
        }),
    watch: watchAll(caller, besides, face.watch),
  }
}
