/**
 * The leak test: a house full of principals who talk, come, go, read, search and watch at random, while a model that knows
 * nothing of the house's code says who may see what. Whatever reaches somebody who may not see it is a fault; so is what
 * does not reach somebody who may.
 *
 * The model is a list of epochs a space: who is in it. What is said names its space and epoch, so that a frame can be
 * judged wherever it turns up. Whoever is in a space may read all of its past; whoever is not may read none of it.
 */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope, Semaphore } from "effect"
import { databases } from "../../../../test/long.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, house } from "../house.ts"
import { call, type Frame, fresh, listen, type Someone, someone } from "./spacesGuests.ts"

export interface Game {
  readonly principals: number
  readonly spaces: number
  readonly steps: number
  readonly workers: number
  readonly seed: number
}

interface Place {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly kind: "public" | "private" | "team" | "dm"
  readonly owner: number
  readonly epochs: Array<ReadonlySet<number>>
  readonly said: Array<{ readonly id: string; readonly epoch: number; readonly author: number }>
  /** Rises when somebody begins to come or go, and again when they have: odd in between, when nobody can say who is in. */
  moves: number
  /** What changes a space is done one after the other; reading and watching is not. */
  readonly lock: Semaphore.Semaphore
}

interface Player {
  readonly index: number
  readonly who: Someone
  readonly got: Map<string, number>
  readonly finished: Deferred.Deferred<void>
  scope: Scope.Closeable | undefined
  cursor: number
  busy: boolean
}

/** mulberry32: small, and the same everywhere. */
export const chances = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (most: number) => Math.floor(next() * most)
  const pick = <A>(from: ReadonlyArray<A>): A => from[below(from.length)]!
  return { below, pick }
}
type Chances = ReturnType<typeof chances>

const theEnd = "the end of the game"
const marker = /zebra s(\d+)e(\d+)x/

/** A reaction is one emoji: which one it is says the same as the marker of a text. */
const emojis = Array.from({ length: 0x800 }, (_, at) => String.fromCodePoint(0x1f300 + at))
  .flatMap((sign) => [sign, ...["🏻", "🏼", "🏽", "🏾", "🏿"].map((tone) => sign + tone)])
  .filter((sign) => /^\p{RGI_Emoji}$/v.test(sign))
const perPlace = 36
const emojiOf = (place: Place) => emojis[place.index * perPlace + Math.min(now(place), perPlace - 1)]!
const markOf = (emoji: string) => {
  const at = emojis.indexOf(emoji)
  return `zebra s${Math.floor(at / perPlace)}e${at % perPlace}x`
}

const now = (place: Place) => place.epochs.length - 1
const isIn = (place: Place, player: number, epoch = now(place)) =>
  place.kind === "public" || place.epochs[epoch]!.has(player)
const ever = (place: Place, player: number, from: number, to = now(place)) => {
  for (let epoch = from; epoch <= to; epoch++) if (isIn(place, player, epoch)) return true
  return false
}
const always = (place: Place, player: number, from: number, to = now(place)) => {
  for (let epoch = from; epoch <= to; epoch++) if (!isIn(place, player, epoch)) return false
  return true
}

/** Nobody has been on the way in or out since it stood at this: whoever is in must see. */
const stood = (place: Place, moves: number) => moves % 2 === 0 && moves === place.moves

const setUp = Effect.fnUntraced(function* ({ principals, seed, spaces }: Game) {
  const { below, pick } = chances(seed)
  const people = yield* Effect.forEach(Array.from({ length: principals }), (_, n) =>
    someone(n % 3 === 0 ? "agent" : "person"),
  )
  const places = yield* Effect.forEach(
    Array.from({ length: spaces }, (_, index) => index),
    Effect.fnUntraced(function* (index) {
      const kind = (["private", "private", "public", "private", "team", "dm"] as const)[index % 6]!
      const owner = below(principals)
      const members = new Set([owner])
      const size = kind === "dm" ? 2 : 3 + below(30)
      while (members.size < size) members.add(below(principals))
      const wanted = { name: fresh(kind), kind, members: [...members].map((one) => people[one]!.id) }
      const { id, name } = yield* ask(() => people[owner]!.client.spaces.add(wanted))
      const lock = Semaphore.makeUnsafe(1)
      const place: Place = { index, id, name, kind, owner, epochs: [members], moves: 0, said: [], lock }
      return place
    }),
  )
  const players = people.map((who, index): Player => ({
    index,
    who,
    got: new Map(),
    finished: Deferred.makeUnsafe(),
    scope: undefined,
    cursor: 0,
    busy: false,
  }))
  return { players, places, pick }
})

