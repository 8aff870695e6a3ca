// edge: the one clock of the page, so that tests of logic can give their own.
export const now = (): number => Date.now()
export const later = (millis: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, millis)
  return () => clearTimeout(timer)
}
export const every = (millis: number, run: () => void): (() => void) => {
  const timer = setInterval(run, millis)
  return () => clearInterval(timer)
}
/** A moment as a browser reads it. */
export const moment = (text: string | number): Date => new Date(text)
