/** Who gives an approval, through the door and on both databases: whatever spaces, roles, tokens and links somebody makes. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import {
  admin,
  callsHouse,
  callTool,
  config,
  configure,
  eventsOf,
  request,
  room,
  ruler,
  settled,
  stores,
  told,
} from "../calls/callsKit.ts"
import { ask as promised, Guest } from "../house.ts"
import { until } from "../stores.ts"
import { listen, someone, type Someone } from "../spaces/spacesGuests.ts"

const decide = (who: Pick<Someone, "token">, decision: string, answer: object = { verdict: "approve" }) =>
  request(who as Someone, "POST", `/decisions/${decision}/answer`, answer)
const mayAnswer = (decision: string) =>
  Effect.gen(function* () {
    const { body } = yield* request(yield* admin, "GET", `/decisions/${decision}`)
    return (body as { mayAnswer: ReadonlyArray<string> }).mayAnswer
  })
const press = (url: string, verdict: string) =>
  Effect.gen(function* () {
    const { raw } = yield* Guest
    return (yield* promised(() => raw(`${new URL(url).pathname}/${verdict}`, { method: "POST" }))).status
  })
const tokenFor = (maker: Someone, whom: Someone) =>
  Effect.gen(function* () {
    const made = yield* request(maker, "POST", "/tokens", { principal: whom.id })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    return made.body as { readonly id: string; readonly token: string }
  })
const tokenOf = (who: Someone) =>
  Effect.map(
    request(who, "GET", `/tokens?principal=${who.id}`),
    ({ body }) => (body as { items: ReadonlyArray<{ id: string }> }).items[0]!.id,
  )
const asked = (who: Someone, tool: string, body: object = {}) =>
  Effect.map(callTool(who, tool, body), (answer) => {
    assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
    return { call: told(answer).id, decision: told(answer).on!.id }
  })

const limited = {
  ...config,
  limits: [{ principal: "flooder", resource: "questions/open", count: 3, seconds: 60 }, ...config.limits],
}

for (const store of stores)
  layer(callsHouse({ store, config: limited }), { excludeTestServices: true, timeout: 120_000 })(
    `approvers on ${store}`,
    (it) => {
      it.effect("whom an agent's parent, child or own agent let in, the agent has chosen", () =>
        Effect.gen(function* () {
          const boss = yield* admin
          const { name } = yield* configure({ requiresApproval: true })
          const [parent, child] = [yield* someone("agent"), yield* someone("agent")]
          const [friend, host] = [yield* someone(), yield* someone()]
          const at = yield* request(boss, "PATCH", `/agents/${child.id}`, { parent: parent.id })
          assert.strictEqual(at.status, 200, JSON.stringify(at.body))
          const asks = Effect.fnUntraced(function* (opener: Someone, by: Someone, caller: Someone) {
            const space = yield* room(opener, ...[parent, child, host].filter((one) => one !== opener))
            assert.strictEqual((yield* request(by, "PUT", `/spaces/${space}/members/${friend.id}`)).status, 204)
            const { decision } = yield* asked(caller, name, { space })
            return (yield* mayAnswer(decision)).includes(friend.id)
          })
          // Opened by the one, let in by the one, asked by the other: both ways.
          assert.isFalse(yield* asks(parent, parent, child))
          assert.isFalse(yield* asks(child, child, parent))
          assert.isFalse(yield* asks(host, child, parent))
          assert.isFalse(yield* asks(host, parent, child))
          // A person who is nobody's agent chose.
          assert.isTrue(yield* asks(host, host, child))
        }),
      )

      it.effect(
        "G-13 G-15 over random histories of members, invitations and roles, mayAnswer and answers agree with a model",
        () =>
          Effect.gen(function* () {
            let seed = 20_261_116
            const random = (n: number) =>
              Math.floor(((seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648) * n)
            const pick = <A>(all: ReadonlyArray<A>): A => all[random(all.length)]!
            const boss = yield* admin
            const bots = [yield* someone("agent"), yield* someone("agent")]
            const people = yield* Effect.forEach(Array.from({ length: 5 }), () => someone())
            const { name } = yield* configure({ requiresApproval: true })
            let stamp = 0
            const admins = new Map<string, number>()
            type Place = { id: string; opener: string; members: Map<string, { by: string; stamp: number }> }
            const places: Array<Place> = []
            for (const opener of [people[0]!, people[1]!, bots[0]!]) {
              const id = yield* room(opener, ...bots.filter((one) => one !== opener))
              const inside = [opener, ...bots.filter((one) => one !== opener)]
              places.push({
                id,
                opener: opener.id,
                members: new Map(inside.map((one) => [one.id, { by: opener.id, stamp: ++stamp }])),
              })
            }
            type Reason = { readonly member?: number; readonly admin?: number }
            const questions: Array<{ id: string; by: Someone; place: Place; reasons: Map<string, Reason> }> = []
            const change = Effect.gen(function* () {
              const who = pick(people)
              const place = pick(places)
              if (random(3) === 0) {
                const roles = admins.has(who.id) ? ["member"] : ["admin"]
                assert.strictEqual((yield* request(boss, "PATCH", `/principals/${who.id}`, { roles })).status, 200)
                if (admins.has(who.id)) admins.delete(who.id)
                else admins.set(who.id, ++stamp)
              } else if (place.members.has(who.id)) {
                yield* request(boss, "DELETE", `/spaces/${place.id}/members/${who.id}`)
                place.members.delete(who.id)
              } else {
                const by = pick([...bots, ...people].filter((one) => place.members.has(one.id)))
                const let_ = yield* request(by, "PUT", `/spaces/${place.id}/members/${who.id}`)
                assert.strictEqual(let_.status, 204, JSON.stringify(let_.body))
                place.members.set(who.id, { by: by.id, stamp: ++stamp })
              }
            })
            const question = Effect.gen(function* () {
              const [by, place] = [pick(bots), pick(places)]
              const { decision } = yield* asked(by, name, { space: place.id })
              const reasons = new Map<string, Reason>()
              for (const { id } of people) {
                const member = place.members.get(id)
                const counts = member !== undefined && place.opener !== by.id && member.by !== by.id
                reasons.set(id, {
                  ...(counts ? { member: member.stamp } : {}),
                  ...(admins.has(id) ? { admin: admins.get(id)! } : {}),
                })
              }
              questions.push({ id: decision, by, place, reasons })
            })
            for (let n = 0; n < 30; n++) yield* random(3) === 0 ? question : change
            for (const { by, id, place, reasons } of questions) {
              const may = (who: Someone) => {
                const { admin: ruled, member } = reasons.get(who.id)!
                return (
                  (member !== undefined && place.members.get(who.id)?.stamp === member) ||
                  (ruled !== undefined && admins.get(who.id) === ruled)
                )
              }
              const shown = (yield* mayAnswer(id)).filter((one) => people.some((who) => who.id === one))
              const expected = people.filter(may).map((one) => one.id)
              assert.deepStrictEqual(shown.toSorted(), expected.toSorted())
              for (const who of [...bots, ...people.filter((one) => !may(one))])
                assert.include([403, 404], (yield* decide(who, id)).status)
              assert.strictEqual((yield* decide(by, id)).status, 403)
              const able = people.find(may)
              if (able !== undefined) assert.strictEqual((yield* decide(able, id)).status, 200)
            }
          }),
        120_000,
      )

      it.effect("G-13 two people are two, whatever tokens and links they have or make for each other", () =>
        Effect.gen(function* () {
          const [ada, ben, bot] = [yield* ruler(), yield* ruler(), yield* someone("agent")]
          const { name } = yield* configure({ requiresApproval: true, approval: { people: 2 } })
          // More tokens and links of one person are one person.
          const one = yield* asked(bot, name)
          const second = yield* tokenFor(ada, ada)
          for (const who of [ada, second])
            assert.deepInclude((yield* decide(who, one.decision)).body as object, {
              state: "open",
              approvals: [ada.id],
            })
          assert.strictEqual((yield* request(ada, "POST", `/decisions/${one.decision}/link`, {})).status, 201)
          // Nor does a token help that the first made for the second since it was asked, in either order.
          const forged = yield* tokenFor(ada, ben)
          assert.strictEqual((yield* decide(forged, one.decision)).status, 403)
          assert.strictEqual(
            (yield* request(forged as Someone, "POST", `/decisions/${one.decision}/link`, {})).status,
            403,
          )
          const other = yield* asked(bot, name)
          const early = yield* tokenFor(ada, ben)
          // Whoever made it has it, too: it neither approves nor makes a link.
          const link = (who: Pick<Someone, "token">) =>
            request(who as Someone, "POST", `/decisions/${other.decision}/link`, {})
          const unlinked = yield* link(early)
          assert.strictEqual(unlinked.status, 403)
          assert.match(told(unlinked).detail!, /only your own token/)
          const refused = yield* decide(early, other.decision)
          assert.deepStrictEqual([refused.status, told(refused).detail!.includes("only your own token")], [403, true])
          assert.strictEqual((yield* link(ada)).status, 201)
          assert.strictEqual(told(yield* decide(ada, other.decision)).state, "open")
          assert.strictEqual((yield* decide(yield* admin, other.decision)).status, 200)
          assert.strictEqual((yield* settled(bot, other.call)).state, "done")
          const late = yield* link(ben)
          assert.deepStrictEqual([late.status, told(late).detail], [409, "This decision is answered."])
          // The second person's own answer closes it.
          assert.strictEqual(told(yield* decide(ben, one.decision)).state, "answered")
          assert.strictEqual((yield* settled(bot, one.call)).state, "done")
          // A used link of the first of two shows nothing, and counts nothing.
          const third = yield* asked(bot, name)
          const { url } = (yield* request(ada, "POST", `/decisions/${third.decision}/link`, {})).body as { url: string }
          assert.strictEqual(yield* press(url, "approve"), 200)
          assert.strictEqual(yield* press(url, "approve"), 409)
          assert.strictEqual(told(yield* request(ada, "GET", `/decisions/${third.decision}`)).state, "open")
        }),
      )

      it.effect("G-13 G-15 whoever asks approves by no token it makes for another since", () =>
        Effect.gen(function* () {
          const [boss, ada] = [yield* ruler(), yield* ruler()]
          const { name } = yield* configure({ requiresApproval: true })
          const { decision } = yield* asked(boss, name)
          const forged = yield* tokenFor(boss, ada)
          const refused = yield* decide(forged, decision)
          assert.strictEqual(refused.status, 403)
          // Nor by what is made of that token: a browser's session, another token, the same one anew.
          const { raw, url } = yield* Guest
          const opened = yield* promised(() =>
            raw("/api/v1/session", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ token: forged.token }),
            }),
          )
          const cookie = /stoa_session=[^;]+/.exec(opened.headers.get("set-cookie") ?? "")![0]
          const again = yield* tokenFor(forged as Someone, ada)
          const asPage = (path: string, body: object) =>
            promised(() =>
              raw(`/api/v1${path}`, {
                method: "POST",
                headers: { "content-type": "application/json", cookie, origin: url, "x-stoa-page": "1" },
                body: JSON.stringify(body),
              }),
            )
          const answered = yield* asPage(`/decisions/${decision}/answer`, { verdict: "approve" })
          assert.strictEqual(answered.status, 403)
          assert.strictEqual((yield* decide(again, decision)).status, 403)
          const rotated = yield* request(again as unknown as Someone, "POST", `/tokens/${again.id}/rotate`)
          const anew = rotated.body as { token: string }
          assert.strictEqual((yield* decide(anew, decision)).status, 403)
          assert.match(
            told(refused).detail!,
            /not by whoever asked.*The one who asked made this token for you after the question was asked/,
          )
          assert.strictEqual((yield* request(forged as Someone, "POST", `/decisions/${decision}/link`, {})).status, 403)
          assert.strictEqual((yield* decide(forged, decision, { verdict: "deny" })).status, 200)
        }),
      )

      it.effect("G-13 nor by a token that is made by such a token, or by a program, for a third person", () =>
        Effect.gen(function* () {
          const [alice, bob, carol] = [yield* ruler(), yield* ruler(), yield* ruler()]
          const service = yield* someone("service")
          yield* request(yield* admin, "PATCH", `/principals/${service.id}`, { roles: ["admin"] })
          const { name } = yield* configure({ requiresApproval: true })
          const { call, decision } = yield* asked(alice, name)
          const asCarol = yield* tokenFor(alice, carol)
          const twoHops = yield* tokenFor(asCarol as Someone, bob)
          const byProgram = yield* tokenFor(service, bob)
          for (const made of [asCarol, twoHops, byProgram]) {
            const refused = yield* decide(made, decision)
            assert.strictEqual(refused.status, 403)
            assert.match(told(refused).detail!, /made this token for you after the question was asked/)
          }
          // Who rotates one's own token from before is still oneself.
          const renewed = yield* request(bob, "POST", `/tokens/${yield* tokenOf(bob)}/rotate`)
          assert.strictEqual((yield* decide(renewed.body as unknown as Someone, decision)).status, 200)
          assert.strictEqual((yield* settled(alice, call)).state, "done")
        }),
      )

      it.effect("G-13 a link carries one verdict on one call: no edit, and nothing from now on", () =>
        Effect.gen(function* () {
          const [ada, bot] = [yield* ruler(), yield* someone("agent")]
          const { name } = yield* configure({ requiresApproval: true })
          const { call, decision } = yield* asked(bot, name)
          const { url } = (yield* request(ada, "POST", `/decisions/${decision}/link`, {})).body as { url: string }
          const { raw } = yield* Guest
          const post = (answer: object) =>
            promised(() =>
              raw(new URL(url).pathname, {
                method: "POST",
                headers: { "content-type": "application/json" },
                body: JSON.stringify(answer),
              }),
            )
          const seen = yield* promised(() => raw(new URL(url).pathname, { headers: { accept: "application/json" } }))
          const body = JSON.parse(yield* promised(() => seen.text())) as { decision: { options: unknown } }
          assert.deepStrictEqual(body.decision.options, { edit: false, reaches: ["once"] })
          for (const more of [{ reach: "always" }, { reach: "run" }, { input: { word: "else" } }])
            assert.strictEqual((yield* post({ verdict: "approve", ...more })).status, 400, JSON.stringify(more))
          assert.strictEqual((yield* post({ verdict: "approve", reach: "once", note: "fine" })).status, 200)
          assert.strictEqual((yield* post({ verdict: "deny" })).status, 409)
          assert.strictEqual((yield* settled(bot, call)).state, "done")
          assert.strictEqual((yield* callTool(bot, name)).status, 202)
        }),
      )

      it.effect("G-08 unanswered it goes to those who were named for it, who are told, see it, and may answer it", () =>
        Effect.gen(function* () {
          const [pam, eve, late, bot] = [yield* someone(), yield* someone(), yield* someone(), yield* someone("agent")]
          const escalation = { afterSeconds: 1, to: [eve.name, "role:admin"] }
          const { name } = yield* configure({ requiresApproval: true, approval: { approver: pam.name, escalation } })
          const feed = yield* listen(eve)
          const { call, decision } = yield* asked(bot, name)
          assert.deepStrictEqual(yield* mayAnswer(decision), [pam.id])
          assert.strictEqual((yield* request(eve, "GET", `/decisions/${decision}`)).status, 404)
          // Who becomes an admin after it was asked has no say in it, by escalation neither.
          yield* request(yield* admin, "PATCH", `/principals/${late.id}`, { roles: ["admin"] })
          for (let frame = yield* feed.next; frame.event !== "decision.escalated";) frame = yield* feed.next
          const able = yield* mayAnswer(decision)
          assert.strictEqual(able[0], pam.id)
          assert.include(able, eve.id)
          assert.notInclude(able, late.id)
          assert.strictEqual((yield* decide(late, decision)).status, 403)
          const shown = (yield* request(eve, "GET", `/decisions/${decision}`)).body
          assert.isString(shown["escalatedAt"])
          assert.strictEqual((yield* decide(eve, decision)).status, 200)
          assert.strictEqual((yield* settled(bot, call)).state, "done")
          assert.deepStrictEqual(
            (yield* eventsOf(decision)).filter((kind) => kind.startsWith("decision.")),
            ["decision.asked", "decision.escalated", "decision.answered"],
          )
          const sql = yield* SqlClient.SqlClient
          assert.lengthOf(yield* sql`SELECT id FROM timers WHERE key LIKE ${`${decision}%`}`, 0)
        }).pipe(Effect.scoped),
      )

      it.effect(
        "G-10 so many questions of one principal are open at a time; the next is refused, and names the limit",
        () =>
          Effect.gen(function* () {
            const [ada, bot, other] = [yield* ruler(), yield* someone("agent", "flooder"), yield* someone("agent")]
            const { name } = yield* configure({ requiresApproval: true })
            const open = yield* Effect.forEach([1, 2, 3], () => asked(bot, name))
            const refused = yield* callTool(bot, name)
            assert.deepStrictEqual([refused.status, told(refused).tag], [429, "TooManyRequests"])
            assert.match(told(refused).detail!, /3 questions open at a time for questions\/open/)
            yield* asked(other, name)
            yield* decide(ada, open[0]!.decision, { verdict: "deny" })
            yield* asked(bot, name)
            assert.strictEqual((yield* callTool(bot, name)).status, 429)
            // Many at once find no more room than one after the other.
            for (const { decision } of open.slice(1)) yield* decide(ada, decision, { verdict: "deny" })
            const sql = yield* SqlClient.SqlClient
            const calls = Effect.forEach(Array.from({ length: 6 }), () => callTool(bot, name), {
              concurrency: "unbounded",
            })
            // On Postgres, none of them is committed before all are as far as they come: the journal is held.
            const held = Effect.gen(function* () {
              yield* sql`SELECT pg_advisory_xact_lock(${7_461_001})`
              const making = yield* Effect.forkChild(calls)
              const waiting = sql<{
                n: number
              }>`SELECT count(*) AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`
              yield* until(Effect.map(waiting, ([rows]) => rows!.n >= 6))
              return making
            })
            const many =
              store === "sqlite" ? yield* calls : yield* Effect.flatMap(sql.withTransaction(held), Fiber.join)
            assert.deepStrictEqual(many.map(({ status }) => status).toSorted(), [202, 202, 429, 429, 429, 429])
          }),
      )
    },
  )
