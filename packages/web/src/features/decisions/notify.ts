/** A notification on this device that a decision waits. It names only the tool: others can read a locked screen too. */
import { useEffect, useRef } from "react"
import { useRouter } from "@tanstack/react-router"
import { makeStore } from "../../feed/store.ts"
import type { Decision } from "../../feed/types.ts"
import { words } from "./words/en.ts"

const key = "stoa.notify"
const canNotify = () => "Notification" in window && Notification.permission === "granted"

export const notificationsOn = makeStore(localStorage.getItem(key) === "on" && canNotify())

export const askToNotify = async (): Promise<void> => {
  if (!("Notification" in window)) return
  const on = (await Notification.requestPermission()) === "granted" && !notificationsOn.get()
  localStorage.setItem(key, on ? "on" : "off")
  notificationsOn.set(() => on)
}

/** Pressing it opens the card; it approves nothing. */
export const useNotifications = (mine: ReadonlyArray<Decision>): void => {
  const router = useRouter()
  const known = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    const fresh = known.current === undefined ? [] : mine.filter(({ id }) => known.current?.has(id) !== true)
    known.current = new Set(mine.map(({ id }) => id))
    if (!notificationsOn.get() || document.visibilityState === "visible") return
    for (const { call, id } of fresh) {
      const notice = new Notification(words.needs, { body: call?.tool ?? "", tag: id })
      notice.addEventListener("click", () => {
        window.focus()
        void router.navigate({ to: "/decisions/$id", params: { id } })
      })
    }
  }, [mine, router])
}
