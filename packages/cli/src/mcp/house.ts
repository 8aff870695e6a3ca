/**
 * Which house the bridge talks to: the one that was named, the one that runs on the local folder, or one that it starts
 * itself. It waits for a house that goes away, and replaces one that belonged to another bridge.
 */
// edge: files beside the data, timers and requests.
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Target } from "../Settings.ts"
import type { Fetch } from "./socket.ts"

export interface FoundHouse {
  readonly url: string
  readonly token: string | undefined
}

interface Surroundings {
  readonly target: () => Omit<Target, "from" | "last">
  readonly embed: (stop: AbortSignal, ready: (url: string) => void) => Promise<void>
  readonly say: (line: string) => void
  /** How requests get there; by default over the network. */
  readonly fetch?: Fetch
}

export class HouseAway extends Error {
  override readonly name = "HouseAway"
}

/**
 * A marker beside the data, written by the process that embeds a house: its users know that it ends with its client.
 */
const marker = "embedded"
const probeMs = 2000

export class House {
  readonly #around: Surroundings
  readonly #closing = new AbortController()
  #here: FoundHouse | undefined
  #finding: Promise<FoundHouse> | undefined
  /** The house is ours, or another bridge's: when it ends, one of the bridges has to start another. */
  #mayEmbed = true
  #own: Promise<void> | undefined
  #saidAway = false

  constructor(around: Surroundings) {
    this.#around = around
  }

  get fetch(): Fetch {
    return this.#around.fetch ?? fetch
  }

  /** Finds the house. Fails with the reason after a while; a later call tries again. */
  find(patienceMs: number): Promise<FoundHouse> {
    if (this.#here !== undefined) return Promise.resolve(this.#here)
    return (this.#finding ??= this.#search(patienceMs).finally(() => (this.#finding = undefined)))
  }

  /** Reports at once if there is no house: a mistyped address should not have to wait for the first request. */
  async look(): Promise<void> {
    const { url } = this.#around.target()
    if (!(await this.#answers(url)) && !this.#closing.signal.aborted) this.#sayAway(url)
  }

  /** It did not answer. */
  lost(here: FoundHouse): void {
    if (this.#here === here) this.#here = undefined
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#own?.catch(() => undefined)
  }

  async #search(patienceMs: number): Promise<FoundHouse> {
    const until = performance.now() + patienceMs
    for (let wait = 50; ; wait = Math.min(1000, wait * 2)) {
      const target = this.#around.target()
      const runs = target.given || target.running
      if (runs && (await this.#answers(target.url))) return this.#found(target)
      if (runs) this.#sayAway(target.url)
      if (!runs && this.#mayEmbed && (await this.#embedded())) return this.#found(this.#around.target())
      if (this.#closing.signal.aborted) throw new HouseAway("The bridge is closing.")
      if (performance.now() > until) throw new HouseAway(`No house answers at ${target.url}.`)
      await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined)
    }
  }

  /** Once, until a house is found. */
  #sayAway(url: string): void {
    if (!this.#saidAway) this.#around.say(`No house answers at ${url} yet; it is tried again.`)
    this.#saidAway = true
  }

  #found({ folder, given, token, url }: Omit<Target, "from" | "last">): FoundHouse {
    this.#saidAway = false
    const text = (name: string) => {
      try {
        return readFileSync(join(folder, name), "utf8").trim()
      } catch {
        return undefined
      }
    }
    this.#mayEmbed = !given && text(marker) !== undefined && text(marker) === text("pid")
    return (this.#here = { url: url.replace(/\/+$/, ""), token })
  }

  async #answers(url: string): Promise<boolean> {
    const signal = AbortSignal.any([AbortSignal.timeout(probeMs), this.#closing.signal])
    const ready = await this.fetch(new URL("readyz", `${url.replace(/\/+$/, "")}/`), { signal }).catch(() => undefined)
    await ready?.body?.cancel()
    return ready?.ok === true
  }

  /** False if another process has the folder: its house will be there soon. */
  async #embedded(): Promise<boolean> {
    const { folder } = this.#around.target()
    const file = join(folder, marker)
    const running = Promise.withResolvers<string>()
    let marked = false
    const ended = this.#around
      .embed(this.#closing.signal, (url) => {
        writeFileSync(file, `${process.pid}\n`, { mode: 0o600 })
        marked = true
        running.resolve(url)
      })
      .finally(() => {
        if (marked) rmSync(file, { force: true })
      })
    this.#own = ended
    ended.then(() => running.reject(new HouseAway("The bridge is closing.")), running.reject)
    try {
      this.#around.say(`No house runs here: started one at ${await running.promise} on ${folder}.`)
      return true
    } catch (cause) {
      this.#own = undefined
      // By the failure itself: whoever ends has already taken its pid away, and whoever starts has not yet written it.
      if ((cause as { readonly taken?: boolean }).taken === true || cause instanceof HouseAway) return false
      throw cause
    }
  }
}
