import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { maxWaiting, FairQueue } from "./FairQueue.ts"

/** A simulated event loop: a turn takes as long as its requests. */
const loop = () => {
  let now = 0
  let busy = 0
  const due: Array<{ readonly at: number; readonly go: () => void }> = []
  const at = (wait: number, go: () => void) => void due.push({ at: now + wait, go })
  const queue = new FairQueue({ now: () => now, busy: () => busy, afterTurn: (go) => at(0, go), after: at })
  return {
    queue,
    spend: (milliseconds: number) => {
      now += milliseconds
      busy += milliseconds
    },
    now: () => now,
    /** Runs the next due task; false: there is none. */
    turn: (): boolean => {
      const next = due.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined) return false
      due.splice(due.indexOf(next), 1)
      now = Math.max(now, next.at)
      next.go()
      return true
    },
  }
}

/** A request that ends as soon as it begins. */
const leaving = (leave: (() => void) | undefined): boolean => {
  leave?.()
  return leave !== undefined
}

describe("a fair queue", () => {
  it("one alone need not take turns, once it has been alone for a while", () => {
    const { spend, queue } = loop()
    assert.isTrue(leaving(queue.begin("ada")))
    spend(300)
    for (let n = 0; n < 1000; n++) assert.isTrue(leaving(queue.begin("ada")))
  })

  it("somebody who sends a thousand waits behind itself; another begins at once", () => {
    const { spend, turn, queue } = loop()
    const begun: Array<number> = []
    for (let n = 0; n < 200; n++)
      if (queue.begin("mallory") === undefined)
        queue.wait("mallory", 0, (leave) => begun.push(n) && (spend(3), leave()))
    assert.isDefined(queue.begin("victoria"))
    const order: Array<string> = []
    while (turn()) {
      // However many wait, a principal's single request begins in that turn.
      if (begun.length < 196 && leaving(queue.begin("victoria"))) {
        order.push("v")
        spend(0.5)
      }
    }
    assert.deepStrictEqual(
      begun,
      begun.toSorted((a, b) => a - b),
    )
    assert.strictEqual(begun.length, 196)
    assert.isAbove(order.length, 90)
  })

  it("large bodies of one begin one by one, with a rest for others; its small requests do not wait for them", () => {
    const { now, spend, turn, queue } = loop()
    queue.begin("victoria")
    const began: Array<number> = []
    const megabyte = 1024 * 1024
    for (let n = 0; n < 20; n++)
      if (queue.begin("mallory", megabyte)) began.push(now())
      else queue.wait("mallory", megabyte, () => began.push(now()) && spend(50))
    assert.isDefined(queue.begin("mallory"))
    while (turn());
    assert.strictEqual(began.length, 20)
    for (const [n, at] of began.entries()) if (n > 0) assert.isAtLeast(at - began[n - 1]!, 200)
    // After a rest its share is full again.
    spend(300)
    assert.isDefined(queue.begin("mallory", megabyte))
  })

  it("a large body that costs more than its size tells is rested after until the loop has had room for others", () => {
    const { now, spend, turn, queue } = loop()
    const began: Array<number> = []
    const [bytes, cost, rest] = [64 * 1024, 100, 40]
    for (let n = 0; n < 10; n++) {
      queue.begin("victoria")
      if (!queue.begin("mallory", bytes)) queue.wait("mallory", bytes, () => began.push(now()) && spend(cost))
    }
    while (turn()) queue.begin("victoria")
    assert.strictEqual(began.length, 9)
    for (const [n, at] of began.entries()) if (n > 0) assert.isAtLeast(at - began[n - 1]!, cost + rest)
    // However busy the loop is, it is not delayed forever.
    const one = loop()
    one.queue.begin("victoria")
    one.queue.begin("mallory", bytes)
    const there: Array<number> = []
    one.queue.wait("mallory", bytes, () => there.push(one.now()))
    for (let n = 0; n < 20; n++) {
      one.queue.begin("victoria")
      one.spend(rest)
      one.queue.begin("ada")
      one.turn()
    }
    assert.lengthOf(there, 1)
    assert.isAtLeast(there[0]!, 10 * rest)
  })

  it("whoever holds the loop for long rests after each, so that another has most of it; the other does not rest", () => {
    const { now, spend, turn, queue } = loop()
    queue.begin("victoria")
    const began: Array<number> = []
    const held = 40
    const send = () => void queue.wait("mallory", 0, (leave) => (began.push(now()), spend(held), leave()))
    while (leaving(queue.begin("mallory")));
    for (let n = 0; n < 100; n++) send()
    let mine = 0
    while (turn() && now() < 10_000) if (leaving(queue.begin("victoria")) && ++mine) spend(1)
    // Once its share of a second is used, it waits ten times as long as it held the loop, up to a limit.
    const gaps = began.slice(10).map((at, n) => at - began.slice(9)[n]!)
    assert.isAbove(gaps.length, 10)
    for (const gap of gaps) assert.isAtLeast(gap, held)
    assert.isBelow((began.length * held) / now(), 0.5)
    assert.isAbove(mine, began.length)
  })

  /** The queue learns what a request costs: two milliseconds each. */
  const learnt = () => {
    const there = loop()
    for (let n = 0; n < 200; n++) {
      const leave = there.queue.begin("mallory")
      there.spend(2)
      leave?.()
      while (there.turn());
    }
    there.spend(300)
    return there
  }

  it("only a few milliseconds' work of one is under way beside others; what waits for something does not count", () => {
    const { now, queue, turn } = learnt()
    assert.isTrue(leaving(queue.begin("victoria")))
    const began: Array<readonly [at: number, leave: () => void]> = []
    for (let n = 0; n < 12; n++) {
      const leave = queue.begin("mallory")
      if (leave !== undefined) began.push([now(), leave])
      else queue.wait("mallory", 0, (later) => void began.push([now(), later]))
    }
    const first = now()
    while (began.length < 4 && turn());
    assert.strictEqual(now(), first)
    assert.strictEqual(began.length, 4)
    assert.isTrue(leaving(queue.begin("victoria")))
    // A request that ends makes room, once; so do those that take long.
    began[2]![1]()
    began[2]![1]()
    while (began.length < 5 && turn());
    assert.isBelow(now() - first, 2)
    while (turn());
    assert.strictEqual(began.length, 12)
    for (let n = 9; n < 12; n++) assert.isAtLeast(began[n]![0] - began[n - 5]![0], 9)
  })

  it("three times as much of one that is alone; whoever comes begins at once, and from then on it has its share", () => {
    const { now, queue, turn } = learnt()
    const began: Array<number> = []
    for (let n = 0; n < 40; n++)
      if (queue.begin("mallory") !== undefined) began.push(now())
      else queue.wait("mallory", 0, () => void began.push(now()))
    assert.strictEqual(began.length, 12)
    assert.isTrue(leaving(queue.begin("victoria")))
    const first = now()
    while (turn());
    assert.strictEqual(began.length, 40)
    // Of those that waited, at most four are under way at a time.
    const later = began.slice(12)
    assert.isTrue(later.every((at) => at > first))
    for (let n = 4; n < later.length; n++) assert.isAtLeast(later[n]! - later[n - 4]!, 9)
  })

  it("too many that wait are refused, and who leaves makes room", () => {
    const { queue } = loop()
    queue.begin("victoria")
    while (queue.begin("mallory"));
    const leave = Array.from({ length: maxWaiting }, () => queue.wait("mallory", 0, () => {}))
    assert.isTrue(leave.every((one) => one !== undefined))
    assert.isUndefined(queue.wait("mallory", 0, () => {}))
    leave[7]!()
    leave[7]!()
    assert.isDefined(queue.wait("mallory", 0, () => {}))
    assert.isUndefined(queue.wait("mallory", 0, () => {}))
  })

  it("whatever comes and goes, each that stays begins once, in the order of its principal", () => {
    const act = FastCheck.record({
      who: FastCheck.constantFrom("a", "b", "c"),
      does: FastCheck.constantFrom("ask", "ask", "ask", "leave", "turn"),
      takes: FastCheck.integer({ min: 0, max: 9 }),
      bytes: FastCheck.constantFrom(0, 0, 100_000),
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(act, { maxLength: 200 }), (acts) => {
        const { spend, turn, queue } = loop()
        const begun: Record<string, Array<number>> = {}
        const left = new Set<string>()
        const asked: Array<readonly [string, number, (() => void) | undefined]> = []
        for (const [n, { bytes, does, takes, who: name }] of acts.entries()) {
          // Small and large requests of a principal have separate queues.
          const who = bytes > 0 ? `large ${name}` : name
          if (does === "turn") turn()
          else if (does === "leave") {
            const last = asked.at(-1)
            if (last?.[2] !== undefined && !begun[last[0]]?.includes(last[1])) {
              last[2]()
              left.add(`${last[0]}${last[1]}`)
            }
          } else if (queue.begin(name, bytes)) (begun[who] ??= []).push(n)
          else asked.push([who, n, queue.wait(name, bytes, () => (begun[who] ??= []).push(n) && spend(takes))])
        }
        while (turn());
        for (const [who, n] of asked) {
          const times = (begun[who] ?? []).filter((one) => one === n).length
          assert.strictEqual(times, left.has(`${who}${n}`) ? 0 : 1)
        }
        for (const some of Object.values(begun))
          assert.deepStrictEqual(
            some,
            some.toSorted((a, b) => a - b),
          )
      }),
    )
  })

  it("a refusal is held back for a second; of very many, the rest is answered at once", () => {
    const { now, turn, queue } = loop()
    const told: Array<number> = []
    for (let n = 0; n < 1024; n++) assert.isDefined(queue.hold("mallory", () => void told.push(now())))
    assert.isUndefined(queue.hold("mallory", () => void told.push(now())))
    assert.isDefined(queue.hold("victoria", () => void told.push(now())))
    assert.deepStrictEqual(told, [])
    while (turn()) continue
    assert.strictEqual(told.length, 1025)
    assert.isTrue(told.every((at) => at === 1000))
  })

  it("whoever hangs up while its refusal is held back frees its place, once", () => {
    const { turn, queue } = loop()
    const told: Array<string> = []
    const leave = queue.hold("mallory", () => void told.push("gone"))!
    for (let n = 1; n < 1024; n++) queue.hold("mallory", () => {})
    leave()
    leave()
    assert.isDefined(queue.hold("mallory", () => void told.push("there")))
    assert.isUndefined(queue.hold("mallory", () => void told.push("too many")))
    while (turn()) continue
    assert.deepStrictEqual(told, ["there"])
  })
})
