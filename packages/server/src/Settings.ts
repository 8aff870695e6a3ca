/** Every setting, read once. `docs/settings.md` is generated from this table; nothing else reads the environment. */
import { Config, ConfigProvider, Context, Effect, Layer, Option, Redacted } from "effect"
import { refuse, type StartError } from "./store/StartError.ts"

interface Setting<A> {
  readonly env: string
  readonly usual: string
  readonly about: string
  readonly config: Config.Config<A>
}

const setting = <A>(
  env: string,
  usual: string,
  about: string,
  config: (env: string) => Config.Config<A>,
): Setting<A> => ({
  env,
  usual,
  about,
  config: config(env),
})

const text = (usual: string) => (env: string) => Config.String(env).pipe(Config.withDefault(usual))
const optional = (env: string) => Config.option(Config.String(env))
const secret = (env: string) => Config.option(Config.Redacted(env))

const table = {
  host: setting(
    "STOA_HOST",
    "127.0.0.1",
    "Address to listen on. The default is reachable from this machine only.",
    text("127.0.0.1"),
  ),
  port: setting("STOA_PORT", "4040", "Port to listen on; 0 means any free port.", (env) =>
    Config.Int(env).pipe(Config.withDefault(4040)),
  ),
  data: setting(
    "STOA_DATA",
    ".stoa",
    "The data folder (mode 700). Outside of it the house writes only to the workspaces and repositories of agents that are programs.",
    text(".stoa"),
  ),
  database: setting("DATABASE_URL", "absent", "Postgres 15 or newer; absent means SQLite in STOA_DATA.", secret),
  runner: setting(
    "STOA_RUNNER",
    "single",
    "`single`: one house uses the database. `cluster`: several houses share one Postgres, with the same STOA_SECRET_KEY and STOA_ADMIN_TOKEN.",
    (env) => Config.Literals(["single", "cluster"], env).pipe(Config.withDefault("single" as const)),
  ),
  slots: setting(
    "STOA_SLOTS",
    "4",
    "How many runs of agents work at the same time; a waiting run needs no slot.",
    (env) => Config.Int(env).pipe(Config.withDefault(4)),
  ),
  programs: setting(
    "STOA_PROGRAMS",
    "isolated",
    "`isolated`: agents' programs run in a bubblewrap sandbox, and do not run without it. `unisolated`: they run with the rights of the house, and every turn is marked `unisolated`.",
    (env) => Config.Literals(["isolated", "unisolated"], env).pipe(Config.withDefault("isolated" as const)),
  ),
  teamDepth: setting("STOA_TEAM_DEPTH", "20", "How many levels a team may have.", (env) =>
    Config.Int(env).pipe(Config.withDefault(20)),
  ),
  teamWidth: setting("STOA_TEAM_WIDTH", "50", "How many children an agent may have.", (env) =>
    Config.Int(env).pipe(Config.withDefault(50)),
  ),
  teamAgents: setting("STOA_TEAM_AGENTS", "1000", "How many agents a team may have, including its root.", (env) =>
    Config.Int(env).pipe(Config.withDefault(1000)),
  ),
  monthBudget: setting(
    "STOA_MONTH_BUDGET",
    "200",
    "How much all agents together may spend in a month on models and on tools with a price, in US dollars. When it is spent, no run continues.",
    (env) => Config.Number(env).pipe(Config.withDefault(200)),
  ),
  sessionBudget: setting(
    "STOA_SESSION_BUDGET",
    "5",
    "How much the runs of one chat session may spend together, in US dollars.",
    (env) => Config.Number(env).pipe(Config.withDefault(5)),
  ),
  runsDays: setting(
    "STOA_RUNS_DAYS",
    "90",
    "Days for which an ended run is kept, with its steps and messages; 1 or more.",
    (env) => Config.Int(env).pipe(Config.withDefault(90)),
  ),
  callsDays: setting(
    "STOA_CALLS_DAYS",
    "90",
    "Days for which a settled call is kept, with its result, decisions and idempotency key; 1 or more.",
    (env) => Config.Int(env).pipe(Config.withDefault(90)),
  ),
  memoryDays: setting(
    "STOA_MEMORY_DAYS",
    "365",
    "Days for which an earlier version of a memory record is kept, 1 or more; the newest version stays. A deleted record can be restored for 30 days.",
    (env) => Config.Int(env).pipe(Config.withDefault(365)),
  ),
  adminToken: setting(
    "STOA_ADMIN_TOKEN",
    "made at first start",
    "Token of the person `admin`, 16 characters or more; a generated one is stored in STOA_DATA with mode 600.",
    secret,
  ),
  secretKey: setting(
    "STOA_SECRET_KEY",
    "made at first start",
    "Key that encrypts stored secrets; a generated one is stored in STOA_DATA. If it is lost, the stored secrets are lost.",
    secret,
  ),
  config: setting("STOA_CONFIG", "stoa.config.json", "The configuration file.", text("stoa.config.json")),
  publicUrl: setting(
    "STOA_PUBLIC_URL",
    "absent",
    "The address that people use, if there is a proxy. It is used in links, and to check Host and Origin.",
    optional,
  ),
  anonymous: setting(
    "STOA_ANONYMOUS",
    "absent",
    "Name of the principal that a request without a token acts as; only on loopback.",
    optional,
  ),
  demo: setting(
    "STOA_DEMO",
    "on for a new folder",
    "`off`: a new house without a configuration file starts empty, without its demo office.",
    (env) => Config.option(Config.Literals(["on", "off"], env)),
  ),
  anthropicKey: setting("ANTHROPIC_API_KEY", "absent", "Key for Anthropic's models that have no `apiKey`.", secret),
  anthropicUrl: setting(
    "ANTHROPIC_BASE_URL",
    "Anthropic's own",
    "Another server with Anthropic's API: the address before `/messages`; it may be local.",
    optional,
  ),
  googleKey: setting(
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "absent",
    "Key for Google's models that have no `apiKey`.",
    secret,
  ),
  openaiKey: setting(
    "OPENAI_API_KEY",
    "absent",
    "Key for OpenAI's models that have no `apiKey`, and for image tools.",
    secret,
  ),
  openaiUrl: setting(
    "OPENAI_BASE_URL",
    "OpenAI's own",
    "Another server with OpenAI's API, such as `http://127.0.0.1:8080/v1`; it may be local.",
    optional,
  ),
  tavilyKey: setting(
    "TAVILY_API_KEY",
    "absent",
    "Key for `web-search`, which uses the first that is set of TAVILY_API_KEY, SERPAPI_API_KEY, BRAVE_API_KEY and SEARXNG_URL.",
    secret,
  ),
  serpapiKey: setting("SERPAPI_API_KEY", "absent", "Key for `web-search` with SerpApi.", secret),
  braveKey: setting("BRAVE_API_KEY", "absent", "Key for `web-search` with Brave.", secret),
  searxngUrl: setting("SEARXNG_URL", "absent", "Address of the SearXNG server for `web-search`.", optional),
  otlpUrl: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "absent",
    "Where spans of runs, steps and calls are sent, by OTLP over HTTP, such as `http://127.0.0.1:4318`. Without it and SENTRY_DSN no spans are made.",
    optional,
  ),
  sentryDsn: setting(
    "SENTRY_DSN",
    "absent",
    "A Sentry DSN to send the spans to, if OTEL_EXPORTER_OTLP_ENDPOINT is absent.",
    secret,
  ),
  databaseSpans: setting(
    "STOA_DATABASE_SPANS",
    "off",
    "`on`: every statement and transaction of the database is a span, too. They are two thirds of all spans.",
    (env) => Config.Literals(["on", "off"], env).pipe(Config.withDefault("off" as const)),
  ),
  log: setting("STOA_LOG", "info", "`debug`, `info`, `warn`, `error` or `none`: one line per event on stderr.", (env) =>
    Config.Literals(["debug", "info", "warn", "error", "none"], env).pipe(Config.withDefault("info" as const)),
  ),
}

