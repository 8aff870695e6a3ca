import { useQuery } from "@tanstack/react-query"
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useId, useRef, useState } from "react"
import { now } from "../../../feed/clock.ts"
import { house } from "../../../feed/house.ts"
import { usePeople, useStart } from "../../../feed/start.ts"
import { useStore } from "../../../feed/store.ts"
import { type Tool, toolsQuery } from "../../../feed/tools.ts"
import type { Space } from "../../../feed/types.ts"
import { EmojiList } from "../../../parts/icons/EmojiList.tsx"
import { Avatar } from "../../../parts/icons/Avatar.tsx"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { LoadingPane } from "../../../parts/panes/Pane.tsx"
import { settings } from "../../../parts/settings.ts"
import { matchMentions, mentionAt, insertMention, type Mentionable } from "./mention.logic.ts"
import { type Offer, OfferList } from "./OfferList.tsx"
import { matchTools, slashOf } from "./slash.logic.ts"
import { words } from "../words/en.ts"

export interface ComposerProps {
  readonly space: Space
  readonly placeholder: string
  readonly submitLabel: string
  readonly onSubmit: (text: string) => Promise<void> | void
  readonly initial?: string
  /** The key under which a draft is stored until it is sent. */
  readonly draft?: string
  readonly onCancel?: () => void
  readonly onUp?: () => void
  readonly extra?: ReactNode
  /** Whether / at the beginning calls a tool. */
  readonly callsTools?: boolean
}

/** Loaded when the first tool is called. */
const ToolForm = lazy(() => import("./ToolForm.tsx").then(({ ToolForm }) => ({ default: ToolForm })))

const typingEvery = 3000

const useMentionable = (space: Space): ReadonlyArray<Mentionable> => {
  const people = usePeople()
  const { me } = useStart()
  const here = space.members.filter(({ id }) => id !== me.id)
  const others = people.filter((one) => one.retiredAt === null && !space.members.some(({ id }) => id === one.id))
  return [
    ...here.map(({ kind, name }) => ({ name, kind, isHere: true })),
    ...others.map(({ kind, name }) => ({ name, kind, isHere: false })),
  ]
}

/** The tools that match the text; requested when the first / is typed. */
const useToolsFor = (part: string | undefined): ReadonlyArray<Tool> => {
  const { data } = useQuery({ ...toolsQuery(), enabled: part !== undefined, retry: false })
  return part === undefined ? [] : matchTools(data?.items ?? [], part)
}

const toolLine = ({ asks, description, name }: Tool) => (
  <>
    <Icon name="wrench" small />
    <b className="mono">{name}</b>
    <span className="faint small cut">{description}</span>
    {asks === true ? <span className="faint small push">{words.asksFirst}</span> : null}
  </>
)

const personLine = ({ isHere, kind, name }: Mentionable) => (
  <>
    <Avatar name={name} kind={kind} size="s" />
    <span className="cut">{name}</span>
    {isHere ? null : <span className="faint small push">{words.notHere}</span>}
  </>
)

