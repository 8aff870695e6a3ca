import { emojiOf } from "@stoa/contract"
import { useEffect, useRef } from "react"
import { words } from "../../words/en.ts"

const emojis = [..."👍👎❤🎉😀😂🙂🤔😮😢🙏👏🔥✅❌👀🚀💡⚓☕🌞🌧⏰📌"].flatMap((sign) => emojiOf(sign) ?? [])

/** A small choice; `undefined` if none was chosen. */
export const EmojiList = ({ choose }: { readonly choose: (emoji: string | undefined) => void }) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector("button")?.focus(), [])
  return (
    <div
      ref={box}
      className="emojis"
      role="group"
      aria-label={words.emojis}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.stopPropagation()
        choose(undefined)
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) choose(undefined)
      }}
    >
      {emojis.map((emoji) => (
        <button key={emoji} type="button" aria-label={emoji} onClick={() => choose(emoji)}>
          {emoji}
        </button>
      ))}
    </div>
  )
}
