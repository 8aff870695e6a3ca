// The checks in the order they are shown. Slow ones are started first, two at a time (CI has two cores).
import { authorization } from "./authorization.ts"
import { docs } from "./docs.ts"
import { floors } from "./floors.ts"
import { folders } from "./folders.ts"
import { format } from "./format.ts"
import type { Answer, Check } from "./kit.ts"
import { imports } from "./imports.ts"
import { ledger } from "./ledger.ts"
import { licences } from "./licences.ts"
import { lint } from "./lint.ts"
import { lock } from "./lock.ts"
import { names } from "./names.ts"
import { secrets } from "./secrets.ts"
import { sizes } from "./sizes.ts"
import { tables } from "./tables.ts"
import { types } from "./types.ts"
import { unused } from "./unused.ts"

export const checks: Readonly<Record<string, Check>> = {
  format,
  lint,
  types,
  floors,
  unused,
  tables,
  sizes,
  folders,
  imports,
  names,
  docs,
  authorization,
  secrets,
  licences,
  lock,
  ledger,
}

export interface Verdict extends Answer {
  readonly name: string
  readonly ok: boolean
}

/** An answer about nothing is a failure, and so is a check that broke: both would hide what they are there to see. */
export const judge = async (name: string, check: Check, root: string): Promise<Verdict> => {
  try {
    const answer = await check(root)
    if (answer.skipped !== undefined) return { name, ok: true, ...answer }
    const blind = answer.looked > 0 ? [] : [`looked at nothing`]
    const faults = [...blind, ...answer.faults]
    return { name, ok: faults.length === 0, ...answer, faults }
  } catch (error) {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { name, ok: false, looked: 0, unit: "things", faults: words.split("\n") }
  }
}

const atOnce = 3

/** Judges all of them; `show` is called in the order of the list, as soon as it can be. */
export const judgeAll = async (
  root: string,
  show: (verdict: Verdict) => void,
  which: Readonly<Record<string, Check>> = checks,
): Promise<ReadonlyArray<Verdict>> => {
  const waiting = Object.entries(which)
  const done = new Map<string, Verdict>()
  const shown: Array<Verdict> = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      done.set(next[0], await judge(next[0], next[1], root))
      for (const name of Object.keys(which).slice(shown.length)) {
        const verdict = done.get(name)
        if (verdict === undefined) break
        shown.push(verdict)
        show(verdict)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return shown
}

const maxShown = 40

export const line = (verdict: Verdict): string => {
  const head = `${verdict.ok ? "ok  " : "FAIL"} ${verdict.name.padEnd(9)}${verdict.skipped ?? `${verdict.looked} ${verdict.unit}`}`
  const more = verdict.faults.length - maxShown
  const faults = [...verdict.faults.slice(0, maxShown), ...(more > 0 ? [`… and ${more} more`] : [])]
  return [head, ...faults.map((fault) => `     ${fault}`)].join("\n")
}
