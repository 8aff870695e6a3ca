/** Times as people say them: minutes up to an hour, the clock today, the date before. */
import { moment } from "../../feed/clock.ts"

const thin = "\u00a0"

const formats = {
  clock: new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false }),
  exact: new Intl.DateTimeFormat(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hour12: false,
  }),
  day: new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" }),
  date: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
  full: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" }),
}

export const startOfDay = (at: number): number => moment(at).setHours(0, 0, 0, 0)
const millis = (at: string): number => moment(at).getTime()

export const clockOf = (at: string): string => formats.clock.format(millis(at))
/** To the millisecond, for detailed views. */
export const exactOf = (at: string): string => formats.exact.format(millis(at))
export const fullTime = (at: string): string => formats.full.format(millis(at))

/** Cached: consecutive times are mostly on the same day, and midnight is expensive to compute. */
let day = { from: 0, to: 0 }
export const dayKey = (at: string): number => {
  const when = Date.parse(at)
  if (when < day.from || when >= day.to) day = { from: startOfDay(when), to: moment(when).setHours(24, 0, 0, 0) }
  return day.from
}

/** The difference in calendar days, whatever clock changes lie in between. */
const daysBefore = (at: number, now: number): number => Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000)

export const dayOf = (
  at: string,
  now: number,
  words: { readonly today: string; readonly yesterday: string },
): string => {
  const before = daysBefore(millis(at), now)
  const day = formats.day.format(millis(at))
  return before === 0 ? `${words.today}, ${day}` : before === 1 ? `${words.yesterday}, ${day}` : day
}

/** How long ago, in short. */
export const ago = (at: string, now: number): string => {
  const minutes = Math.max(0, Math.floor((now - millis(at)) / 60_000))
  if (minutes === 0) return "just now"
  if (minutes < 60) return `${minutes}${thin}min`
  return daysBefore(millis(at), now) === 0 ? clockOf(at) : formats.date.format(millis(at))
}

/** The same within a sentence. */
export const agoInSentence = (at: string, now: number): string => {
  const said = ago(at, now)
  return said.endsWith("min") ? `${said}${thin}ago` : said
}

/** When something will be: the clock if it is today, otherwise with the day before it. */
export const when = (at: string, now: number, words: { readonly today: string; readonly tomorrow: string }): string => {
  const days = -daysBefore(millis(at), now)
  const day = days === 0 ? words.today : days === 1 ? words.tomorrow : formats.date.format(millis(at))
  return `${day}, ${clockOf(at)}`
}

/** A duration in at most two units. */
export const durationOf = (length: number): string => {
  if (length < 1000) return `${Math.round(length)}${thin}ms`
  if (length < 60_000) return `${(length / 1000).toFixed(length < 10_000 ? 1 : 0)}${thin}s`
  const minutes = Math.floor(length / 60_000)
  const seconds = Math.floor((length % 60_000) / 1000)
  if (minutes < 60) return seconds === 0 ? `${minutes}${thin}min` : `${minutes}${thin}min${thin}${seconds}${thin}s`
  return `${Math.floor(minutes / 60)}${thin}h${thin}${minutes % 60}${thin}min`
}

export const millisUntil = (at: string, now: number): number => millis(at) - now
