/**
 * A loopback service that tools call, and the people and agents who have them called: what is sent and what arrives is on
 * one clock. Also fetches a service by itself, as a program without a house would.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Delays, delaysOf } from "../kit/measure.ts"
import { serveQuestions } from "./children.ts"

interface Where {
  readonly port: number
  /** Of the agent who calls, and of the person who decides. */
  readonly agent: string
  readonly admin: string
  readonly tool: string
}
export type ApproverQuestion =
  | { readonly do: "listen" }
  | { readonly do: "fetch"; readonly url: string; readonly callers: number; readonly millis: number }
  | (Where & { readonly do: "approve"; readonly count: number })
  | (Where & { readonly do: "many"; readonly count: number; readonly callers: number })
export interface FetchAnswer extends Delays {
  readonly perSecond: number
}
export interface ApproveAnswer {
  /** From sending the answer: to its being acknowledged, and to the call's arrival at the service. */
  readonly acknowledged: Delays
  readonly executed: Delays
}
/** Milliseconds for all of them. */
export interface ManyAnswer {
  readonly asked: number
  readonly listed: number
  readonly pages: number
  readonly answered: number
  readonly executed: number
}

const arrivals = new Map<string, number>()
let arrived = (): void => {}
const service = createServer((request, response) => {
  const named = /[?&]n=([^&]+)/.exec(request.url ?? "")?.[1]
  if (named !== undefined) arrivals.set(named, performance.now())
  response.writeHead(200, { "content-type": "application/json", "content-length": 11 }).end('{"ok":true}')
  arrived()
})
const listening = new Promise<number>((resolve) => {
  service.listen(0, "127.0.0.1", () => resolve((service.address() as AddressInfo).port))
})

/** Until so much has arrived; the bench is over when it does not within a minute. */
const arrivalOf = (isThere: () => boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("what was approved did not run within a minute")), 60_000)
    const look = () => {
      if (!isThere()) return
      clearTimeout(late)
      arrived = () => {}
      resolve()
    }
    arrived = look
    look()
  })

const send = async <A>(port: number, token: string, method: string, path: string, body?: object): Promise<A> => {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as A
}

const askFirst = async ({ agent, port, tool }: Where, n: string): Promise<string> => {
  const body = { input: { n }, wait: 0 }
  const call = await send<{ readonly on?: { readonly id: string } }>(port, agent, "POST", `/tools/${tool}/call`, body)
  if (call.on === undefined) throw new Error(`the call did not ask: ${JSON.stringify(call)}`)
  return call.on.id
}

const approve = ({ admin, port }: Where, decision: string): Promise<unknown> =>
  send(port, admin, "POST", `/decisions/${decision}/answer`, { verdict: "approve" })

/** Each of them, so many at a time. */
const each = async <A>(items: ReadonlyArray<A>, callers: number, run: (item: A) => Promise<unknown>): Promise<void> => {
  let next = 0
  const one = async () => {
    while (next < items.length) await run(items[next++]!)
  }
  await Promise.all(Array.from({ length: callers }, one))
}

let rounds = 0

const approveOneByOne = async (question: Where & { readonly count: number }): Promise<ApproveAnswer> => {
  const [acknowledged, executed]: [Array<number>, Array<number>] = [[], []]
  const round = ++rounds
  for (let made = 0; made < question.count; made++) {
    const n = `one-${round}-${made}`
    const decision = await askFirst(question, n)
    const sent = performance.now()
    await approve(question, decision)
    acknowledged.push(performance.now() - sent)
    await arrivalOf(() => arrivals.has(n))
    executed.push(arrivals.get(n)! - sent)
  }
  return { acknowledged: delaysOf(acknowledged), executed: delaysOf(executed) }
}

const listOpen = async ({ admin, port }: Where) => {
  const found: Array<string> = []
  let pages = 0
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const path = `/decisions?state=open&limit=100${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    const page: { readonly items: ReadonlyArray<{ readonly id: string }>; readonly next: string | null } = await send(
      port,
      admin,
      "GET",
      path,
    )
    found.push(...page.items.map(({ id }) => id))
    cursor = page.next
  }
  return { found, pages }
}

const approveMany = async (question: Where & { readonly count: number; readonly callers: number }) => {
  const names = Array.from({ length: question.count }, (_, index) => `many-${index}`)
  arrivals.clear()
  let since = performance.now()
  const lap = () => {
    const now = performance.now()
    const took = now - since
    since = now
    return took
  }
  await each(names, question.callers, (n) => askFirst(question, n))
  const asked = lap()
  const { found, pages } = await listOpen(question)
  const listed = lap()
  if (found.length !== question.count) throw new Error(`${found.length} decisions are open, not ${question.count}`)
  const begun = since
  await each(found, question.callers, (decision) => approve(question, decision))
  const answered = lap()
  await arrivalOf(() => arrivals.size === question.count)
  return { asked, listed, pages, answered, executed: Math.max(...arrivals.values()) - begun } satisfies ManyAnswer
}

const fetchAlone = async (url: string, callers: number, millis: number): Promise<FetchAnswer> => {
  const took: Array<number> = []
  const started = performance.now()
  const one = async () => {
    while (performance.now() < started + millis) {
      const since = performance.now()
      await (await fetch(url)).json()
      took.push(performance.now() - since)
    }
  }
  await Promise.all(Array.from({ length: callers }, one))
  return { perSecond: took.length / ((performance.now() - started) / 1000), ...delaysOf(took) }
}

serveQuestions(async (question: ApproverQuestion): Promise<object> => {
  if (question.do === "listen") return { port: await listening }
  if (question.do === "fetch") return fetchAlone(question.url, question.callers, question.millis)
  return question.do === "approve" ? approveOneByOne(question) : approveMany(question)
})
