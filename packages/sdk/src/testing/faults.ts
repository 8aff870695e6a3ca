/** Network faults between a client and the house, to test how a program handles them. */

export interface NetworkFault {
  /** Only requests with this method; by default any. */
  readonly method?: string
  /** Only requests whose path matches; by default any. */
  readonly path?: RegExp
  /**
   * A status is answered instead of the house; `cut`: the request never arrives; `lost`: the house handles the request,
   * but its answer never arrives.
   */
  readonly act: number | "cut" | "lost"
  /** How many requests it affects; 1 by default. */
  readonly times?: number
}

const problem = (status: number) =>
  new Response(JSON.stringify({ type: "about:blank", title: "Injected", status, detail: "A fault of the test." }), {
    status,
    headers: { "content-type": "application/problem+json" },
  })

export const faultyFetch = () => {
  const waiting: Array<{ readonly fault: NetworkFault; left: number }> = []
  const met = (method: string, path: string): NetworkFault | undefined => {
    const entry = waiting.find(
      ({ fault }) => (fault.method ?? method) === method && (fault.path === undefined || fault.path.test(path)),
    )
    if (entry === undefined) return undefined
    if (--entry.left === 0) waiting.splice(waiting.indexOf(entry), 1)
    return entry.fault
  }
  const send: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const fault = met(request.method, new URL(request.url).pathname)
    if (fault === undefined) return fetch(request)
    if (typeof fault.act === "number") return problem(fault.act)
    if (fault.act === "lost") await (await fetch(request)).arrayBuffer()
    throw new TypeError(`a fault of the test: the ${fault.act === "cut" ? "request" : "answer"} was lost`)
  }
  return {
    send,
    add: (fault: NetworkFault): void => {
      const left = fault.times ?? 1
      if (!(Number.isInteger(left) && left > 0)) throw new RangeError("`times` is a whole number above 0.")
      waiting.push({ fault, left })
    },
    clear: (): void => void waiting.splice(0),
  }
}
