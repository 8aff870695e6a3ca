/**
 * Keys that work everywhere: Ctrl K, ?, and g then a letter. Single letters do nothing in fields and can be switched
 * off.
 */
import { useRouter } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { now } from "../../feed/clock.ts"
import { useStart } from "../../feed/start.ts"
import { settings } from "../../parts/settings.ts"
import { modal, toggle } from "../../parts/press/overlays.ts"
import { menuFor } from "../navigation/menu.ts"
import { sidebarLists } from "../navigation/sidebar.logic.ts"

const maxWait = 1500

/** A field, or something that has opened, keeps its keys. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest("input, textarea, select, [data-overlay]") !== null)

export const useKeys = (): void => {
  const router = useRouter()
  const { me, spaces } = useStart()
  // A ref, because the list of spaces may change between the two letters.
  const pressedG = useRef(0)
  useEffect(() => {
    const neighbour = (step: number) => {
      const { pairs, spaces: named } = sidebarLists(spaces, me.id)
      const list = [...named, ...pairs.map(({ space }) => space)]
      const here = decodeURIComponent(/^\/s\/([^/]+)/.exec(location.pathname)?.[1] ?? "")
      const at = list.findIndex(({ name }) => name === here)
      const next = list[(at + step + list.length) % list.length]
      if (next !== undefined) void router.navigate({ to: "/s/$space", params: { space: next.name } })
    }
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        return toggle("jump")
      }
      // What lies under it does not hear the keys; Escape also closes what could not be drawn.
      if (modal.get() !== undefined) return event.key === "Escape" ? modal.set(() => undefined) : undefined
      if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
        event.preventDefault()
        return neighbour(event.key === "ArrowUp" ? -1 : 1)
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target) || !settings.get().letters) return
      if (event.key === "?") return toggle("keys")
      if (event.key === "g") {
        pressedG.current = now()
        return
      }
      if (now() - pressedG.current > maxWait) return
      pressedG.current = 0
      const to =
        event.key === "d"
          ? "/decisions"
          : event.key === "r"
            ? "/runs"
            : menuFor(me).find(({ key }) => key === event.key)?.to
      if (to !== undefined) void router.navigate({ to })
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [router, me, spaces])
}