export const Composer = (props: ComposerProps) => {
  const { callsTools = false, draft, extra, initial, onCancel, onSubmit, onUp, placeholder, space, submitLabel } = props
  const kept = draft === undefined ? undefined : `stoa.draft.${draft}`
  const [text, write] = useState(() => initial ?? (kept === undefined ? "" : (sessionStorage.getItem(kept) ?? "")))
  const [caret, setCaret] = useState(0)
  const [at, point] = useState(0)
  const [shut, shutList] = useState(false)
  const [emoji, showEmoji] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const typedAt = useRef(0)
  const all = useMentionable(space)
  const { enterSends } = useStore(settings)
  const list = useId()
  const asked = shut ? undefined : mentionAt(text, caret)
  const found = asked === undefined ? [] : matchMentions(all, asked.part)
  // A complete name needs no list: Enter sends.
  const people = found.some(({ name }) => name.toLowerCase() === asked?.part.toLowerCase()) ? [] : found
  const slash = callsTools && !shut ? slashOf(text) : undefined
  const tools = useToolsFor(slash)
  const [calling, call] = useState<Tool>()

  const keep = (value: string) => {
    write(value)
    if (kept !== undefined) {
      if (value === "") sessionStorage.removeItem(kept)
      else sessionStorage.setItem(kept, value)
    }
  }
  const put = (value: string, place: number) => {
    keep(value)
    setCaret(place)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(place, place)
    })
  }
  const insert = (piece: string) => put(text.slice(0, caret) + piece + text.slice(caret), caret + piece.length)
  const mention = (name: string) => {
    if (asked === undefined) return
    const next = insertMention(text, asked.from, caret, name)
    put(next.text, next.caret)
    point(0)
  }
  const offers: ReadonlyArray<Offer> =
    slash === undefined
      ? people.map((one) => ({ name: one.name, line: personLine(one), choose: () => mention(one.name) }))
      : tools.map((one) => ({ name: one.name, line: toolLine(one), choose: () => call(one) }))
  const pointed = Math.min(at, offers.length - 1)
  /** Back to the text field: with the previous text, or empty after the tool was called. */
  const returnToText = (value: string) => {
    call(undefined)
    shutList(true)
    point(0)
    put(value, value.length)
  }
  const submit = () => {
    if (text.trim() === "") return
    const said = text
    if (onCancel === undefined) keep("")
    void onSubmit(said)
    if (onCancel === undefined) field.current?.focus()
  }
  const type = (value: string, place: number) => {
    keep(value)
    setCaret(place)
    shutList(false)
    point(0)
    if (onCancel !== undefined || value === "" || now() - typedAt.current < typingEvery) return
    typedAt.current = now()
    void house.spaces.typing(space.id).catch(() => undefined)
  }
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (offers.length > 0 && ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"].includes(event.key)) {
      event.preventDefault()
      if (event.key === "Escape") shutList(true)
      else if (event.key === "Enter" || event.key === "Tab") offers[pointed]!.choose()
      else point((pointed + (event.key === "ArrowDown" ? 1 : -1) + offers.length) % offers.length)
      return
    }
    if (event.key === "Enter" && (enterSends ? !event.shiftKey : event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      submit()
    } else if (event.key === "Escape") {
      if (onCancel === undefined) field.current?.blur()
      else onCancel()
    } else if (event.key === "ArrowUp" && text === "" && onUp !== undefined) {
      event.preventDefault()
      onUp()
    }
  }
  if (calling !== undefined)
    return (
      <div className="composer">
        <Suspense fallback={<LoadingPane lines={3} />}>
          <ToolForm tool={calling} space={space.id} back={() => returnToText(text)} onCalled={() => returnToText("")} />
        </Suspense>
      </div>
    )
  return (
    <div className="composer">
      {offers.length === 0 ? null : (
        <OfferList
          id={list}
          label={slash === undefined ? words.mentionList : words.toolList}
          offers={offers}
          at={pointed}
        />
      )}
      <textarea
        ref={field}
        className="text"
        rows={1}
        dir="auto"
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        // A user who opened it to edit continues typing.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus={onCancel !== undefined}
        aria-autocomplete="list"
        aria-controls={offers.length === 0 ? undefined : list}
        aria-activedescendant={offers.length === 0 ? undefined : `${list}-${pointed}`}
        onChange={(event) => type(event.target.value, event.target.selectionStart)}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKey}
      />
      <div className="line">
        <button type="button" className="button plain icon" aria-label={words.mention} onClick={() => insert("@")}>
          <Icon name="at-sign" small />
        </button>
        <button
          type="button"
          className="button plain icon"
          aria-label={words.emoji}
          aria-expanded={emoji}
          onClick={() => showEmoji((old) => !old)}
        >
          <Icon name="smile" small />
        </button>
        {extra}
        <span className="push" />
        {onCancel === undefined ? null : (
          <button type="button" className="button plain" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
        <button type="button" className="button" onClick={submit} disabled={text.trim() === ""}>
          <Icon name="arrow-up" small />
          {submitLabel}
        </button>
      </div>
      {emoji ? (
        <EmojiList
          choose={(sign) => {
            showEmoji(false)
            if (sign !== undefined) insert(sign)
          }}
        />
      ) : null}
    </div>
  )
}
