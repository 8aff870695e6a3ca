import { shown } from "./foreignText.js"
import { readLink } from "./signIn.js"

// All that comes from the house is shown with textContent; nothing here ever becomes markup.
const at = (id) => document.getElementById(id)
const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: shown(text), ...more })

const store = { token: "stoa.token", from: "stoa.from" }
const most = 200
/** The house sends a heartbeat every 20 s: silence of twice that is a dead line. */
const silence = 45_000
const longestWait = 30_000

const names = new Map()
const nameOf = (id) => (id === null ? "the house" : (names.get(id) ?? id))

// ---- signing in -------------------------------------------------------------------------------------------

/** A link that came while somebody else is signed in: nothing happens until a person has chosen. */
let offered

/** `#token=…` moves into this tab's memory, so that it is in no history, bookmark or screenshot of the address. */
const takeFragment = () => {
  const found = readLink(location.hash, sessionStorage.getItem(store.token))
  if (found.kind === "none") return false
  history.replaceState(null, "", location.pathname)
  if (found.kind === "other") {
    offered = found.token
    void askWhich()
    return false
  }
  signInWith(found.token)
  return true
}

const signInWith = (token) => {
  sessionStorage.setItem(store.token, token)
  sessionStorage.removeItem(store.from)
}

/** Who a token is, in words; the house may not answer, or not know it. */
const whoIs = (token) =>
  fetch("/api/v1/me", { headers: { authorization: `Bearer ${token}` }, cache: "no-store" })
    .then((answer) => (answer.ok ? answer.json() : { name: "nobody: its token does not work" }))
    .then(({ name }) => shown(name))
    .catch(() => "somebody the house could not be asked about")

const askWhich = async () => {
  const [here, there] = await Promise.all([whoIs(sessionStorage.getItem(store.token)), whoIs(offered)])
  at("which-words").textContent = `You are signed in as ${here}. The link you opened is for ${there}.`
  at("stay").textContent = `Stay ${here}`
  at("become").textContent = `Sign in as ${there}`
  at("which").hidden = false
  at("stay").focus()
}

const choose = (become) => {
  at("which").hidden = true
  const token = offered
  offered = undefined
  if (!become) return
  signInWith(token)
  void enter()
}
at("stay").addEventListener("click", () => choose(false))
at("become").addEventListener("click", () => choose(true))

const askIn = (trouble = "") => {
  stop()
  sessionStorage.removeItem(store.token)
  sessionStorage.removeItem(store.from)
  at("house").hidden = at("leave").hidden = true
  at("door").hidden = false
  at("trouble").textContent = shown(trouble)
  document.title = "Stoa: sign in"
}

class Refused extends Error {
  constructor(status, detail, wait) {
    super(detail)
    this.status = status
    this.wait = wait
  }
}

const ask = async (path, options = {}) => {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(store.token)}`, ...options.headers }
  const answer = await fetch(path, { ...options, headers, cache: "no-store" })
  if (answer.ok) return answer
  const problem = await answer.json().catch(() => ({}))
  const wait = Number(answer.headers.get("retry-after") ?? 0) * 1000
  throw new Refused(answer.status, problem.detail ?? `The house answered ${answer.status}.`, wait)
}

// ---- who is here ------------------------------------------------------------------------------------------

const showMe = (me) => {
  at("you").textContent = shown(me.name)
  const rows = [
    ["Kind", me.kind],
    ["Roles", me.roles.join(", ") || "none"],
    ["Toolsets", me.toolsets.join(", ") || "none"],
    ["Id", me.id],
  ]
  at("about").replaceChildren(...rows.flatMap(([term, value]) => [make("dt", term), make("dd", value)]))
  names.set(me.id, me.name)
  document.title = `Stoa: ${me.name}`
}

/** Everybody the caller may see, page by page; a guest may see nobody else, and that is no fault. */
const showPeople = async () => {
  const all = []
  try {
    for (let cursor = ""; cursor !== null && all.length < 1000;) {
      const page = await (
        await ask(`/api/v1/principals?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      ).json()
      all.push(...page.items)
      cursor = page.next
    }
  } catch (error) {
    if (error.status !== 403) throw error
    at("people").replaceChildren(make("li", "Your role does not show others.", { className: "faint" }))
    return
  }
  for (const one of all) names.set(one.id, one.name)
  at("people").replaceChildren(
    ...all.map((one) => {
      const row = make("li", "")
      row.append(make("span", one.name), make("span", one.kind, { className: "faint" }))
      return row
    }),
  )
}

