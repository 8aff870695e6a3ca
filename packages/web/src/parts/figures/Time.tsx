import { useEffect, useState } from "react"
import { every, now } from "../../feed/clock.ts"
import { words } from "../../words/en.ts"
import { ago, agoInSentence, clockOf, exactOf, fullTime, when } from "./time.logic.ts"

/** The clock, read again periodically while something on screen depends on it. */
export const useNow = (millis = 30_000): number => {
  const [at, set] = useState(now)
  useEffect(() => every(millis, () => set(now())), [millis])
  return at
}

export const ClockTime = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={fullTime(at)}>
    {clockOf(at)}
  </time>
)

export const ExactTime = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={fullTime(at)}>
    {exactOf(at)}
  </time>
)

/** How long ago; `said`: within a sentence. */
export const AgoTime = ({ at, said = false }: { readonly at: string; readonly said?: boolean }) => {
  const moment = useNow()
  return (
    <time dateTime={at} title={fullTime(at)}>
      {said ? agoInSentence(at, moment) : ago(at, moment)}
    </time>
  )
}

const days = { today: words.todaySmall, tomorrow: words.tomorrow }

/** A time in the future. */
export const SoonTime = ({ at }: { readonly at: string }) => {
  const moment = useNow()
  return (
    <time dateTime={at} title={fullTime(at)}>
      {when(at, moment, days)}
    </time>
  )
}
