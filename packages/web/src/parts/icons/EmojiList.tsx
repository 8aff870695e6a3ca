import { useOverlay } from "../press/overlays.ts"
import { words } from "../../words/en.ts"

const emojis = "👍 👎 ❤️ 🎉 😀 😂 🙂 🤔 😮 😢 🙏 👏 🔥 ✅ ❌ 👀 🚀 💡 ⚓ ☕ 🌞 🌧️ ⏰ 📌".split(" ")

/** A small choice; `undefined` if none was chosen. */
export const EmojiList = ({ choose }: { readonly choose: (emoji: string | undefined) => void }) => {
  const overlay = useOverlay<HTMLDivElement>("emojis", () => choose(undefined))
  return (
    <div
      {...overlay}
      className="emojis"
      role="group"
      aria-label={words.emojis}
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
