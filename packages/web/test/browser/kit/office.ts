/** A house with somebody in it: the harbour office of the mock-ups, made through the house's own doors. */
import type { Stoa } from "@stoa/sdk"
import type { houseInBrowser } from "./houseInBrowser.ts"

type HouseInBrowser = ReturnType<typeof houseInBrowser>

const text = { type: "string" }
const object = (properties: Record<string, unknown>, required: ReadonlyArray<string> = []) => ({
  type: "object",
  properties,
  required,
})

const mail = object(
  {
    to: { type: "array", items: { type: "string", format: "email" }, title: "to" },
    subject: { ...text, maxLength: 100 },
    text: { ...text, maxLength: 4000 },
  },
  ["to", "subject", "text"],
)

const letter = {
  to: ["orders@hansa-lamps.example", "mira@oliva.example", "einkauf@kontor-nord.example"],
  subject: "Your order is 48 hours late",
  text: [
    "Dear customer,",
    "the Meltemi lies at Kythira with engine trouble. Your order now comes on Tuesday morning.",
    "We will refund the late fee.",
    "",
    "Call Maya at the office if that is too late for you.",
    "",
    "The harbour office",
  ].join("\n"),
}

/** Functions of this process, offered as tools: they answer as long as it runs. */
const offer = async (house: Stoa) => {
  await house.tool("list_ships", object({ port: text, due: text }), () =>
    Promise.resolve({ ships: ["Meltemi", "Aura", "Zephyr", "Notos"].map((name) => ({ name, berth: null })) }),
  )
  await house.tool("orders_on_board", object({ ship: text, open: { type: "boolean" } }), () =>
    Promise.resolve({
      orders: [
        { order: 4471, customer: "Hansa Lamps" },
        { order: 4476, customer: "Oliva" },
        { order: 4480, customer: "Kontor Nord" },
      ],
    }),
  )
  await house.tool("declare", object({ order: { type: "integer" } }), () =>
    Promise.reject(new Error("401: the customs office does not know this key")),
  )
}

const tools = [
  { name: "send_mail", description: "Sends a mail", inputSchema: mail, riskLevel: "high" },
  {
    name: "transfer",
    description: "Pays somebody",
    inputSchema: object({ to: text, amount: { type: "number" }, currency: text }, ["to", "amount"]),
    riskLevel: "critical",
  },
] as const

/** What would be sent is not sent: the tools of a test do nothing. */
const execution = { operation: "evaluate", expression: "1" }

const berth = {
  name: "choose_berth",
  description: "Which berth for the Aura?",
  executionType: "space",
  inputSchema: object({ ship: text }),
  outputSchema: object(
    {
      berth: { type: "integer", enum: [7, 8, 9], title: "Berth" },
      arrival: { type: "string", format: "date-time", title: "Arrival" },
      note: { type: "string", title: "Note" },
    },
    ["berth"],
  ),
} as const

/** What Maya keeps: a block that has changed, a fact, and what must not be forgotten. */
const remember = async (who: Stoa) => {
  const block = (content: string) => who.memory.put({ kind: "block", key: "harbour", content })
  await block("**Piraeus, our berths.** 7 and 8 until Friday.\n\n**Meltemi.** Due Sunday, 06:00.")
  await block(
    "**Piraeus, our berths.** 7 and 8 until Friday; 8 is too short for the Aura.\n\n**Meltemi.** At Kythira with engine trouble; expected Tuesday, 06:30.",
  )
  await who.memory.put({ kind: "fact", key: "clause 7", content: "A late fee of 3 % a day, after the first." })
  await who.memory.put({ kind: "goal", key: "no surprises", content: "No customer hears it from us last." })
}

export const fillOffice = async (houseInBrowser: Pick<HouseInBrowser, "admin" | "as" | "person">) => {
  const house = houseInBrowser.admin()
  const maya = await houseInBrowser.person("Maya", ["admin"])
  const jonas = await houseInBrowser.person("Jonas", ["admin"])
  const agent = async (name: string) => {
    const made = await house.principals.add({ kind: "agent", name, roles: ["agent-standard"] })
    const { token } = await house.tokens.add({ principal: made.id })
    return { id: made.id, name, client: houseInBrowser.as(token) }
  }
  const [scout, ledger, herald] = [await agent("scout"), await agent("ledger"), await agent("herald")]
  const members = [maya.id, jonas.id, scout.id, ledger.id, herald.id]
  await house.spaces.add({ name: "general", kind: "public", members })
  const topic = "Arrivals, berths and mail for the Piraeus run"
  const harbour = await house.spaces.add({ name: "harbour", kind: "public", topic, members })
  await house.spaces.add({ name: "customers", kind: "public", members })
  await house.spaces.add({ name: "payroll", kind: "private", members: [maya.id, jonas.id] })
  const office = houseInBrowser.as(maya.token)
  await office.spaces.add({ name: "Maya-scout", kind: "dm", members: [scout.id] })
  await office.spaces.add({ name: "Jonas-Maya", kind: "dm", members: [jonas.id] })
  for (const tool of tools) await house.tools.add({ ...tool, executionType: "gateway", execution } as never)
  await house.tools.add(berth as never)
  await offer(house)

  const space = harbour.id
  const say = (who: Stoa, words: string) => who.spaces.post(space, { text: words })
  await say(office, "@scout the *Meltemi* was due at six. What do we know, and who has to be told?")
  const call = (who: Stoa, tool: string, input: Record<string, unknown>, wait = 10) =>
    who.tools.call(tool, { input: input as never, space, wait })
  await call(scout.client, "list_ships", { port: "Piraeus", due: "today" })
  await call(scout.client, "orders_on_board", { ship: "Meltemi", open: true })
  await say(
    scout.client,
    "She lies at Kythira with engine trouble. New estimate **Tuesday, 06:30**: 48 hours late. Three orders on board are promised for Monday: 4471 **Hansa Lamps**, 4476 **Oliva** and 4480 **Kontor Nord**.",
  )
  const fees = await say(
    ledger.client,
    "Late fees for the three come to **€ 412.50** under clause 7. Nothing is posted yet.",
  )
  await office.messages.react(fees.id, "👍")
  await houseInBrowser.as(jonas.token).messages.react(fees.id, "👍")
  await say(office, "Good. @scout write to the three, short and honest.")
  await call(scout.client, "send_mail", letter, 0)
  await remember(office)
  await houseInBrowser.as(jonas.token).spaces.post("general", { text: "Morning. Berth 7 is free until noon." })
  return { maya, jonas, scout, ledger, herald, harbour, letter, call, say }
}