type Values = {
  readonly [K in keyof typeof table]: (typeof table)[K]["config"] extends Config.Config<infer A> ? A : never
}

/** Read by the command line and by examples; listed here so that they do not count as unknown. */
const clients = {
  STOA_URL: "Address of the house that the command `stoa` uses; the examples read it too.",
  STOA_TOKEN:
    "Token that the command `stoa` and the examples use. Without it, `stoa` uses the admin token of the local house.",
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/

interface Derived {
  readonly loopback: boolean
  /** The present value of a variable. Only `access/secrets` uses it, which knows the names that may be read. */
  readonly variable: (name: string) => string | undefined
}

export class Settings extends Context.Service<Settings, Values & Derived>()("server/Settings") {
  static readonly layer = (
    environment: Record<string, string | undefined> = process.env,
  ): Layer.Layer<Settings, StartError> => Layer.effect(Settings, read(environment))
}

const read = Effect.fnUntraced(function* (environment: Record<string, string | undefined>) {
  const known = new Set([...Object.values(table).map((one) => one.env), ...Object.keys(clients), "STOA_TEST_LONG"])
  const strange = Object.keys(environment).find((name) => name.startsWith("STOA_") && !known.has(name))
  if (strange !== undefined)
    return yield* refuse(
      `There is no setting ${strange}. The settings are: ${[...known].filter((one) => one !== "STOA_TEST_LONG").join(", ")}.`,
    )
  const provider = ConfigProvider.fromEnv({ env: environment as Record<string, string> })
  const values: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(table)) {
    // An empty variable counts as not set.
    const given = environment[one.env] === "" ? ConfigProvider.fromEnv({ env: {} }) : provider
    values[name] = yield* (one.config as Config.Config<unknown>)
      .parse(given)
      .pipe(Effect.mapError(() => refuse(`${one.env} is not valid. ${one.about} Default: ${one.usual}.`)))
  }
  const settings = {
    ...(values as Values),
    loopback: loopback.test((values as Values).host),
    variable: (name: string) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
  }
  yield* checkTogether(settings)
  return settings
})

