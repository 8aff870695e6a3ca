/** What a user has chosen for this browser: theme, keys, how a message is sent. */
import { makeStore } from "../feed/store.ts"

export type Theme = "system" | "light" | "dark"

export interface Settings {
  readonly theme: Theme
  /** Single-letter shortcuts. */
  readonly letters: boolean
  readonly enterSends: boolean
}

/** Whether there is room for a list and its selected item; a phone shows one after the other. */
export const isWide = (): boolean => matchMedia("(min-width: 48.01rem)").matches

const key = "stoa.settings"
const usual: Settings = { theme: "system", letters: true, enterSends: true }

const kept = (): Settings => {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Settings>) }
  } catch {
    return usual
  }
}

export const settings = makeStore<Settings>(kept())

/** The house writes the theme into the document, so a cookie, which contains nothing else, tells it. */
const showTheme = (theme: Theme) => {
  if (theme === "system") document.documentElement.removeAttribute("data-theme")
  else document.documentElement.setAttribute("data-theme", theme)
  document.cookie = `stoa_theme=${theme === "system" ? "" : theme}; Path=/; SameSite=Strict; Max-Age=${theme === "system" ? 0 : 31_536_000}`
}

export const choose = (change: Partial<Settings>): void => {
  settings.set((old) => ({ ...old, ...change }))
  localStorage.setItem(key, JSON.stringify(settings.get()))
  if (change.theme !== undefined) showTheme(change.theme)
}
