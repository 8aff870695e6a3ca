/** The rules of toolset `team`: whom one may write to, what answers what, and that every tool returns at once. */
import { assert, layer } from "@effect/vitest"
import { toolNames } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest } from "../house.ts"
import { stores } from "../runs/runsKit.ts"
import { fresh, refused, someone, type Someone } from "../spaces/spacesGuests.ts"
import { failure, family, inbox, type Json, outside, programmed, teamHouse, use } from "./teamKit.ts"

/** What only a program in its turn has. */
const ofTurns = ["permit_use"]

for (const store of stores)
  layer(teamHouse({ store }), { excludeTestServices: true, timeout: 60_000 })(
    `the rules of a team on ${store}`,
    (it) => {
      it.effect("what an agent is refused or asked for by its name binds those below it, and ends with the tie", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { kid, one, root } = yield* family
          const verdict = (who: Someone, resource: string) =>
            Effect.map(
              ask(() => admin.grants.judge({ principal: who.id, action: "execute", resource })),
              (judged) => (judged as { readonly verdict: string }).verdict,
            )
          const rules = [
            ["tools/whoami", "deny"],
            ["tools/broadcast", "ask"],
          ] as const
          for (const [resource, effect] of rules)
            yield* ask(() => admin.grants.add({ principal: root.id, resource, actions: ["execute"], effect }))
          for (const who of [root, one, kid])
            for (const [resource, effect] of rules) assert.strictEqual(yield* verdict(who, resource), effect, who.name)
          yield* ask(() => admin.agents.change(one.id, { parent: null }))
          for (const who of [one, kid]) assert.strictEqual(yield* verdict(who, "tools/whoami"), "allow")
        }),
      )

      it.effect(
        "S3-25 S3-55 S3-65 mail goes one hop: grandparent, cousin, self, unknown and other roots are refused",
        () =>
          Effect.gen(function* () {
            const { kid, one, root, two } = yield* family
            const other = yield* outside()
            const cousin = yield* outside(two)
            for (const far of [root.name, cousin.name, other.name])
              assert.match(
                yield* failure(kid, "send_message", { recipient: far, text: "x", sync: false }),
                /more than one hop away.*parent, your children and your siblings only/,
              )
            assert.match(yield* failure(kid, "send_message", { recipient: kid.name, text: "x" }), /yourself/)
            assert.match(
              yield* failure(kid, "send_message", { recipient: "nobody-here", text: "x" }),
              /nobody-here.*one hop/,
            )
            assert.match(yield* failure(root, "send_message", { recipient: other.name, text: "x" }), /one hop/)
            for (const [who, name] of [
              [kid, one.name],
              [one, root.name],
              [one, two.name],
              [root, one.name],
            ] as const)
              assert.deepInclude(yield* use(who, "send_message", { recipient: name, text: "hello", sync: false }), {
                status: "sent",
                waiting_for_reply: false,
              })
            assert.deepStrictEqual(
              (yield* inbox(one)).map(({ from, text }) => [from, text]),
              [
                [kid.name, "hello"],
                [root.name, "hello"],
              ],
            )
          }),
      )

      it.effect("whoever writes in a team whose space is archived is refused in words; nothing is kept or made", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { one, root, two } = yield* family
          yield* use(root, "send_message", { recipient: one.name, text: "before", sync: false })
          const { items } = yield* ask(() => admin.spaces.list({ limit: 100 }))
          const space = items.find(({ members, kind }) => kind === "team" && members.some(({ id }) => id === root.id))!
          yield* ask(() => admin.spaces.change(space.id, { archived: true }))
          const child = { name: fresh("child"), instructions: "Work." }
          const said = /the space of this team, is archived.*can bring it back/
          // One who is not in it yet, one who is, everybody, and one who was just made.
          assert.match(yield* failure(two, "send_message", { recipient: root.name, text: "x", sync: false }), said)
          assert.match(yield* failure(root, "send_message", { recipient: one.name, text: "x" }), said)
          assert.match(yield* failure(two, "broadcast", { text: "x" }), said)
          assert.match(yield* failure(two, "complete", { result: "x" }), said)
          assert.match(yield* failure(root, "spawn_agent", child), said)
          const refusal = yield* refused(() => admin.agents.spawn(root.id, child))
          assert.deepStrictEqual([refusal.status, refusal.tag], [409, "WrongState"])
          assert.match(refusal.message, said)
          yield* ask(() => admin.spaces.change(space.id, { archived: false }))
          yield* use(root, "spawn_agent", child)
          yield* use(two, "send_message", { recipient: root.name, text: "after", sync: false })
          assert.deepStrictEqual(
            (yield* inbox(root)).map(({ from, text }) => [from, text]),
            [[two.name, "after"]],
          )
          const messages = yield* ask(() => admin.spaces.messages(space.id))
          assert.deepStrictEqual(
            messages.items.map(({ text }) => text),
            ["before", "Work.", "after"],
          )
        }),
      )

      it.effect("S3-17 X-07 a message back answers the oldest open request, unless reply_to names another", () =>
        Effect.gen(function* () {
          const { one, root } = yield* family
          const first = yield* use(root, "send_message", { recipient: one.name, text: "first" })
          const second = yield* use(root, "send_message", { recipient: one.name, text: "second" })
          assert.deepInclude(first, { waiting_for_reply: true })
          yield* use(one, "send_message", {
            recipient: root.name,
            text: "to the second",
            reply_to: second["message_id"],
          })
          yield* (yield* Readers).receipt("runs")
          yield* use(one, "send_message", { recipient: root.name, text: "to the first" })
          const found = yield* inbox(root)
          assert.deepStrictEqual(
            found.map(({ reply_to, text }) => [text, reply_to]),
            [
              ["to the second", second["message_id"]],
              ["to the first", first["message_id"]],
            ],
          )
          // And in the other order.
          const again = yield* use(root, "send_message", { recipient: one.name, text: "a" })
          const more = yield* use(root, "send_message", { recipient: one.name, text: "b" })
          yield* use(one, "send_message", { recipient: root.name, text: "1" })
          yield* (yield* Readers).receipt("runs")
          yield* use(one, "send_message", { recipient: root.name, text: "2" })
          assert.deepStrictEqual(
            (yield* inbox(root)).map(({ reply_to }) => reply_to),
            [again["message_id"], more["message_id"]],
          )
        }),
      )

      it.effect("S3-17 two messages back at once answer two requests; reply_to names what the recipient wrote", () =>
        Effect.gen(function* () {
          const { one, root, two } = yield* family
          const asked = yield* Effect.forEach(["a", "b"], (text) =>
            use(root, "send_message", { recipient: one.name, text }),
          )
          yield* Effect.forEach(["1", "2"], (text) => use(one, "send_message", { recipient: root.name, text }), {
            concurrency: "unbounded",
          })
          assert.deepStrictEqual(
            (yield* inbox(root)).map(({ reply_to }) => reply_to),
            asked.map((sent) => sent["message_id"]),
          )
          // What is said to one answers nobody else.
          const question = yield* use(two, "send_message", { recipient: one.name, text: "And you?" })
          const mail = { recipient: root.name, text: "for you alone", reply_to: question["message_id"] }
          assert.match(yield* failure(one, "send_message", mail), /names no message of/)
          assert.deepStrictEqual(yield* inbox(two), [])
        }),
      )

      it.effect(
        "S3-29 S3-30 S3-31 S3-32 X-11 a broadcast goes to the siblings, each in an envelope; replies are correlated",
        () =>
          Effect.gen(function* () {
            const { kid, one, root, three, two } = yield* family
            const sent = yield* use(one, "broadcast", { text: "Who has time?" })
            assert.deepStrictEqual(Object.keys(sent), ["status", "message_id", "recipient_count"])
            assert.deepInclude(sent, { status: "sent", recipient_count: 2 })
            for (const who of [two, three]) {
              assert.deepStrictEqual(
                (yield* inbox(who)).map(({ from, message_id, text }) => [from, text, message_id]),
                [[one.name, "Who has time?", sent["message_id"]]],
              )
              // Outside of a run, only a reply answers.
              const reply = { recipient: one.name, text: `${who.name} has`, reply_to: sent["message_id"] }
              assert.deepInclude(yield* use(who, "send_message", reply), { waiting_for_reply: false })
            }
            assert.deepStrictEqual(
              (yield* inbox(one)).map(({ from, reply_to }) => [from, reply_to]),
              [
                [two.name, sent["message_id"]],
                [three.name, sent["message_id"]],
              ],
            )
            for (const who of [root, kid]) assert.deepStrictEqual(yield* inbox(who), [])
            const sql = yield* SqlClient.SqlClient
            const envelopes = yield* sql<{ mail: string }>`SELECT mail FROM triggers
          WHERE message = ${`msg_${String(sent["message_id"])}`}`
            assert.strictEqual(new Set(envelopes.map(({ mail }) => (JSON.parse(mail) as { id: string }).id)).size, 2)
            for (const who of [root, kid]) assert.match(yield* failure(who, "broadcast", { text: "x" }), /no siblings/)
          }),
      )

      it.effect("S3-17 S3-30 an open broadcast takes no later question for its answer, however it was asked", () =>
        Effect.gen(function* () {
          for (const more of [{}, { gather: "all" }]) {
            const { one, two } = yield* family
            const sent = yield* use(one, "broadcast", { text: "Who has time?", ...more })
            yield* inbox(two)
            for (const sync of [{}, { sync: true }, { sync: false }]) {
              const question = { recipient: one.name, text: "What for?", ...sync }
              assert.deepInclude(yield* use(two, "send_message", question), { waiting_for_reply: sync.sync ?? true })
              const [got] = yield* inbox(one)
              assert.deepInclude(got!, { text: "What for?" })
              assert.notProperty(got!, "reply_to")
            }
            // It can still be answered.
            const reply = { recipient: one.name, text: "I have", reply_to: sent["message_id"] }
            assert.deepInclude(yield* use(two, "send_message", reply), { waiting_for_reply: false })
            assert.strictEqual((yield* inbox(one))[0]!["reply_to"], sent["message_id"])
          }
        }),
      )

      it.effect(
        "S3-26 S3-42 S3-38 a child's name is free, and free near its parent; a role is worker or reviewer",
        () =>
          Effect.gen(function* () {
            const { kid, one, root, two } = yield* family
            const spawn = (name: string, more: Json = {}) =>
              failure(one, "spawn_agent", { name, instructions: "Work.", ...more })
            assert.match(yield* spawn(kid.name), /your child is called/)
            assert.match(yield* spawn(two.name), /your sibling is called/)
            assert.match(yield* spawn(root.name), /your parent is called/)
            assert.match(yield* spawn(one.name), /your own name/)
            assert.match(yield* spawn("  "), /name/)
            for (const bad of [
              { name: "", instructions: "x" },
              { name: fresh("x") },
              { name: fresh("x"), instructions: "x", role: "manager" },
            ]) {
              const refusal = yield* Effect.flip(ask(() => one.client.tools.call("spawn_agent", { input: bad })))
              assert.strictEqual((refusal as { readonly status: number }).status, 400)
            }
            const made = yield* use(one, "spawn_agent", { name: fresh("new"), instructions: "Work.", role: "reviewer" })
            assert.deepInclude(made, { status: "created" })
            // What may be left out may be said, too: the seed's own null for the whole workspace.
            const usual = { name: fresh("usual"), instructions: "Work.", role: "worker", workspace_subdir: null }
            assert.deepInclude(yield* use(one, "spawn_agent", usual), { status: "created", name: usual.name })
          }),
      )

      it.effect(
        "S3-26 S3-42 X-48 a name is unique near its agent; elsewhere in the house it is a path, for all who look",
        () =>
          Effect.gen(function* () {
            const { admin } = yield* Guest
            const [lead, other] = [yield* outside(), yield* outside()]
            const name = fresh("worker")
            const made: Array<{ readonly id: string; readonly parent: Someone }> = []
            for (const parent of [lead, other]) {
              const child = yield* use(parent, "spawn_agent", { name, instructions: "Work." })
              assert.deepInclude(child, { status: "created", name })
              made.push({ id: `prn_${String(child["agent_id"])}`, parent })
              assert.match(yield* failure(parent, "spawn_agent", { name, instructions: "x" }), /your child is called/)
            }
            const path = `${other.name}.${name}`
            const shown = yield* Effect.forEach(made, ({ id }) => ask(() => admin.agents.get(id)))
            assert.deepStrictEqual(
              shown.map((agent) => [agent.name, agent.called]),
              [
                [name, undefined],
                [path, name],
              ],
            )
            // Whoever looks from elsewhere finds each under one name alone.
            assert.strictEqual((yield* ask(() => admin.agents.get(name))).id, made[0]!.id)
            assert.strictEqual((yield* ask(() => admin.agents.get(path))).id, made[1]!.id)
            // Each hears its own parent, and is heard by it, under the name it has there, its path and its id.
            for (const { id, parent } of made) {
              const { token } = yield* ask(() => admin.tokens.add({ principal: id }))
              const { as } = yield* Guest
              const child = { ...parent, client: as(token) }
              yield* inbox(child)
              // A tool returns its id without a prefix.
              const bare = id.slice("prn_".length)
              for (const recipient of parent === other ? [name, path, id, bare] : [name, id, bare]) {
                yield* use(parent, "send_message", { recipient, text: "hello", sync: false })
                assert.deepStrictEqual(
                  (yield* inbox(child)).map(({ from, text }) => [from, text]),
                  [[parent.name, "hello"]],
                )
              }
              yield* use(child, "send_message", { recipient: parent.name, text: "yes", sync: false })
              assert.deepStrictEqual(
                (yield* inbox(parent, { sender: name })).map(({ from }) => from),
                [name],
              )
              assert.deepInclude(yield* use(child, "whoami"), { name, parent: parent.name })
              const { children } = yield* use(parent, "list_team")
              assert.deepInclude((children as ReadonlyArray<object>)[0]!, { name })
              const seen = yield* use(parent, "inspect_agent", { name })
              assert.deepInclude(seen, { state: "idle" })
              const mail = seen["recent_messages"] as ReadonlyArray<Record<"from" | "to", string>>
              assert.sameMembers([...new Set(mail.flatMap(({ from, to }) => [from, to]))], [name, parent.name])
              // From outside, its messages have the names of the house.
              const outside = yield* ask(() => admin.agents.inspect(id))
              const whole = parent === other ? path : name
              assert.sameMembers(
                [...new Set(outside.messages.flatMap(({ from, to }) => [from, to]))],
                [whole, parent.name],
              )
              assert.match(yield* failure(child, "send_message", { recipient: name, text: "x" }), /yourself/)
              // Nobody below takes it either.
              assert.match(yield* failure(child, "spawn_agent", { name, instructions: "x" }), /your own name/)
            }
            // A person's name, and what reads like it, stays theirs: a child is not taken for them.
            const ada = yield* someone()
            assert.match(yield* failure(lead, "spawn_agent", { name: ada.name, instructions: "x" }), /taken|already/)
            // Who works for somebody else has its whole name there.
            yield* ask(() => admin.agents.change(made[1]!.id, { parent: lead.id }))
            const { children } = yield* use(lead, "list_team")
            assert.sameMembers(
              (children as ReadonlyArray<{ readonly name: string }>).map((one) => one.name),
              [name, path],
            )
            assert.notProperty(yield* ask(() => admin.agents.get(made[1]!.id)), "called")
          }),
      )

      it.effect("S3-26 S3-42 a child's name is not that of a child of its siblings, whichever came first", () =>
        Effect.gen(function* () {
          const { one, root, three, two } = yield* family
          const name = fresh("worker")
          const spawn = (who: Someone) => use(who, "spawn_agent", { name, instructions: "Work." })
          const first = yield* spawn(one)
          yield* spawn(two)
          // For `one` and `two`, it could not be told from their own.
          assert.match(String((yield* spawn(root))["message"]), /has a child called/)
          const { status } = yield* use(one, "stop_agent", { name, remove: true })
          assert.strictEqual(status, "removed", String(first["agent_id"]))
          yield* use(two, "stop_agent", { name, remove: true })
          assert.deepInclude(yield* spawn(root), { status: "created", name })
          assert.match(String((yield* spawn(three))["message"]), /your sibling is called/)
        }),
      )

      it.effect("a child has a name as everybody has, and none that the house goes by in mail", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { one } = yield* family
          const spawn = (name: string) => failure(one, "spawn_agent", { name, instructions: "Work." })
          for (const name of ["USER ", "a\nMessage from USER", "<b>", "-x"])
            assert.match(yield* spawn(name), /must have 1/)
          for (const name of ["user", "USER", "System", "The House", "the-house", "your plan"])
            assert.match(yield* spawn(name), /a name that the house itself uses/)
          const lead = yield* programmed()
          for (const program of ["constructor", "__proto__", "none"]) {
            const wanted = { name: fresh("child"), instructions: "Work.", program }
            const refusal = yield* Effect.flip(ask(() => admin.agents.spawn(lead.id, wanted)))
            assert.strictEqual((refusal as { readonly status: number }).status, 400)
          }
        }),
      )

      it.effect("who takes the name of a DM or of a team's space gets none of their mail, and stops nobody", () =>
        Effect.gen(function* () {
          const { one, root } = yield* family
          const [ada, mallory] = [yield* someone(), yield* someone()]
          const taken = yield* Effect.forEach(
            [`dm-${root.name}-${ada.id.slice(-6)}`, `team-${one.name}-${one.id.slice(-6)}`],
            (name) => ask(() => mallory.client.spaces.add({ name, kind: "public" })),
          )
          yield* ask(() => ada.client.agents.say(root.name, { text: "between us" }))
          yield* ask(() => ada.client.agents.say(root.name, { text: "again" }))
          assert.deepStrictEqual(
            (yield* inbox(root)).map(({ text }) => text),
            ["between us", "again"],
          )
          const wanted = { name: fresh("new"), instructions: "Work." }
          assert.deepInclude(yield* use(one, "spawn_agent", wanted), { status: "created" })
          for (const { id } of taken)
            assert.deepStrictEqual((yield* ask(() => mallory.client.spaces.messages(id))).items, [])
        }),
      )

      it.effect("a parent that looks at its child reads what they share, and not what others told the child", () =>
        Effect.gen(function* () {
          const { one, root } = yield* family
          const ada = yield* someone()
          yield* ask(() => ada.client.agents.say(one.name, { text: "for you alone" }))
          yield* use(root, "send_message", { recipient: one.name, text: "hello", sync: false })
          yield* (yield* Readers).receipt("runs")
          const seen = yield* use(root, "inspect_agent", { name: one.name })
          assert.deepStrictEqual(
            (seen["recent_messages"] as ReadonlyArray<Json>).map(({ text }) => text),
            ["hello"],
          )
        }),
      )

      it.effect("S3-48 S3-57 G-04 G-06 only children are inspected and stopped, and only leaves removed", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { kid, one, root, two } = yield* family
          yield* use(root, "send_message", { recipient: one.name, text: "hello", sync: false })
          yield* (yield* Readers).receipt("runs")
          const seen = yield* use(root, "inspect_agent", { name: one.name })
          assert.strictEqual(seen["state"], "idle")
          assert.deepStrictEqual(
            (seen["recent_messages"] as ReadonlyArray<Json>).map(({ from, text }) => [from, text]),
            [[root.name, "hello"]],
          )
          assert.strictEqual((yield* inbox(one)).length, 1)
          // What it writes and calls is recent activity, too, oldest first.
          yield* use(one, "send_message", { recipient: kid.name, text: "go on", sync: false })
          yield* use(one, "send_message", { recipient: root.name, text: "on it", sync: false })
          yield* (yield* Readers).receipt("runs")
          const busy = yield* use(root, "inspect_agent", { name: one.name })
          assert.deepStrictEqual(
            (busy["recent_messages"] as ReadonlyArray<Json>).map(({ from, text, to }) => [from, to, text]),
            [
              [root.name, one.name, "hello"],
              [one.name, root.name, "on it"],
            ],
            "what it tells its own child is not for its parent",
          )
          assert.deepStrictEqual(
            (busy["recent_calls"] as ReadonlyArray<Json>).map(({ state, tool }) => [tool, state]),
            [
              ["check_inbox", "done"],
              ["send_message", "done"],
              ["send_message", "done"],
            ],
          )
          // The last ten of each, and a reply that it got among them.
          for (let n = 1; n <= 10; n++)
            yield* use(one, "send_message", { recipient: root.name, text: `word ${n}`, sync: false })
          yield* use(one, "send_message", { recipient: root.name, text: "well?" })
          yield* (yield* Readers).receipt("runs")
          yield* use(root, "send_message", { recipient: one.name, text: "well." })
          yield* (yield* Readers).receipt("runs")
          const long = yield* use(root, "inspect_agent", { name: one.name })
          assert.deepStrictEqual(
            (long["recent_messages"] as ReadonlyArray<Json>).map(({ text }) => text),
            [...[3, 4, 5, 6, 7, 8, 9, 10].map((n) => `word ${n}`), "well?", "well."],
          )
          assert.deepStrictEqual(
            (long["recent_calls"] as ReadonlyArray<Json>).map(({ tool }) => tool),
            Array.from({ length: 10 }, () => "send_message"),
          )
          // A rule that hides the space hides what was said there, by whichever way a parent looks.
          const blind = {
            principal: root.id,
            resource: "spaces/*",
            actions: ["read" as const],
            effect: "deny" as const,
          }
          const grant = (yield* ask(() => admin.grants.add(blind))) as { readonly id: string }
          assert.deepStrictEqual((yield* use(root, "inspect_agent", { name: one.name }))["recent_messages"], [])
          yield* ask(() => admin.grants.revoke(grant.id))
          for (const name of [two.name, root.name])
            assert.match(yield* failure(one, "inspect_agent", { name }), /only your own children/)
          assert.match(yield* failure(root, "stop_agent", { name: one.name, remove: true }), /only leaves/)
          const near = yield* use(one, "list_team")
          assert.strictEqual((near["parent"] as Json)["name"], root.name)
          assert.deepStrictEqual(
            (near["children"] as ReadonlyArray<Json>).map(({ name }) => name),
            [kid.name],
          )
          assert.deepInclude(yield* use(kid, "whoami"), { name: kid.name, parent: one.name, depth: 2, role: "worker" })
          assert.deepInclude(yield* use(one, "stop_agent", { name: kid.name, remove: true }), { status: "removed" })
          const { items } = yield* ask(() => admin.agents.tree())
          assert.isFalse(items.some(({ id }) => id === kid.id))
          assert.deepStrictEqual(items.find(({ id }) => id === root.id)?.children.length, 3)
        }),
      )

      it.effect("S3-27 S3-36 a root writes to USER and is written to by it; filters leave the rest", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { one, root, two } = yield* family
          assert.match(yield* failure(one, "send_message", { recipient: "USER", text: "x" }), /Only a root agent/)
          assert.deepInclude(yield* use(root, "send_message", { recipient: "USER", text: "Shall I?", sync: false }), {
            status: "sent",
          })
          yield* ask(() => admin.agents.say(root.name, { text: "Yes." }))
          yield* use(one, "send_message", { recipient: root.name, text: "from one", sync: false })
          yield* use(two, "send_message", { recipient: root.name, text: "from two", sync: false })
          assert.deepStrictEqual(
            (yield* inbox(root, { sender: two.name })).map(({ text }) => text),
            ["from two"],
          )
          assert.deepStrictEqual(yield* inbox(root, { kind: "multicast" }), [])
          // Both filters must fit: there is mail from this one, and mail of that kind, but none that is both.
          yield* use(two, "broadcast", { text: "to siblings" })
          assert.deepStrictEqual(yield* inbox(one, { sender: two.name, kind: "notification" }), [])
          assert.deepStrictEqual(
            (yield* inbox(one, { sender: two.name, kind: "multicast" })).map(({ from, text }) => [from, text]),
            [[two.name, "to siblings"]],
          )
          yield* ask(() => admin.agents.say(root.name, { text: "At once." }))
          // By the name that mail is shown with.
          const human = yield* inbox(root, { sender: "USER" })
          assert.deepStrictEqual(
            human.map(({ from, text }) => [from, text]),
            [
              ["USER", "Yes."],
              ["USER", "At once."],
            ],
          )
          assert.deepStrictEqual(
            (yield* inbox(root)).map(({ from, text }) => [from, text]),
            [[one.name, "from one"]],
          )
        }),
      )

      it.effect(
        "S2-07 S3-50 X-51 S3-74 its tools are those of its toolset and no others, and no other name is dispatched",
        () =>
          Effect.gen(function* () {
            const { one } = yield* family
            const { items } = yield* ask(() => one.client.tools.list())
            assert.deepStrictEqual(
              items.map(({ name }) => name).toSorted(),
              toolNames.team.filter((name) => !ofTurns.includes(name)).toSorted(),
            )
            for (const name of ["read_file", "write_file", "file-read", "spawn", "stop", "activity", "instruct"]) {
              const refusal = yield* Effect.flip(ask(() => one.client.tools.call(name, { input: {} })))
              assert.strictEqual((refusal as { readonly status: number }).status, 404, name)
            }
          }),
      )

      it.effect("X-01 X-47 an agent of all three toolsets has one send_message, and each seed's form of it", () =>
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { one, root } = yield* family
          yield* ask(() => admin.principals.change(root.id, { toolsets: ["team", "office", "gateway"] }))
          const space = yield* ask(() => admin.spaces.add({ name: fresh("hall"), kind: "public", members: [root.id] }))
          const office = yield* use(root, "send_message", { channelId: space.name, text: "to the hall" })
          assert.isString(office["messageId"])
          const team = yield* use(root, "send_message", { recipient: one.name, text: "to you", sync: false })
          assert.deepInclude(team, { status: "sent", waiting_for_reply: false })
          assert.match(
            yield* failure(root, "send_message", { recipient: one.name, channelId: space.name, text: "both" }),
            /does not go with/,
          )
          const { items } = yield* ask(() => root.client.tools.list())
          assert.strictEqual(items.filter(({ name }) => name === "send_message").length, 1)
          // Without an active space to stand in, one of the two must say where it goes.
          yield* ask(() => admin.principals.change(root.id, { toolsets: ["team", "office"] }))
          for (const more of [{}, { sync: true }])
            assert.match(
              yield* failure(root, "send_message", { text: "to nobody", ...more }),
              /^Give "recipient" or "channelId"|^Give "channelId" or "recipient"/,
            )
        }),
      )
    },
  )
