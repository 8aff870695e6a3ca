/** A notification on this device that a decision waits. It names only the tool: others can read a locked screen too. */
import { useEffect, useRef } from "react"
import { useRouter } from "@tanstack/react-router"
import { makeStore } from "../../feed/store.ts"
import type { Decision } from "../../feed/types.ts"
import { words } from "./words/en.ts"

const key = "stoa.notify"
const canNotify = () => "Notification" in window && Notification.permission === "granted"

export const notifying = makeStore(localStorage.getItem(key) === "on" && canNotify())

export const askToNotify = async (): Promise<void> => {
  if (!("Notification" in window)) return
  const on = (await Notification.requestPermission()) === "granted" && !notifying.get()
  localStorage.setItem(key, on ? "on" : "off")
  notifying.set(() => on)
}

/** Pressing it opens the card; it approves nothing. */
export const useNotices = (mine: ReadonlyArray<Decision>): void => {
  const router = useRouter()
  const known = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    const fresh = known.current === undefined ? [] : mine.filter(({ id }) => known.current?.has(id) !== true)
    known.current = new Set(mine.map(({ id }) => id))
    if (!notifying.get() || document.visibilityState === "visible") return
    for (const { call, id } of fresh) {
      const notice = new Notification(words.needs, { body: call?.tool ?? "", tag: id })
      notice.addEventListener("click", () => {
        window.focus()
        void router.navigate({ to: "/decisions/$id", params: { id } })
      })
    }
  }, [mine, router])
}