const play = Effect.fnUntraced(function* (game: Game) {
  const { places, players } = yield* setUp(game)
  const byId = new Map(places.map((place) => [place.id, place]))
  const from = yield* (yield* Journal).end
  const faults: Array<string> = []
  const counted = { frames: 0, reads: 0, refusals: 0 }
  const fault = (what: string) => void (faults.length < 20 && faults.push(what))
  const open = () => places.map(now)

  /** Judges a frame by what its reader was, at some moment between the opening of the stream and now. */
  const judge = (player: Player, opened: ReadonlyArray<number>, frame: Frame, only?: Place) => {
    counted.frames++
    const told = `${frame.event} ${JSON.stringify(frame.data)} to ${player.who.id}`
    if (frame.event === "reload" || frame.event === "close" || frame.data === undefined) return fault(told)
    const { id } = player.who
    const body = frame.data.body as unknown as {
      message?: { id: string; text: string } | string
      emoji?: string
      principal?: string
    }
    const space = frame.data.space ?? null
    if (only !== undefined && space !== only.id) return fault(`foreign to the stream: ${told}`)
    if (body.principal === id || (space === null && frame.data["actor"] === id)) return
    const place = space === null ? undefined : byId.get(space)
    if (place === undefined) return fault(told)
    const text = typeof body.message === "object" ? body.message.text : undefined
    if (text === theEnd || text?.startsWith("intruder") === true) return text === theEnd ? undefined : fault(told)
    const mark = marker.exec(text ?? (body.emoji === undefined ? "" : markOf(body.emoji)))
    if (mark !== null && Number(mark[1]) !== place.index) fault(`in another's name: ${told}`)
    const known =
      typeof body.message === "string" ? place.said.find((one) => one.id === body.message)?.epoch : undefined
    const first = Math.max(opened[place.index]!, mark === null ? (known ?? 0) : Number(mark[2]))
    if (!ever(place, player.index, first)) fault(`LEAK: ${told}`)
  }

  const watch = Effect.fnUntraced(function* (player: Player) {
    const scope = yield* Scope.make()
    player.scope = scope
    const opened = open()
    yield* listen(player.who, { after: player.cursor }, (frame) => {
      if (player.scope !== scope) return
      judge(player, opened, frame)
      if (frame.id !== undefined) player.cursor = frame.id
      const message = frame.data?.body?.["message"] as { id: string; text: string } | undefined
      if (frame.event === "message.created") player.got.set(message!.id, (player.got.get(message!.id) ?? 0) + 1)
      if (message?.text === theEnd) Deferred.doneUnsafe(player.finished, Exit.void)
    }).pipe(Effect.provideService(Scope.Scope, scope))
  })
  const hangUp = Effect.fnUntraced(function* (player: Player) {
    const { scope } = player
    player.scope = undefined
    if (scope !== undefined) yield* Scope.close(scope, Exit.void)
  })

  /** A reading that may see, must see or must not see, as the membership was while it was made. */
  const read = Effect.fnUntraced(function* (player: Player, place: Place, path: string) {
    const before = open()
    const { moves } = place
    const answer = yield* call(player.who, "GET", path)
    counted.reads++
    const items = (answer.body["items"] ?? [answer.body]) as ReadonlyArray<{ space?: string; text?: string }>
    const told = () => `GET ${path} by ${player.who.id}: ${answer.status} ${JSON.stringify(items).slice(0, 300)}`
    if (answer.status === 404) {
      counted.refusals++
      if (stood(place, moves) && always(place, player.index, before[place.index]!))
        fault(`hidden though open: ${told()}`)
      return
    }
    if (answer.status !== 200) return fault(told())
    if (path.startsWith("/spaces/") && !ever(place, player.index, before[place.index]!)) fault(`LEAK: ${told()}`)
    for (const item of items) {
      const there = item.space === undefined ? undefined : byId.get(item.space)
      if (there !== undefined && !ever(there, player.index, before[there.index]!)) fault(`LEAK: ${told()}`)
    }
  })

  const step = Effect.fnUntraced(function* ({ below, pick }: Chances, number: number) {
    const player = pick(players)
    const place = pick(places)
    const { client } = player.who
    const inside = pick([...place.epochs.at(-1)!])
    const voice = players[inside]!.who.client
    const locked = place.lock.withPermits(1)
    const text = () => `zebra s${place.index}e${now(place)}x ${number}`
    const some = place.said.length === 0 ? undefined : pick(place.said)
    const dice = below(100)
    if (dice < 38)
      return yield* locked(
        Effect.suspend(() => {
          // Drawn before the lock was had: it may have left since.
          const epoch = now(place)
          const author = isIn(place, inside, epoch) ? inside : place.owner
          const post = ask(() => players[author]!.who.client.spaces.post(place.id, { text: text() }))
          return Effect.map(post, ({ id }) => void place.said.push({ id, epoch, author }))
        }),
      )
    if (dice < 48 && some !== undefined)
      return yield* locked(
        Effect.suspend(() =>
          isIn(place, some.author)
            ? Effect.exit(ask(() => players[some.author]!.who.client.messages.edit(some.id, { text: text() })))
            : Effect.void,
        ),
      )
    if (dice < 56 && some !== undefined)
      return yield* locked(
        Effect.suspend(() =>
          isIn(place, inside) ? Effect.exit(ask(() => voice.messages.react(some.id, emojiOf(place)))) : Effect.void,
        ),
      )
    if (dice < 58 && some !== undefined)
      return yield* locked(Effect.exit(ask(() => players[place.owner]!.who.client.messages.remove(some.id))))
    if (dice < 60) return yield* Effect.exit(ask(() => client.spaces.typing(place.id)))
    if (dice < 74) {
      if (place.kind === "dm") return
      return yield* locked(
        Effect.gen(function* () {
          const members = place.epochs.at(-1)!
          const owner = players[place.owner]!.who.client
          if (members.has(player.index)) {
            if (player.index === place.owner) return
            const by = below(2) === 0 ? client : owner
            place.moves++
            yield* ask(() => by.spaces.removeMember(place.id, player.who.id))
            place.epochs.push(new Set([...members].filter((one) => one !== player.index)))
          } else {
            place.moves++
            place.epochs.push(new Set([...members, player.index]))
            yield* ask(() => owner.spaces.addMember(place.id, player.who.id))
          }
          place.moves++
        }),
      )
    }
    if (dice < 78)
      return yield* locked(
        Effect.suspend(() => {
          if (isIn(place, player.index)) return Effect.void
          const post = call(player.who, "POST", `/spaces/${place.id}/messages`, { text: `intruder ${number}` })
          return Effect.map(post, ({ status }) => (status === 404 ? undefined : fault(`an intruder got ${status}`)))
        }),
      )
    if (dice < 82) return yield* read(player, place, `/spaces/${place.name}/messages?limit=5`)
    if (dice < 84) return yield* read(player, place, `/spaces/${place.id}`)
    if (dice < 87) return yield* read(player, place, `/messages?q=zebra&limit=20`)
    if (dice < 89) return yield* read(player, place, `/messages?q=zebra&limit=20&space=${place.name}`)
    if (dice < 92 && some !== undefined) return yield* read(player, place, `/messages/${some.id}`)
    if (dice < 93 && some !== undefined) return yield* read(player, place, `/messages/${some.id}/history`)
    if (dice < 97) {
      // Somebody else may be at it: a player's stream is opened again by whoever closed it.
      if (player.busy) return
      player.busy = true
      yield* hangUp(player)
      yield* watch(player)
      player.busy = false
      return
    }
    // One stream more, of this space or of all, from now or from the beginning, for as long as one request takes.
    const opened = open()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const only = below(3) > 0 ? place : undefined
        const path = only === undefined ? "/events" : `/spaces/${place.id}/events`
        const after = below(2) === 0 ? { after: from } : {}
        const { moves } = place
        const stream = yield* listen(player.who, { path, ...after }, (frame) => judge(player, opened, frame, only))
        const open = stream.status === 200
        if (!open) counted.refusals++
        if (
          only === undefined
            ? !open
            : open
              ? !ever(place, player.index, opened[place.index]!)
              : // Whoever is on the way in or out may be refused.
                stood(place, moves) && always(place, player.index, opened[place.index]!)
        )
          fault(`${path} for ${player.who.id}: ${stream.status}`)
        yield* locked(ask(() => players[place.owner]!.who.client.spaces.typing(place.id)))
      }),
    )
  })

  for (const player of players) player.cursor = from
  yield* Effect.forEach(players, watch, { concurrency: 10 })
  yield* Effect.forEach(
    Array.from({ length: game.workers }, (_, worker) => worker),
    Effect.fnUntraced(function* (worker) {
      const luck = chances(game.seed * 1000 + worker)
      for (let number = worker; number < game.steps && faults.length === 0; number += game.workers)
        yield* step(luck, number)
    }),
    { concurrency: game.workers },
  )
  const square = places.find((place) => place.kind === "public")!
  yield* ask(() => players[square.owner]!.who.client.spaces.post(square.id, { text: theEnd }))
  yield* Effect.forEach(players, (player) => Deferred.await(player.finished), { concurrency: "unbounded" }).pipe(
    Effect.timeoutOrElse({ duration: "2 minutes", orElse: () => Effect.sync(() => fault("the end did not come")) }),
  )
  for (const player of players)
    for (const place of places)
      for (const { epoch, id } of place.said) {
        const times = player.got.get(id) ?? 0
        if (times > 1) fault(`${id} came ${times} times to ${player.who.id}`)
        if (times === 0 && always(place, player.index, epoch)) fault(`${id} never came to ${player.who.id}`)
      }
  yield* Effect.forEach(players, hangUp)
  return { faults, ...counted, said: places.reduce((sum, place) => sum + place.said.length, 0) }
})

export const leaking = (game: Game, timeout: number): void => {
  for (const store of databases)
    layer(house({ store }), { excludeTestServices: true, timeout: 60_000 })(`what is seen on ${store}`, (it) => {
      it.effect(
        `S0-71 S0-16 G-09 ${game.principals} principals at random: nobody sees what is not theirs, and misses nothing`,
        () =>
          Effect.gen(function* () {
            const played = yield* play(game)
            assert.deepStrictEqual(played.faults, [])
            // Enough happened for this to say something.
            assert.isAbove(played.said, game.steps / 5)
            assert.isAbove(played.frames, game.steps)
            assert.isAbove(played.reads, game.steps / 20)
            assert.isAbove(played.refusals, game.steps / 50)
          }),
        timeout,
      )
    })
}
