/** A reaction is one emoji, so that nobody can write with reactions, and a message has a limited number of them. */
import { Schema } from "effect"

/** How many reactions a message can have: different emoji, emoji of one principal, and all together. */
export const mostReactions = { emojis: 20, own: 10, all: 500 }

/** The longest emoji of Unicode has 35 characters of UTF-16. */
const longest = 64

/** What is drawn as a letter unless U+FE0F follows. */
const asLetter = /(?=\p{Emoji})\P{Emoji_Presentation}(?!\p{Emoji_Modifier})/gu

/** The emoji as Unicode writes it: ❤ with and without its U+FE0F is one emoji. Undefined if the text is not exactly one. */
export const emojiOf = (text: string): string | undefined => {
  if (text.length > longest) return undefined
  const emoji = text.replaceAll("\uFE0F", "").replaceAll(asLetter, "$&\uFE0F")
  return /^\p{RGI_Emoji}$/v.test(emoji) ? emoji : undefined
}

export const notAnEmoji = "must be one emoji, such as 👍"

export const Emoji = Schema.String.check(Schema.makeFilter((text) => emojiOf(text) !== undefined || notAnEmoji))

/** What can be taken back: reactions of older versions may be a name such as thumbsup. */
export const GivenReaction = Schema.String.check(Schema.isMaxLength(longest))
