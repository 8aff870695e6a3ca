import { assert, describe, it } from "@effect/vitest"
import { EventStream } from "../../wire/eventStream.ts"
import { sessionLimits, Sessions } from "./sessions.ts"

const open = (sessions: Sessions, owner = "ann", now = 0) => sessions.open(owner, "all", "2025-11-25", {}, now)

describe("sessions", () => {
  it("X-40 a session is nobody's but its beginner's, and only where it was begun", () => {
    const sessions = new Sessions()
    const { id } = open(sessions)
    assert.match(id, /^[\x21-\x7e]{20,}$/)
    assert.isDefined(sessions.find(id, "ann", "all", 0))
    assert.isUndefined(sessions.find(id, "ben", "all", 0))
    assert.isUndefined(sessions.find(id, "ann", "toolset office", 0))
    assert.isUndefined(sessions.find("made-up", "ann", "all", 0))
  })

  it("there are only so many of one principal's, and the one that rested longest goes first", () => {
    const sessions = new Sessions()
    const first = open(sessions)
    const second = open(sessions)
    const bens = open(sessions, "ben")
    for (let n = 2; n < sessionLimits.maxOfPrincipal; n++) open(sessions)
    sessions.find(first.id, "ann", "all", 1)
    open(sessions)
    assert.isUndefined(sessions.find(second.id, "ann", "all", 1))
    assert.isDefined(sessions.find(first.id, "ann", "all", 1))
    assert.isDefined(sessions.find(bens.id, "ben", "all", 1))
    assert.strictEqual(sessions.size, sessionLimits.maxOfPrincipal + 1)
  })

  it("what has an open stream or a call stays before what rests, and goes only where nothing else is left", () => {
    const sessions = new Sessions()
    const standing = open(sessions)
    standing.hangUp = () => {}
    const calling = open(sessions)
    calling.begin(1, () => {})
    for (let n = 0; n < 2 * sessionLimits.maxOfPrincipal; n++) open(sessions)
    for (let n = 0; n < sessionLimits.most; n++) open(sessions, `p${n}`)
    for (const one of [standing, calling]) assert.isDefined(sessions.find(one.id, "ann", "all", 1))
    assert.strictEqual(sessions.size, sessionLimits.most)
    const full = new Sessions()
    const oldest = open(full)
    oldest.hangUp = () => {}
    for (let n = 0; n < sessionLimits.maxOfPrincipal; n++) open(full).hangUp = () => {}
    assert.isUndefined(full.find(oldest.id, "ann", "all", 1))
  })

  it("however many principals there are, the house keeps only so many", () => {
    const sessions = new Sessions()
    for (let n = 0; n < sessionLimits.most + 500; n++) open(sessions, `p${n}`)
    assert.strictEqual(sessions.size, sessionLimits.most)
  })

  it("what is not used is forgotten; what is in use is not", () => {
    const sessions = new Sessions()
    const idle = open(sessions)
    const busy = open(sessions)
    const young = open(sessions, "ann", 1000)
    busy.begin(1, () => {})
    sessions.sweep(sessionLimits.idleMs)
    assert.isUndefined(sessions.find(idle.id, "ann", "all", 0))
    assert.isDefined(sessions.find(busy.id, "ann", "all", 0))
    assert.isDefined(sessions.find(young.id, "ann", "all", 0))
  })

  it("ids of requests keep their type, and an ended session tells those who wait for its client", () => {
    const session = open(new Sessions())
    const cancelled: Array<unknown> = []
    session.begin(0, () => cancelled.push(0))
    session.begin("0", () => cancelled.push("0"))
    session.cancel("0")
    session.cancel(7)
    assert.deepStrictEqual(cancelled, ["0"])
    const heard: Array<unknown> = []
    const id = session.ask((answer) => heard.push(answer))
    session.ask((answer) => heard.push(answer))
    session.hear(id, { result: { ok: true } })
    session.hear(id, { result: { ok: false } })
    session.close()
    assert.deepStrictEqual(heard, [{ result: { ok: true } }, { error: "the session has ended" }])
  })

  it("a session remembers only so many addresses, and one that it has counts once", () => {
    const session = open(new Sessions())
    for (let n = 0; n < sessionLimits.maxUris; n++) assert.isTrue(session.subscribe(`a://${n}`))
    assert.isFalse(session.subscribe("a://more"))
    assert.isTrue(session.subscribe("a://0"))
    assert.strictEqual(session.uris.length, sessionLimits.maxUris)
    session.unsubscribe("a://0")
    assert.isTrue(session.subscribe("a://more"))
  })

  it("a stream gives what came after an event, as long as it is kept", () => {
    const stream = new EventStream("3")
    stream.prime()
    for (let n = 1; n <= 5; n++) stream.write(`{"n":${n}}`)
    assert.deepStrictEqual(stream.after(4), ['id: 3_5\nevent: message\ndata: {"n":5}\n\n'])
    assert.deepStrictEqual(stream.after(5), [])
    assert.isUndefined(stream.after(6))
    for (let n = 0; n < 300; n++) stream.write("{}")
    assert.isUndefined(stream.after(4))
    assert.strictEqual(stream.after(49)?.length, 256)
    stream.write(`"${"x".repeat(2_000_000)}"`)
    assert.strictEqual(stream.after(305)?.length, 1)
  })
})
