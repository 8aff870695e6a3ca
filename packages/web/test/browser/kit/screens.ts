import type { Stoa } from "@stoa/sdk"

/** Every screen there is, by its address; drawn by `npm run screenshots`, and looked at by axe in the tests. */
export const screens: ReadonlyArray<readonly [name: string, path: string]> = [
  ["space", "/s/harbour"],
  ["space-empty", "/s/customers"],
  ["spaces", "/spaces"],
  ["spaces-open", "/spaces?open=true"],
  ["decisions", "/decisions"],
  ["decisions-always", "/decisions?tab=always"],
  ["decisions-answered", "/decisions?tab=answered"],
  ["runs", "/runs"],
  ["agents", "/agents/scout"],
  ["agents-new", "/agents?open=true"],
  ["memory", "/memory"],
  ["tools", "/tools/send_mail"],
  ["tools-as", "/tools?as=scout"],
  ["servers", "/servers"],
  ["servers-add", "/servers/add"],
  ["connect", "/connect/claude-code"],
  ["why", "/why?principal=scout&action=execute&resource=tools/send_mail"],
  ["overview", "/overview"],
  ["people", "/people?who=Jonas"],
  ["search", "/search?q=Meltemi"],
  ["me", "/me"],
  ["house", "/house"],
]

/** Screens that show more where agents live: those of a new house, with its demo at work. */
export const inDemo = async (admin: Stoa): Promise<ReadonlyArray<readonly [name: string, path: string]>> => {
  const { items } = await admin.runs.list({ limit: 100 })
  const most = items.toSorted((one, other) => other.step - one.step)[0]
  return [
    ["first", "/s/office"],
    ["run", `/runs/${most?.id ?? ""}`],
    ["agents-demo", "/agents"],
    ["memory-demo", "/memory?owner=planner"],
    ["servers-demo", "/servers"],
    ["overview-demo", "/overview"],
  ]
}

export interface PaneCase {
  readonly path: string
  /** What it asks the house for, beyond what every page begins with. */
  readonly asks: RegExp
  /** What it says on a house where nothing is yet; some are never empty. */
  readonly empty?: string
  /** What it shows on the seeded one. */
  readonly full: string
}

/** The panes that load by themselves. */
export const panes: ReadonlyArray<PaneCase> = [
  { path: "/s/harbour", asks: /\/spaces\/[^/]+\/messages/, full: "Late fees for the three" },
  {
    path: "/decisions?tab=answered",
    asks: /\/decisions\?/,
    empty: "Nothing has been answered yet.",
    full: "send_mail",
  },
  { path: "/decisions?tab=always", asks: /\/approvals/, empty: "There are no standing approvals", full: "Revoke" },
  { path: "/runs", asks: /\/runs\?/, empty: "No runs yet.", full: "No runs yet." },
  { path: "/memory", asks: /\/memory(?:\?|$)/, empty: "Nothing is remembered here yet.", full: "Berth 7 is deep" },
  { path: "/tools", asks: /\/tools\?/, full: "send_mail" },
  { path: "/servers", asks: /\/mcp-servers$/, empty: "No server is connected.", full: "No server is connected." },
  { path: "/people", asks: /\/principals\?/, full: "Jonas" },
  { path: "/search?q=Meltemi", asks: /\/messages\?/, empty: "Nothing that you can see fits", full: "was due at six" },
  { path: "/why?principal=scout&action=execute&resource=tools/send_mail", asks: /\/judge\?/, full: "send_mail" },
]

export const sizes = {
  desktop: { width: 1280, height: 1000 },
  phone: { width: 390, height: 844 },
} as const
