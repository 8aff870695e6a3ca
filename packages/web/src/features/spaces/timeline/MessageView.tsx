import { type FocusEvent, useLayoutEffect, useRef, useState } from "react"
import { cache, keys } from "../../../feed/cache.ts"
import { house } from "../../../feed/house.ts"
import { type LoadedMessages, withReaction, withChanged } from "../../../feed/messages.logic.ts"
import type { Message } from "../../../feed/types.ts"
import { EmojiList } from "../../../parts/icons/EmojiList.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { ActButton } from "../../../parts/press/ActButton.tsx"
import { Confirmation } from "../../../parts/press/Confirmation.tsx"
import { Text } from "../../../parts/text/Text.tsx"
import { Composer } from "../composer/Composer.tsx"
import { Article, type RowContext } from "./Article.tsx"
import { rightsOn } from "../rights.logic.ts"
import { words } from "../words/en.ts"

export interface MessageViewProps {
  readonly message: Message
  readonly head: boolean
  readonly replies: number
  readonly context: RowContext
}

/** Shown at once and undone if the house refuses: undoing is cheap. */
const react = async (message: Message, emoji: string, me: string, on: boolean) => {
  const key = keys.messages(message.space)
  const set = (is: boolean) =>
    cache.setQueryData<LoadedMessages>(
      key,
      (old) => old && withChanged(old, message.id, (one) => withReaction(one, emoji, me, is)),
    )
  set(on)
  await (on ? house.messages.react(message.id, emoji) : house.messages.unreact(message.id, emoji)).catch(() => set(!on))
}

const Reactions = ({ context: { may, me }, message }: { readonly message: Message; readonly context: RowContext }) =>
  message.reactions.length === 0 ? null : (
    <div className="reacts">
      {message.reactions.map(({ by, emoji }) => {
        const mine = by.includes(me.id)
        return (
          <button
            key={emoji}
            type="button"
            aria-pressed={mine}
            aria-label={words.reaction(emoji, by.length, mine)}
            disabled={!may.speak}
            onClick={() => void react(message, emoji, me.id, !mine)}
          >
            {emoji} {by.length}
          </button>
        )
      })}
    </div>
  )

type Mode = "read" | "edit" | "react" | "remove"

const Tools = ({
  context,
  entered,
  message,
  onEntered,
  set,
}: {
  readonly message: Message
  readonly context: RowContext
  /** Entered by keyboard or a screen reader: focus moves to the first button. */
  readonly entered: boolean
  readonly onEntered: () => void
  readonly set: (mode: Mode) => void
}) => {
  const group = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!entered) return
    group.current?.querySelector("button")?.focus()
    // Once: when rendered again later, they must not take the focus.
    onEntered()
    // oxlint-disable-next-line react/exhaustive-deps
  }, [entered])
  const { may, me } = context
  const { edit, remove } = rightsOn(message, me, may)
  const tool = (act: string, icon: string, label: string, run: () => void) => (
    <button type="button" className="button plain icon" data-act={act} aria-label={label} title={label} onClick={run}>
      <Icon name={icon} small />
    </button>
  )
  return (
    <div ref={group} className="hover-tools" role="group" aria-label={words.tools}>
      {may.speak ? tool("react", "smile", words.react, () => set("react")) : null}
      {may.speak ? tool("reply", "message-square", words.reply, () => context.openThread(message)) : null}
      {tool("pin", "pin", message.pinned ? words.unpin : words.pin, () => {
        void (message.pinned ? house.messages.unpin(message.id) : house.messages.pin(message.id)).catch(() => undefined)
      })}
      {tool("copy", "copy", words.copy, () => void navigator.clipboard.writeText(message.text))}
      {edit ? tool("edit", "pencil", words.edit, () => set("edit")) : null}
      {remove ? tool("remove", "x", words.remove, () => set("remove")) : null}
    </div>
  )
}

export const MessageView = ({ context, head, message, replies }: MessageViewProps) => {
  const [mode, set] = useState<Mode>("read")
  // Six buttons per row would be most of the timeline's DOM, and nobody sees them before the pointer is near.
  const [tools, setTools] = useState<"away" | "near" | "entered">("away")
  const onNear = (event?: FocusEvent) =>
    setTools((now) => (now !== "away" ? now : event?.target.matches("[data-act=open]") === true ? "entered" : "near"))
  const { me, names } = context
  if (message.deletedAt !== null)
    return (
      <Article author={message.author} at={message.createdAt} head={head} id={message.id}>
        <p className="say faint">{words.deleted}</p>
      </Article>
    )
  return (
    <Article author={message.author} at={message.createdAt} head={head} id={message.id} onNear={onNear}>
      {mode === "edit" ? (
        <Composer
          space={context.space}
          initial={message.text}
          submitLabel={words.save}
          placeholder={words.edit}
          onCancel={() => set("read")}
          onSubmit={async (text) => {
            await house.messages.edit(message.id, { text })
            set("read")
          }}
        />
      ) : (
        <Text text={message.text} names={names} me={me.name} />
      )}
      {message.editedAt === null ? null : <span className="faint small edited">{words.edited}</span>}
      {message.pinned ? (
        <span className="faint small edited">
          <Icon name="pin" small /> {words.pinned}
        </span>
      ) : null}
      <Reactions message={message} context={context} />
      {replies === 0 ? null : (
        <span className="thread-link">
          <Icon name="message-square" small />
          <button type="button" className="as-link" onClick={() => context.openThread(message)}>
            {words.replies(replies)}
          </button>
        </span>
      )}
      {mode === "react" ? (
        <EmojiList
          choose={(emoji) => {
            set("read")
            if (emoji !== undefined) void react(message, emoji, me.id, true)
          }}
        />
      ) : null}
      {mode === "remove" ? (
        <Confirmation tone="bad" label={words.removeSure} close={() => set("read")}>
          <span>{words.removeSure}</span>
          <ActButton
            of={message.id}
            className="button tiny no"
            onClick={() =>
              void house.messages.remove(message.id).then(
                () => set("read"),
                () => set("read"),
              )
            }
          >
            {words.remove}
          </ActButton>
          <button type="button" className="button tiny plain" data-first onClick={() => set("read")}>
            {words.cancel}
          </button>
        </Confirmation>
      ) : null}
      {!context.may.pin || mode !== "read" ? null : tools === "away" ? (
        <button type="button" className="vh" data-act="open">
          {words.tools}
        </button>
      ) : (
        <Tools
          message={message}
          context={context}
          entered={tools === "entered"}
          onEntered={() => setTools("near")}
          set={set}
        />
      )}
    </Article>
  )
}
