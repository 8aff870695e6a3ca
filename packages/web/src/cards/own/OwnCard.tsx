/** An owner's own card: a frame without origin, cookie or network, which gets the call and reports its height. */
import { useEffect, useMemo, useRef } from "react"
import type { MessageCall } from "../../feed/types.ts"
import { maxMessages, frameMessageOf, cardDataOf } from "./own.logic.ts"
import { words } from "./words/en.ts"

const themeOf = (place: Element): string => {
  const chosen = getComputedStyle(place).colorScheme
  if (chosen === "light" || chosen === "dark") return chosen
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"
}

export const OwnCard = ({ call, name }: { readonly call: MessageCall; readonly name: string }) => {
  const frame = useRef<HTMLIFrameElement>(null)
  const sent = useMemo(() => cardDataOf(call), [call])
  useEffect(() => {
    let heard = 0
    const onMessage = ({ data, source }: MessageEvent) => {
      const place = frame.current
      // Ignores messages of other windows.
      if (place === null || source !== place.contentWindow || ++heard > maxMessages) return
      const said = frameMessageOf(data)
      if (said?.kind === "ready") place.contentWindow?.postMessage({ call: sent, theme: themeOf(place) }, "*")
      if (said?.kind === "height") place.style.height = `${said.height}px`
    }
    addEventListener("message", onMessage)
    return () => removeEventListener("message", onMessage)
  }, [sent])
  return sent === undefined ? null : (
    <iframe
      ref={frame}
      className="own-card"
      title={words.card(name, call.tool)}
      src={`/cards/${name}`}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
    />
  )
}
