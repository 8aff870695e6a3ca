/** What a person has chosen for this browser: theme, keys, how a message is sent. */
import { makeStore } from "../feed/store.ts"

export type Theme = "system" | "light" | "dark"

export interface Settings {
  readonly theme: Theme
  /** Keys that are a single letter. */
  readonly letters: boolean
  readonly enterSends: boolean
}

/** Room for a list and what is chosen in it; a phone shows one after the other. */
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

/** The house writes the theme into the document, so it must be told: by a cookie that says nothing else. */
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
