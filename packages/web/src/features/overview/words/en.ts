/** The texts of Overview. */
const counted = (count: number, one: string, many: string) =>
  `${new Intl.NumberFormat("en").format(count)} ${new Intl.PluralRules("en").select(count) === "one" ? one : many}`

const shortSpans = { "6h": "6 h", "1d": "1 day", "7d": "7 days" } as const
const spans = { "6h": "the last six hours", "1d": "the last day", "7d": "the last seven days" } as const

export const words = {
  title: "Overview",
  spans: { "6h": "6 h", "1d": "1 day", "7d": "7 days" } as const,
  span: "Span of time",
  now: "now",
  callsAMinute: "Calls per minute",
  callsInSpan: (count: number, span: keyof typeof spans) =>
    `${new Intl.NumberFormat("en").format(count)} in ${shortSpans[span]}`,
  runs: "Runs",
  runsNow: (waiting: number) => `live · ${waiting} waiting`,
  slots: (free: number, all: number, queued: number) =>
    `${free} of ${all} slots free${queued === 0 ? "" : `, ${queued} queued`}`,
  decisions: "Decisions",
  open: "open",
  median: (length: string) => `median answer ${length}`,
  noMedian: "none answered",
  cost: "Model cost",
  today: "today",
  byMidnight: (money: string) => `${money} by midnight`,
  failures: "Failures",
  ofCalls: "of calls",
  failedRefused: (failed: number, refused: number) => `${failed} failed, ${refused} refused`,
  calls: "Calls",
  done: "done",
  bad: "failed or refused",
  other: "other",
  callsSentence: (total: number, span: keyof typeof spans, bad: number, peak: string | null) =>
    total === 0
      ? `No calls in ${spans[span]}.`
      : `${counted(total, "call", "calls")} in ${spans[span]}: ${bad === 0 ? "none failed or was refused" : `${bad} failed or refused`}${peak === null ? "" : `; most at ${peak}`}.`,
  notAll: (at: string) => `Only calls since ${at} are counted: there were too many before.`,
  latency: "How long calls take",
  half: "median",
  most: "95th percentile",
  latencySentence: (half: string | null, most: string | null, peak: string | null) =>
    half === null
      ? "No calls to measure. Calls that waited for a person do not count."
      : `Median ${half}, 95th percentile ${most}${peak === null ? "" : `; slowest at ${peak}`}.`,
  between: (low: string, high: string) => (low === high ? `about ${low}` : `between ${low} and ${high}`),
  asTable: "As a table",
  from: "From",
  noneInSpan: "Nothing in this span.",
  costByAgent: "Cost by agent, today",
  budgets: "Budgets",
  ofLimit: (limit: string) => `of ${limit}`,
  forecast: "By midnight",
  agent: "Agent",
  spent: "Today",
  limit: "Limit",
  noCost: "Nobody has spent anything today, and nobody has a budget.",
  costSentence: (agents: number, today: string, forecast: string) =>
    `${counted(agents, "agent", "agents")}: ${today} today, ${forecast} by midnight UTC at this rate.`,
  runsEnded: "How runs ended",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  runsSentence: (done: number, failed: number, span: keyof typeof spans) =>
    done + failed === 0
      ? `No run ended in ${spans[span]}.`
      : `${counted(done, "run", "runs")} completed and ${failed} failed in ${spans[span]}.`,
  needs: "Needs attention",
  nothing: "Nothing needs attention.",
  need: {
    heldTool: (subject: string, tool?: string) => `${subject}/${tool ?? ""} is held`,
    serverAway: (subject: string) => `${subject} does not answer`,
    budgetNear: (subject: string) => `${subject} is near its budget`,
    agentFailing: (subject: string) => `${subject} is failing`,
    deadLetters: () => "Some events could not be handled",
    noBackup: () => "No backup",
    finding: (subject: string) => `Doctor: ${subject}`,
  },
  act: {
    heldTool: "Review",
    serverAway: "Look",
    budgetNear: "Look",
    agentFailing: "Runs",
    deadLetters: "Runs",
    noBackup: "Back up",
    finding: "Check again",
  },
  accept: "Accept",
  actOn: (act: string, what: string) => `${act}: ${what}`,
  theHouse: "The house",
  houseFacts: "House",
  checks: (all: number, ok: number) => `doctor: ${all} quick checks, ${ok} ok`,
  version: "Version",
  store: "Store",
  stores: { sqlite: "SQLite", postgres: "Postgres" } as const,
  up: "Up",
  memory: "Memory",
  behind: "Readers behind",
  events: (count: number) => counted(count, "event", "events"),
  onTheFeed: "On the feed",
  listening: (people: number, agents: number) =>
    `${counted(people, "person", "people")}, ${counted(agents, "agent", "agents")}`,
  audit: "Audit trail",
  entries: (count: number) => counted(count, "entry", "entries"),
  backup: "Last backup",
  never: "never",
  megabytes: (bytes: number) =>
    bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)}\u00a0GB` : `${Math.max(1, Math.round(bytes / 1e6))}\u00a0MB`,
  days: (count: number) => counted(count, "day", "days"),
  pauseAll: "Pause everything",
  pauseSure:
    "Every agent, tool and server stops until somebody lifts the pause. Running and waiting calls are canceled, and their open questions are withdrawn. Questions about changes of rights stay open.",
  why: "Reason",
  pause: "Pause everything",
  cancel: "Cancel",
  paused: "Everything is paused.",
  resume: "Lift the pause",
} as const
