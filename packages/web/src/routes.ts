/** Every address of the page. A screen is loaded when it is opened; its search parameters are parsed here. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router"
import { StoaError } from "@stoa/sdk"
import { createElement } from "react"
import { cache } from "./feed/cache.ts"
import { house as client } from "./feed/house.ts"
import { startQuery } from "./feed/start.ts"
import { Layout } from "./layout/Layout.tsx"
import { NotFound, RouteFault } from "./layout/RouteFault.tsx"
import { lastSpace } from "./layout/navigation/lastSpace.ts"
import { SpaceScreen } from "./features/spaces/SpaceScreen.tsx"

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const some = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]?: Exclude<A[K], undefined>
  }

const root = createRootRoute({ component: Outlet, errorComponent: RouteFault, notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/door",
  validateSearch: (search: Record<string, unknown>) => some({ next: text(search["next"]) }),
  component: lazyRouteComponent(() => import("./features/signin/SignInScreen.tsx"), "SignInScreen"),
})

/** Behind the sign-in: users who are not signed in are redirected and come back afterwards. */
const house = createRoute({
  getParentRoute: () => root,
  id: "house",
  beforeLoad: async ({ location }) => {
    const signIn = () => redirect({ to: "/door", search: location.pathname === "/" ? {} : { next: location.href } })
    // Checked first, because a browser writes a 401 to its console.
    if (cache.getQueryData(startQuery.queryKey) === undefined && (await client.session.look()).principal === null)
      throw signIn()
    try {
      await cache.ensureQueryData(startQuery)
    } catch (error) {
      if (error instanceof StoaError && error.status === 401) throw signIn()
      throw error
    }
  },
  component: Layout,
})

const home = createRoute({
  getParentRoute: () => house,
  path: "/",
  beforeLoad: async () => {
    const { house: facts, me, spaces } = await cache.ensureQueryData(startQuery)
    const name = lastSpace(spaces, facts.demo)
    if (name !== undefined) throw redirect({ to: "/s/$space", params: { space: name } })
    // An empty house shows its admin how to begin.
    if (!me.roles.includes("admin")) throw redirect({ to: "/spaces" })
  },
  component: lazyRouteComponent(() => import("./features/welcome/WelcomeScreen.tsx"), "WelcomeScreen"),
})

const spaces = createRoute({
  getParentRoute: () => house,
  path: "/spaces",
  validateSearch: (search: Record<string, unknown>) => some({ open: search["open"] === true ? true : undefined }),
  component: lazyRouteComponent(() => import("./features/spaces/SpacesScreen.tsx"), "SpacesScreen"),
})

const spaceSearch = (search: Record<string, unknown>) =>
  some({
    at: Number.isSafeInteger(search["at"]) && Number(search["at"]) > 0 ? Number(search["at"]) : undefined,
    q: text(search["q"]),
  })

const Guide = lazyRouteComponent(() => import("./features/welcome/Guide.tsx"), "Guide")
const HouseSummary = lazyRouteComponent(() => import("./features/welcome/HouseSummary.tsx"), "HouseSummary")
/** Features do not import each other: the head of a space is passed in here. */
const Space = () => createElement(SpaceScreen, { Head: Guide, About: HouseSummary })

// The screen most people see first is in the first load.
const space = createRoute({
  getParentRoute: () => house,
  path: "/s/$space",
  validateSearch: spaceSearch,
  component: Space,
})
const thread = createRoute({
  getParentRoute: () => house,
  path: "/s/$space/t/$message",
  validateSearch: spaceSearch,
  component: Space,
})

const decisionSearch = (search: Record<string, unknown>): { tab?: "others" | "answered" | "always" | "mine" } => {
  const { tab } = search
  return tab === "others" || tab === "answered" || tab === "always" ? { tab } : {}
}
const Decisions = lazyRouteComponent(() => import("./features/decisions/DecisionsScreen.tsx"), "DecisionsScreen")
const decisions = createRoute({
  getParentRoute: () => house,
  path: "/decisions",
  validateSearch: decisionSearch,
  component: Decisions,
})
const decision = createRoute({
  getParentRoute: () => house,
  path: "/decisions/$id",
  validateSearch: decisionSearch,
  component: Decisions,
})

const runs = createRoute({
  getParentRoute: () => house,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>) =>
    some({ state: text(search["state"]), agent: text(search["agent"]) }),
  component: lazyRouteComponent(() => import("./features/runs/RunsScreen.tsx"), "RunsScreen"),
})
const run = createRoute({
  getParentRoute: () => house,
  path: "/runs/$run",
  validateSearch: (search: Record<string, unknown>) =>
    some({
      span: text(search["span"]),
      tab: text(search["tab"]),
      scale: search["scale"] === true ? true : undefined,
    }),
  component: lazyRouteComponent(() => import("./features/runs/RunScreen.tsx"), "RunScreen"),
})

const AgentsScreen = lazyRouteComponent(() => import("./features/agents/AgentsScreen.tsx"), "AgentsScreen")
const Tokens = lazyRouteComponent(() => import("./features/people/Tokens.tsx"), "Tokens")
const Offers = lazyRouteComponent(() => import("./features/memory/Offers.tsx"), "Offers")
const Agents = Object.assign(() => createElement(AgentsScreen, { Offers, Tokens }), {
  preload: () => AgentsScreen.preload?.(),
})
const agentSearch = (search: Record<string, unknown>) =>
  some({ tab: text(search["tab"]), open: search["open"] === true ? true : undefined })
