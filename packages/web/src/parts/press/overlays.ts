/**
 * Everything that opens over the page or inside it and asks for the next key. Each has a line here; a test opens them
 * all and presses keys, and another one finds those that are not listed.
 */
import { type KeyboardEvent, useLayoutEffect, useRef } from "react"
import { makeStore } from "../../feed/store.ts"

/** Over the whole page: while one is open, nothing under it can be reached. */
export const modals = ["jump", "keys"] as const
export type Modal = (typeof modals)[number]

/** In their place: they take the focus, keep their keys, and Escape closes them. */
export const places = [
  "confirm",
  "critical",
  "emojis",
  "reason",
  "search-panel",
  "space-panel",
  "thread-panel",
] as const
export type Place = (typeof places)[number]

/** The one that is open, from the press that asked for it on: keys that come before it is drawn reach nothing else. */
export const modal = makeStore<Modal | undefined>(undefined)

/** What had the focus: it is lost as soon as the page is covered. */
let opener: Element | null = null
export const modalOpener = (): HTMLElement | null => (opener instanceof HTMLElement ? opener : null)

export const toggle = (name: Modal): void => {
  if (modal.get() === undefined) opener = document.activeElement
  modal.set((open) => (open === name ? undefined : name))
}

const fields = "button, input, textarea, select, a[href]"

/**
 * Takes the focus when it opens, unless something inside has it, and gives it back when it closes. What gets it is
 * marked `data-first`; else it is the box itself if it can have it, and else its first field.
 */
export const useOverlay = <Box extends HTMLElement>(name: Place, close: () => void, takesFocus = true) => {
  const ref = useRef<Box>(null)
  useLayoutEffect(() => {
    const box = ref.current!
    const before = document.activeElement
    // What it was opened with may be gone when it closes.
    const around = box.parentElement?.closest<HTMLElement>("[tabindex]")
    const own = box.hasAttribute("tabindex") ? box : box.querySelector<HTMLElement>(fields)
    if (takesFocus && !box.contains(before)) (box.querySelector<HTMLElement>("[data-first]") ?? own)?.focus()
    return () => {
      if (!box.contains(document.activeElement)) return
      queueMicrotask(() => {
        if (document.activeElement !== document.body) return
        if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus()
        else around?.focus()
      })
    }
    // Once, as it was when it opened.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    // Ctrl K opens from everywhere.
    if (event.ctrlKey || event.metaKey || event.altKey) return
    event.stopPropagation()
    if (event.key === "Escape" && !event.defaultPrevented) close()
  }
  return { ref, "data-overlay": name, onKeyDown }
}