let soon
const peopleSoon = () => {
  clearTimeout(soon)
  // The list can wait: the feed itself tells what is wrong with the connection, if anything is.
  soon = setTimeout(() => void showPeople().catch(() => {}), 300)
}

// ---- what happens -----------------------------------------------------------------------------------------

const sentences = {
  "house.started": (_, b) => `The house started (version ${b.version}, on ${b.store})`,
  "house.reloaded": (_, b) => `${b.file} was applied`,
  "principal.added": (who, b) => `${who} added the ${b.kind} ${b.name}`,
  "principal.changed": (who, b) => `${who} changed ${b.changes.join(", ")} of ${nameOf(b.principal)}`,
  "principal.retired": (who, b) => `${who} retired ${b.name}`,
  "token.issued": (who, b) => `${who} made a token for ${nameOf(b.principal)}`,
  "token.revoked": (who, b) => `${who} revoked a token of ${nameOf(b.principal)}`,
  "grant.added": (who, b) => `${who}: ${nameOf(b.principal)} — ${b.effect} ${b.actions.join(", ")} ${b.resource}`,
  "grant.revoked": (who, b) => `${who} took a grant from ${nameOf(b.principal)}`,
  "delegation.added": (who, b) =>
    `${who} lent ${nameOf(b.principal)} ${b.actions.join(", ")} ${b.resource}: ${b.reason}`,
  "delegation.revoked": (who, b) => `${who} took back what was lent to ${nameOf(b.principal)}`,
  "allow-list.changed": (who, b) => `${who} changed the allow list ${b.toolset}/${b.context}`,
  "secret.set": (who, b) => `${who} set the secret ${b.name}`,
  "secret.removed": (who, b) => `${who} removed the secret ${b.name}`,
  "access.denied": (_, b) =>
    b.principal === null
      ? `Somebody was refused: ${b.rule}`
      : `${nameOf(b.principal)} was refused ${b.action} ${b.resource} (${b.rule})`,
  "timer.fired": (_, b) => `Timer: ${b.purpose}`,
}

const sentenceOf = (event) => {
  try {
    return sentences[event.kind]?.(nameOf(event.actor), event.body) ?? event.kind
  } catch {
    return event.kind
  }
}

const rowOf = (event) => {
  const time = new Date(event.at)
  const row = make("li", "")
  const details = make("details", "")
  const summary = make("summary", "")
  const clock = make("time", time.toLocaleTimeString(), { dateTime: event.at, title: time.toLocaleString() })
  const words = make("span", sentenceOf(event))
  if (event.kind === "access.denied") words.className = "denied"
  summary.append(clock, words)
  details.append(summary, make("pre", JSON.stringify(event, null, 2), { tabIndex: 0 }))
  row.append(details)
  return row
}

let held = null
const show = (events) => {
  if (held !== null) {
    held = [...held, ...events].slice(-most)
    at("pause").textContent = `Resume (${held.length} new)`
    return
  }
  at("quiet").hidden = true
  at("log").prepend(...events.map(rowOf).toReversed())
  while (at("log").children.length > most) at("log").lastElementChild.remove()
}

at("pause").addEventListener("click", () => {
  const waiting = held
  held = waiting === null ? [] : null
  at("pause").setAttribute("aria-pressed", String(held !== null))
  at("pause").textContent = held === null ? "Pause" : "Resume"
  if (waiting?.length > 0) show(waiting)
})

// ---- the stream -------------------------------------------------------------------------------------------

const status = (state, words) => {
  at("status").dataset.state = state
  at("status").textContent = words
}

/** Frames of a byte stream: `{id?, event, data}`. */
async function* framesOf(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    text += value.replaceAll("\r", "")
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const frame = { event: "message", data: "" }
      for (const line of text.slice(0, end).split("\n")) {
        const [, field, rest] = /^(\w+): ?(.*)$/.exec(line) ?? []
        if (field === "data") frame.data += (frame.data && "\n") + rest
        else if (field !== undefined) frame[field] = rest
      }
      text = text.slice(end + 2)
      if (frame.data !== "" || frame.id !== undefined) yield frame
    }
  }
}