const agents = createRoute({
  getParentRoute: () => house,
  path: "/agents",
  validateSearch: agentSearch,
  component: Agents,
})
const agent = createRoute({
  getParentRoute: () => house,
  path: "/agents/$name",
  validateSearch: agentSearch,
  component: Agents,
})

const Memory = lazyRouteComponent(() => import("./features/memory/MemoryScreen.tsx"), "MemoryScreen")
const memorySearch = (search: Record<string, unknown>) =>
  some({
    owner: text(search["owner"]),
    q: text(search["q"]),
    open: text(search["open"]),
    version: typeof search["version"] === "number" ? search["version"] : undefined,
  })
const memory = createRoute({
  getParentRoute: () => house,
  path: "/memory",
  validateSearch: memorySearch,
  component: Memory,
})
const record = createRoute({
  getParentRoute: () => house,
  path: "/memory/$id",
  validateSearch: memorySearch,
  component: Memory,
})

const MeScreen = lazyRouteComponent(() => import("./features/me/MeScreen.tsx"), "MeScreen")
const Me = Object.assign(() => createElement(MeScreen, { Tokens }), { preload: () => MeScreen.preload?.() })
const me = createRoute({ getParentRoute: () => house, path: "/me", component: Me })

const texts = (search: Record<string, unknown>, ...names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (text(search[name]) === undefined ? [] : [[name, text(search[name])!]])))

const tools = createRoute({
  getParentRoute: () => house,
  path: "/tools",
  validateSearch: (search: Record<string, unknown>) => texts(search, "as", "q", "in", "new"),
  component: lazyRouteComponent(() => import("./features/tools/ToolsScreen.tsx"), "ToolsScreen"),
})
const tool = createRoute({
  getParentRoute: () => house,
  path: "/tools/$tool",
  validateSearch: (search: Record<string, unknown>) => texts(search, "as", "q", "in", "call"),
  component: lazyRouteComponent(() => import("./features/tools/ToolsScreen.tsx"), "ToolsScreen"),
})
const servers = createRoute({
  getParentRoute: () => house,
  path: "/servers",
  component: lazyRouteComponent(() => import("./features/servers/ServersScreen.tsx"), "ServersScreen"),
})
const addServer = createRoute({
  getParentRoute: () => house,
  path: "/servers/add",
  component: lazyRouteComponent(() => import("./features/servers/AddServerScreen.tsx"), "AddServerScreen"),
})
const server = createRoute({
  getParentRoute: () => house,
  path: "/servers/$server",
  component: lazyRouteComponent(() => import("./features/servers/ServersScreen.tsx"), "ServersScreen"),
})
const connect = createRoute({
  getParentRoute: () => house,
  path: "/connect",
  component: lazyRouteComponent(() => import("./features/connect/ConnectScreen.tsx"), "ConnectScreen"),
})
const connectOne = createRoute({
  getParentRoute: () => house,
  path: "/connect/$client",
  component: lazyRouteComponent(() => import("./features/connect/ConnectScreen.tsx"), "ConnectScreen"),
})
const rights = createRoute({
  getParentRoute: () => house,
  path: "/why",
  validateSearch: (search: Record<string, unknown>) =>
    texts(search, "principal", "action", "resource", "space", "who", "result", "trace"),
  component: lazyRouteComponent(() => import("./features/rights/RightsScreen.tsx"), "RightsScreen"),
})
const search = createRoute({
  getParentRoute: () => house,
  path: "/search",
  validateSearch: (search: Record<string, unknown>) => some({ q: text(search["q"]) }),
  component: lazyRouteComponent(() => import("./features/search/SearchScreen.tsx"), "SearchScreen"),
})
const people = createRoute({
  getParentRoute: () => house,
  path: "/people",
  validateSearch: (search: Record<string, unknown>) => some({ who: text(search["who"]) }),
  component: lazyRouteComponent(() => import("./features/people/PeopleScreen.tsx"), "PeopleScreen"),
})

const overview = createRoute({
  getParentRoute: () => house,
  path: "/overview",
  validateSearch: (search: Record<string, unknown>) => some({ span: text(search["span"]) }),
  component: lazyRouteComponent(() => import("./features/overview/OverviewScreen.tsx"), "OverviewScreen"),
})

const help = createRoute({
  getParentRoute: () => house,
  path: "/help/$page",
  component: lazyRouteComponent(() => import("./features/help/HelpScreen.tsx"), "HelpScreen"),
})

const menu = createRoute({
  getParentRoute: () => house,
  path: "/house",
  component: lazyRouteComponent(() => import("./features/me/MenuScreen.tsx"), "MenuScreen"),
})

const tree = root.addChildren([
  signIn,
  house.addChildren([
    home,
    spaces,
    space,
    thread,
    decisions,
    decision,
    runs,
    run,
    agents,
    agent,
    memory,
    record,
    me,
    menu,
    tools,
    tool,
    servers,
    addServer,
    server,
    connect,
    connectOne,
    rights,
    people,
    search,
    overview,
    help,
  ]),
])

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", scrollRestoration: false })

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