/** As the driver reads it, which takes blanks, and a user without a host. */
const isReadable = (url: string): boolean => URL.canParse(url.replaceAll(" ", "%20").replace("@/", "@host/"))

const checkTogether = Effect.fnUntraced(function* (settings: Settings["Service"]) {
  if (settings.port < 0 || settings.port > 65535) return yield* refuse("STOA_PORT must be a number from 0 to 65535.")
  if (settings.slots < 1 || settings.slots > 10_000)
    return yield* refuse("STOA_SLOTS must be a number of runs from 1 to 10000.")
  if (settings.callsDays < 1 || settings.callsDays > 36_500)
    return yield* refuse("STOA_CALLS_DAYS must be a number of days from 1 to 36500.")
  if (settings.runsDays < 1 || settings.runsDays > 36_500)
    return yield* refuse("STOA_RUNS_DAYS must be a number of days from 1 to 36500.")
  if (!(settings.monthBudget >= 0)) return yield* refuse("STOA_MONTH_BUDGET must be a number of US dollars, 0 or more.")
  if (!(settings.sessionBudget >= 0))
    return yield* refuse("STOA_SESSION_BUDGET must be a number of US dollars, 0 or more.")
  if (settings.memoryDays < 1 || settings.memoryDays > 36_500)
    return yield* refuse("STOA_MEMORY_DAYS must be a number of days from 1 to 36500.")
  if (Option.exists(settings.adminToken, (token) => Redacted.value(token).length < 16))
    return yield* refuse(
      "STOA_ADMIN_TOKEN has fewer than 16 characters. Take a longer one, such as `openssl rand -hex 32`.",
    )
  if (Option.isSome(settings.anonymous) && !settings.loopback)
    return yield* refuse(
      `STOA_ANONYMOUS works on loopback only, and STOA_HOST is ${settings.host}. Unset one of the two.`,
    )
  if (Option.exists(settings.publicUrl, (url) => URL.parse(url) === null))
    return yield* refuse("STOA_PUBLIC_URL is not an address. Give one such as https://stoa.example.org.")
  if (Option.exists(settings.database, (url) => !/^postgres(ql)?:\/\//.test(Redacted.value(url))))
    return yield* refuse(
      // Not written as one address: the log hides what stands before the @ of one, and with it this hint.
      "DATABASE_URL is not a Postgres address. Give postgres://HOST/DATABASE, with USER:PASSWORD@ before HOST, or unset it for SQLite.",
    )
  if (Option.exists(settings.database, (url) => !isReadable(Redacted.value(url))))
    return yield* refuse(
      "DATABASE_URL cannot be read as an address. Its port must be a number up to 65535. In its user and password, write # as %23, / as %2F, ? as %3F and @ as %40.",
    )
  for (const [name, url] of [
    ["OPENAI_BASE_URL", settings.openaiUrl],
    ["ANTHROPIC_BASE_URL", settings.anthropicUrl],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", settings.otlpUrl],
  ] as const)
    if (Option.exists(url, (given) => !/^https?:$/.test(URL.parse(given)?.protocol ?? "")))
      return yield* refuse(`${name} is not an address. Give one such as http://127.0.0.1:8080/v1, or unset it.`)
  if (settings.runner === "single") return
  if (Option.isNone(settings.database))
    return yield* refuse("STOA_RUNNER=cluster needs Postgres: set DATABASE_URL, or use single with SQLite.")
  if (Option.isNone(settings.secretKey) || Option.isNone(settings.adminToken))
    return yield* refuse(
      "STOA_RUNNER=cluster needs STOA_SECRET_KEY and STOA_ADMIN_TOKEN, the same for every house; otherwise each would make its own.",
    )
})

/**
 * The page `docs/settings.md`, written by `npm run docs`.
 * @public
 */
export const describeSettings = (): string => {
  const rows = Object.values(table).map((one) => `| \`${one.env}\` | ${one.usual} | ${one.about} |`)
  const client = Object.entries(clients).map(([env, about]) => `| \`${env}\` | absent | ${about} |`)
  return [
    "# Settings",
    "",
    "Environment variables, read once at start. An unknown `STOA_…` variable stops the start with a message. Generated by `npm run docs`.",
    "",
    "| setting | default | what it does |",
    "| --- | --- | --- |",
    ...rows,
    ...client,
    "",
    "Model keys and base URLs have the names that their vendors use. Stoa sends no telemetry.",
    "",
  ].join("\n")
}
