/** Seed 000: the six tools of an agent in an office. */
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

export interface Office {
  readonly one: ToolClient
  readonly other: ToolClient
  /** A channel that both are members of, and a private one that only `other` is. */
  readonly channel: string
  readonly closed: string
}

const six = ["do_nothing", "react_to_message", "search_memory", "send_message", "store_memory", "update_memory"]

interface Passage {
  readonly id: string
  readonly content: string
  readonly tags: unknown
  readonly createdAt: string
}
const passages = async (client: ToolClient, query: string) =>
  (await expectDone(client, "search_memory", { query }))["passages"] as ReadonlyArray<Passage>

export const officeSuite = (open: () => Promise<Office>): ReadonlyArray<SuiteCase> =>
  casesOf(open, [
    ["S0-01", "exactly six tools are listed", async ({ one }) => expectEqual(await namesOf(one), six, "the tools")],
    [
      "S0-04",
      "no tool takes an agent's id, and one that is given anyway acts for nobody else",
      async ({ channel, one }) => {
        for (const { inputSchema, name } of await one.tools())
          for (const key of Object.keys(inputSchema.properties ?? {}))
            expectTrue(!/agent|user_?id/i.test(key), `${name} takes ${key}`)
        await one.call("store_memory", { content: "mine", agentId: "somebody-else" })
        await one.call("send_message", { channelId: channel, text: "hi", agentId: "somebody-else" })
      },
    ],
    [
      "S0-07 S0-08 S0-15",
      "send_message needs channel and text, gives the message's id, and knows no other channel",
      async ({ channel, one }) => {
        await expectAllRefused(one, "send_message", [
          {},
          { channelId: channel },
          { text: "hi" },
          { channelId: channel, text: 1 },
          { channelId: channel, text: "" },
          { channelId: "no-such-channel", text: "hi" },
        ])
        const sent = await expectDone(one, "send_message", { channelId: channel, text: "Bears. Beets." })
        expectEqual(Object.keys(sent), ["messageId"], "what send_message gives")
        expectTrue(typeof sent["messageId"] === "string", "messageId is a string")
      },
    ],
    [
      "S0-16",
      "whoever is no member sends nothing to a private channel",
      async ({ closed, one, other }) => {
        await expectRefused(one, "send_message", { channelId: closed, text: "hi" })
        await expectDone(other, "send_message", { channelId: closed, text: "hi" })
      },
    ],
    [
      "S0-21 S0-24 S0-25",
      "react_to_message gives success, twice as once; an unknown message is refused",
      async ({ channel, one, other }) => {
        const { messageId } = await expectDone(one, "send_message", { channelId: channel, text: "look" })
        for (const _time of [1, 2])
          expectEqual(
            await expectDone(other, "react_to_message", { messageId, emoji: "👍" }),
            { success: true },
            "a reaction",
          )
        await expectRefused(other, "react_to_message", {
          messageId: "00000000-0000-4000-8000-000000000000",
          emoji: "👍",
        })
      },
    ],
    [
      "S0-28",
      "do_nothing does nothing",
      async ({ one }) => expectEqual(await expectDone(one, "do_nothing"), { action: "none" }, "do_nothing"),
    ],
    [
      "S0-32 S0-35",
      "update_memory makes a block, then changes it; a label is needed",
      async ({ one }) => {
        for (const content of ["shy", "bold"])
          expectEqual(
            await expectDone(one, "update_memory", { label: "mood", content }),
            { success: true },
            "update_memory",
          )
        await expectAllRefused(one, "update_memory", [{ content: "x" }, { label: "", content: "x" }, { label: "mood" }])
      },
    ],
    [
      "S0-39 S0-40 S0-41 S0-43",
      "search_memory finds one's own passages by any part of them, whatever the case; % and _ are themselves",
      async ({ one, other }) => {
        await expectDone(one, "store_memory", { content: "Sold 100% of the Paper", tags: ["sales"] })
        await expectDone(one, "store_memory", { content: "Sold 1000 reams" })
        await expectDone(other, "store_memory", { content: "My own PAPER" })
        const [found, ...more] = await passages(one, "pAPER")
        expectEqual(more.length, 0, "only one's own passages")
        expectEqual(Object.keys(found ?? {}).toSorted(), ["content", "createdAt", "id", "tags"], "a passage")
        expectEqual(found?.tags, ["sales"], "its tags")
        expectEqual(
          (await passages(one, "100%")).map(({ content }) => content),
          ["Sold 100% of the Paper"],
          "% is itself",
        )
        expectEqual(await passages(one, "1_0"), [], "_ is itself")
      },
    ],
    [
      "S0-45 S0-46 S0-47",
      "store_memory gives the passage's id, which is found at once; tags are texts, or none",
      async ({ one }) => {
        const bare = await expectDone(one, "store_memory", { content: "a plain note" })
        expectEqual(Object.keys(bare), ["passageId"], "what store_memory gives")
        const [found] = await passages(one, "plain note")
        expectEqual(found?.id, bare["passageId"], "the passage found")
        await expectAllRefused(one, "store_memory", [
          {},
          { content: 1 },
          { content: "x", tags: [1] },
          { content: "x", tags: "x" },
        ])
      },
    ],
  ])