const pause = (millis, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, millis)
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true })
  })

let running = new AbortController()
const stop = () => {
  clearTimeout(soon)
  running.abort()
}

/** One connection, until it ends. Says why the house ended it, if it did. */
const connection = async (place, signal) => {
  const line = new AbortController()
  signal.addEventListener("abort", () => line.abort(), { once: true })
  let timer
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => line.abort(), silence)
  }
  heard()
  try {
    const from = sessionStorage.getItem(store.from)
    const answer = await ask(`/api/v1/events${place.last === null && from !== null ? `?after=${from}` : ""}`, {
      signal: line.signal,
      headers: { accept: "text/event-stream", ...(place.last === null ? {} : { "last-event-id": place.last }) },
    })
    status("live", "Live")
    place.failures = 0
    let reason
    for await (const { data, event: kind, id } of framesOf(answer.body, heard)) {
      // The first frame is a place and nothing else: where to go on if the line breaks before anything happens.
      const value = data === "" ? {} : JSON.parse(data)
      // A refresh of the page shows again what this tab has seen.
      if (id !== undefined && sessionStorage.getItem(store.from) === null)
        sessionStorage.setItem(store.from, String(data === "" ? id : Number(id) - 1))
      if (kind === "close") reason = value.reason
      else if (kind === "reload") {
        sessionStorage.setItem(store.from, String(value.cursor))
        peopleSoon()
      } else if (value.cursor !== undefined) {
        if (kind === "principal.added") names.set(value.body.principal, value.body.name)
        if (kind.startsWith("principal.")) peopleSoon()
        show([value])
      }
      if (id !== undefined) place.last = id
    }
    return reason
  } finally {
    clearTimeout(timer)
    line.abort()
  }
}

const watch = async (signal) => {
  const place = { last: null, failures: 0 }
  while (!signal.aborted) {
    let words = "The connection was lost"
    let wait = 0
    try {
      words = (await connection(place, signal)) ?? words
    } catch (error) {
      if (signal.aborted) return
      if (error.status === 401) return askIn(error.message)
      if (error instanceof Refused) words = error.message
      wait = error.wait ?? 0
    }
    if (signal.aborted) return
    // Doubling, with chance in it: a house that comes back is not met by everybody at once.
    const doubled = Math.min(longestWait, 500 * 2 ** place.failures++)
    wait = Math.max(wait, doubled / 2 + (Math.random() * doubled) / 2)
    status("waiting", `${words.replace(/\.$/, "")}. Reconnecting in ${Math.ceil(wait / 1000)} s …`)
    await pause(wait, signal)
    if (!signal.aborted) status("waiting", "Reconnecting …")
  }
}

const enter = async () => {
  stop()
  running = new AbortController()
  const { signal } = running
  if (!/^[\x21-\x7e]+$/.test(sessionStorage.getItem(store.token) ?? ""))
    return askIn("That is not a token: a token has no spaces and only plain letters, digits and signs.")
  try {
    const me = await (await ask("/api/v1/me")).json()
    at("door").hidden = true
    at("house").hidden = at("leave").hidden = false
    at("log").replaceChildren()
    at("quiet").hidden = false
    names.clear()
    showMe(me)
    await showPeople()
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return askIn(error.message)
    at("door").hidden = false
    at("trouble").textContent =
      error instanceof Refused ? error.message : "The house does not answer. Is it running? Trying again …"
    await pause(3000, signal)
    if (!signal.aborted) void enter()
    return
  }
  at("trouble").textContent = ""
  void watch(signal)
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault()
  sessionStorage.setItem(store.token, at("token").value.trim())
  sessionStorage.removeItem(store.from)
  at("token").value = ""
  void enter()
})
at("leave").addEventListener("click", () => askIn())
window.addEventListener("hashchange", () => takeFragment() && void enter())

takeFragment()
if (sessionStorage.getItem(store.token) === null) askIn()
else void enter()
