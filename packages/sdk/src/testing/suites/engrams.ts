/** Seed 002: engrams of a wallet, through the six tools of an agent. */
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

export interface Engrams {
  readonly one: ToolClient
  readonly other: ToolClient
  readonly wallet: string
  readonly otherWallet: string
}

const six = ["engram_create", "engram_delete", "engram_get", "engram_list_by_type", "engram_search", "engram_update"]

const create = (client: ToolClient, wallet: string, key: string, more: object = {}) =>
  expectDone(client, "engram_create", {
    wallet_address: wallet,
    engram_type: "knowledge",
    key,
    content: JSON.stringify({ key }),
    ...more,
  })
const get = (client: ToolClient, wallet: string, key: string) =>
  expectDone(client, "engram_get", { wallet_address: wallet, key })
const keysFound = async (client: ToolClient, input: object) =>
  ((await expectDone(client, "engram_search", input))["engrams"] as ReadonlyArray<{ readonly key: string }>).map(
    ({ key }) => key,
  )

export const engramsSuite = (open: () => Promise<Engrams>): ReadonlyArray<SuiteCase> =>
  casesOf(open, [
    ["S2-03", "an agent has exactly six tools", async ({ one }) => expectEqual(await namesOf(one), six, "the tools")],
    [
      "S2-05",
      "a tool that is not listed cannot be called",
      async ({ one, wallet }) => void (await expectRefused(one, "hecate_cleanup", { wallet_address: wallet })),
    ],
    [
      "S2-09 S2-10 S2-11",
      "each required field is asked for by name, types are five, content is JSON",
      async ({ one, wallet }) => {
        const whole = { wallet_address: wallet, engram_type: "knowledge", key: "k", content: "{}" }
        for (const field of Object.keys(whole)) {
          const { [field as keyof typeof whole]: _left, ...rest } = whole
          expectTrue((await expectRefused(one, "engram_create", rest)).includes(field), `the refusal names ${field}`)
        }
        await expectAllRefused(one, "engram_create", [
          { ...whole, engram_type: "conversation" },
          { ...whole, content: "{bad" },
        ])
        for (const engram_type of ["persona", "preference", "strategy", "knowledge", "compliance"])
          await create(one, wallet, `of.${engram_type}`, { engram_type })
      },
    ],
    [
      "S2-12 S2-14 S2-16",
      "a key is a wallet's once; private unless said; what is not there is found: false",
      async ({ one, wallet }) => {
        const made = await create(one, wallet, "same.key")
        await expectRefused(one, "engram_create", {
          wallet_address: wallet,
          engram_type: "strategy",
          key: "same.key",
          content: "{}",
        })
        const read = await get(one, wallet, "same.key")
        expectEqual([read["found"], read["id"], read["is_public"]], [true, made["id"], false], "the first one")
        expectEqual((await get(one, wallet, "no.such"))["found"], false, "not there")
      },
    ],
    [
      "S2-17 S2-21 S2-28",
      "another's private engrams are not there, by key, by search or by id; public ones are",
      async ({ one, other, wallet }) => {
        const hidden = await create(one, wallet, "hidden", { tags: ["t"] })
        await create(one, wallet, "open", { tags: ["t"], is_public: true })
        expectEqual((await get(other, wallet, "hidden"))["found"], false, "by key")
        expectEqual((await get(other, wallet, "open"))["found"], true, "a public one")
        expectEqual(await keysFound(other, { tags: ["t"] }), ["open"], "by search")
        await expectRefused(other, "engram_update", { id: hidden["id"], content: "{}" })
        await expectRefused(other, "engram_delete", { id: hidden["id"] })
        expectEqual((await get(one, wallet, "hidden"))["version"], 1, "nothing has changed")
      },
    ],
    [
      "S2-23 S2-25 S2-26",
      "an update raises the version and keeps tags that are not given; a deleted one is gone",
      async ({ one, wallet }) => {
        const { id } = await create(one, wallet, "k", { tags: ["keep"] })
        await expectDone(one, "engram_update", { id, content: '"two"' })
        const read = await get(one, wallet, "k")
        expectEqual([read["version"], read["content"], read["tags"]], [2, '"two"', ["keep"]], "updated")
        await expectDone(one, "engram_update", { id, content: '"three"', tags: [] })
        expectEqual((await get(one, wallet, "k"))["tags"], [], "tags cleared")
        await expectDone(one, "engram_delete", { id })
        expectEqual((await get(one, wallet, "k"))["found"], false, "deleted")
      },
    ],
    [
      "S2-78",
      "nobody writes to a wallet of another",
      async ({ one, otherWallet }) =>
        void (await expectRefused(one, "engram_create", {
          wallet_address: otherWallet,
          engram_type: "knowledge",
          key: "k",
          content: "{}",
        })),
    ],
  ])
