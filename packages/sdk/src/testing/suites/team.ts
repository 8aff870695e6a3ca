/** Seed 003: agents that work in a tree, write one hop, and never wait inside a call. */
// edge: mail of a server that is tested comes when it comes, by the machine's clock.
import {
  casesOf,
  expectDone,
  expectTrue,
  namesOf,
  type ToolClient,
  expectRefused,
  expectAllRefused,
  expectEqual,
  type SuiteCase,
} from "./suite.ts"

export interface Member {
  readonly name: string
  readonly client: ToolClient
}

/** A root with two children, and a child of the first. Mail starts nobody: the suite acts for all of them. */
export interface TeamWorld {
  readonly root: Member
  readonly one: Member
  readonly two: Member
  readonly kid: Member
}

const five = ["broadcast", "check_inbox", "inspect_agent", "send_message", "spawn_agent"]
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

interface Mail {
  readonly from: string
  readonly text: string
  readonly message_id: string
}

const send = (from: Member, to: Member, text: string, sync = false) =>
  expectDone(from.client, "send_message", { recipient: to.name, text, sync })
const inboxOf = async ({ client }: Member, filter: object = {}) =>
  (await expectDone(client, "check_inbox", filter))["messages"] as ReadonlyArray<Mail>

/** Mail may be delivered after the call has returned: polls until this many have come. */
const arrived = async (member: Member, count: number, filter: object = {}): Promise<ReadonlyArray<Mail>> => {
  const found: Array<Mail> = []
  for (let tries = 0; found.length < count; tries++) {
    expectTrue(tries < 200, `${member.name} got ${found.length} of ${count} messages`)
    found.push(...(await inboxOf(member, filter)))
    if (found.length < count) await new Promise((next) => setTimeout(next, 50))
  }
  return found
}

export const teamSuite = (open: () => Promise<TeamWorld>): ReadonlyArray<SuiteCase> =>
  casesOf(open, [
    [
      "S3-23",
      "the seed's five tools are there, each with its parameters",
      async ({ root }) => {
        const names = await namesOf(root.client)
        expectEqual(
          five.filter((name) => names.includes(name)),
          five,
          "the tools",
        )
        await expectAllRefused(root.client, "send_message", [
          { text: "x" },
          { recipient: 1, text: "x" },
          { recipient: "x" },
        ])
      },
    ],
    [
      "S3-24",
      "a message is sent at once, with its id and whether its reply is waited for",
      async ({ one, root }) => {
        const sent = await send(root, one, "look here")
        expectEqual([sent["status"], sent["waiting_for_reply"]], ["sent", false], "without a reply")
        expectTrue(uuid.test(String(sent["message_id"])), "the id is a uuid")
        const asked = await expectDone(root.client, "send_message", { recipient: one.name, text: "how far?" })
        expectEqual([asked["status"], asked["waiting_for_reply"]], ["sent", true], "with a reply, which is the default")
      },
    ],
    [
      "S3-25",
      "mail goes one hop: a grandparent, oneself and nobody are refused",
      async ({ kid, one, root, two }) => {
        for (const recipient of [root.name, two.name, kid.name, "nobody-of-that-name"])
          await expectRefused(kid.client, "send_message", { recipient, text: "x", sync: false })
        for (const [from, to] of [
          [kid, one],
          [one, root],
          [one, two],
          [root, one],
        ] as const)
          await send(from, to, "hello")
      },
    ],
    [
      "S3-29 S3-31",
      "a broadcast goes to siblings alone, and says to how many; who has none is told so",
      async ({ kid, one, root, two }) => {
        const sent = await expectDone(one.client, "broadcast", { text: "all hands" })
        expectEqual([sent["status"], sent["recipient_count"]], ["sent", 1], "one sibling")
        expectEqual(
          (await arrived(two, 1)).map(({ from, text }) => [from, text]),
          [[one.name, "all hands"]],
          "the sibling",
        )
        for (const other of [root, kid]) expectEqual(await inboxOf(other), [], "nobody else")
        const alone = await kid.client.call("broadcast", { text: "anybody?" })
        expectTrue(
          alone.isError || (alone.value as { recipient_count?: unknown }).recipient_count === 0,
          "an only child",
        )
      },
    ],
    [
      "S3-34 S3-35",
      "an inbox is read in order, once",
      async ({ one, root }) => {
        for (const text of ["first", "second", "third"]) await send(root, one, text)
        const all = await arrived(one, 3)
        expectEqual(
          all.map(({ from, text }) => [from, text]),
          ["first", "second", "third"].map((text) => [root.name, text]),
          "in order",
        )
        expectEqual(await inboxOf(one), [], "the second time")
      },
    ],
    [
      "S3-36",
      "mail is read by sender; the rest stays",
      async ({ kid, one, root }) => {
        await send(root, one, "from above")
        await send(kid, one, "from below")
        expectEqual(
          (await arrived(one, 1, { sender: kid.name })).map(({ text }) => text),
          ["from below"],
          "of the child",
        )
        expectEqual(
          (await arrived(one, 1)).map(({ text }) => text),
          ["from above"],
          "the rest",
        )
      },
    ],
    [
      "S3-38 S3-39 S3-42",
      "a child is made at once, under a name that nobody near has, and can be written to",
      async ({ one, root, two }) => {
        const made = await expectDone(one.client, "spawn_agent", { name: `${one.name}-helper`, instructions: "Count." })
        expectEqual([made["status"], made["name"]], ["created", `${one.name}-helper`], "the child")
        expectTrue(uuid.test(String(made["agent_id"])), "its id is a uuid")
        await send(one, { name: `${one.name}-helper`, client: one.client }, "begin")
        const wanted = { instructions: "Count." }
        await expectAllRefused(root.client, "spawn_agent", [
          { ...wanted, name: two.name },
          { ...wanted, name: root.name },
          { ...wanted, name: "" },
          { ...wanted, name: `${root.name}-odd`, role: "manager" },
        ])
      },
    ],
    [
      "S3-47 S3-48",
      "a subordinate is inspected, a parent and a sibling are not, and its inbox stays as it is",
      async ({ one, root, two }) => {
        await send(root, one, "still here?")
        const seen = await expectDone(root.client, "inspect_agent", { name: one.name })
        expectTrue(["idle", "busy", "waiting"].includes(String(seen["state"])), "its state")
        expectTrue(Array.isArray(seen["recent_messages"]), "what was said lately")
        expectEqual(
          (await arrived(one, 1)).map(({ text }) => text),
          ["still here?"],
          "its inbox",
        )
        await expectRefused(one.client, "inspect_agent", { name: root.name })
        await expectRefused(one.client, "inspect_agent", { name: two.name })
      },
    ],
  ])
