/**
 * When a plan is due: after a delay, at a time, or repeatedly by a cron line in a time zone. Local time counts: an hour
 * that does not exist moves on, one that occurs twice counts once. Pure.
 */
import { Cron, DateTime, Duration, Result } from "effect"

export interface Schedule {
  readonly runAfter?: string
  readonly scheduledAt?: string
  readonly cron?: string
  /** An IANA name; default: UTC. */
  readonly timezone?: string
}

/** What happens to times at which the house was off. */
export type MissedTimes = "skip" | "once" | "all"

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const longest = Duration.days(5 * 366)
/** More missed times than this are not made up for one by one. */
const maxMissed = 100
/** Beyond this it counts as missed: a busy house may be a little late. */
const grace = Duration.minutes(1)

const delayOf = (text: string): Duration.Duration | undefined => {
  const found = /^\s*(\d{1,9})\s*(s|m|h|d|w|(?:second|minute|hour|day|week|sec|min)s?)\s*$/i.exec(text)
  return found === null ? undefined : Duration.seconds(Number(found[1]) * units[found[2]![0]!.toLowerCase()]!)
}

const said = (message: string) => Result.fail(message)

const afterDelay = (text: string, now: DateTime.Utc): Result.Result<DateTime.Utc, string> => {
  const delay = delayOf(text)
  if (delay === undefined) return said(`"${text}" is not a delay. Write it like "30 minutes", "2 hours" or "1 day".`)
  if (Duration.isGreaterThan(delay, longest)) return said(`"${text}" is too far away: at most five years.`)
  return Result.succeed(DateTime.addDuration(now, delay))
}

/** Whether the calendar has this day: the 30th of February would otherwise become a day in March. */
const isDay = (day: string): boolean => {
  const made = DateTime.make(`${day}T00:00:00Z`)
  return made._tag === "Some" && DateTime.formatIso(made.value).startsWith(day)
}

const hasOffset = (text: string): boolean => /(?:z|[+-]\d{2}:?\d{2})$/i.test(text)

const atTime = (text: string, zone: string, now: DateTime.Utc): Result.Result<DateTime.Utc, string> => {
  const wrong = `"${text}" is not a time. Write it like "2027-03-01T09:00:00Z", or without Z and with a timezone.`
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) || !isDay(text.slice(0, 10))) return said(wrong)
  const zoned = hasOffset(text)
    ? DateTime.make(text)
    : DateTime.makeZoned(`${text}Z`, { timeZone: zone, adjustForTimeZone: true })
  if (zoned._tag === "None") return said(wrong)
  const at = DateTime.toUtc(zoned.value)
  if (DateTime.isLessThanOrEqualTo(at, now)) return said(`"${text}" is in the past. Give a time in the future.`)
  if (DateTime.isGreaterThan(at, DateTime.addDuration(now, longest)))
    return said(`"${text}" is too far away: at most five years.`)
  return Result.succeed(at)
}

const byCron = (line: string, zone: string, after: DateTime.Utc): Result.Result<DateTime.Utc, string> => {
  const wrong = `"${line}" is not a cron line. It has five fields: minute, hour, day, month, weekday, such as "0 9 * * 1-5".`
  if (line.trim().split(/\s+/).length !== 5) return said(wrong)
  const parsed = Cron.parse(line.trim(), zone)
  if (Result.isFailure(parsed)) return said(wrong)
  const next = Result.try({ try: () => Cron.next(parsed.success, after), catch: () => undefined })
  if (Result.isFailure(next)) return said(`"${line}" never comes.`)
  return Result.succeed(DateTime.makeUnsafe(next.success.getTime()))
}

/** When it is due next after a moment, or why it never is. */
export const dueAfter = (schedule: Schedule, after: DateTime.Utc): Result.Result<DateTime.Utc, string> => {
  const { cron, runAfter, scheduledAt, timezone = "UTC" } = schedule
  const given = [runAfter, scheduledAt, cron].filter((one) => one !== undefined)
  if (given.length !== 1) return said("A plan has exactly one of runAfter, scheduledAt and cron.")
  if (DateTime.zoneMakeNamed(timezone)._tag === "None")
    return said(`"${timezone}" is not a time zone. Write it like "Europe/Berlin".`)
  if (runAfter !== undefined) return afterDelay(runAfter, after)
  return scheduledAt === undefined ? byCron(cron!, timezone, after) : atTime(scheduledAt, timezone, after)
}

/** When it is due again after it was due once, if ever. `missed` decides whether times in between are made up for. */
export const dueAgain = (
  schedule: Schedule,
  missed: MissedTimes,
  due: DateTime.Utc,
  now: DateTime.Utc,
): DateTime.Utc | undefined => {
  if (schedule.cron === undefined) return undefined
  const again = (after: DateTime.Utc): DateTime.Utc | undefined => {
    const next = dueAfter(schedule, after)
    return Result.isSuccess(next) ? next.success : undefined
  }
  const next = again(due)
  if (missed !== "all" || next === undefined) return again(DateTime.max(due, now))
  let at: DateTime.Utc | undefined = next
  for (let count = 0; at !== undefined && DateTime.isLessThanOrEqualTo(at, now); count++) {
    if (count >= maxMissed) return again(now)
    at = again(at)
  }
  return next
}

export const isLate = (due: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.isGreaterThan(now, DateTime.addDuration(due, grace))
