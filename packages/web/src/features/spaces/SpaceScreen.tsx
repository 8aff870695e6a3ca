/** A space: talk, see what is done, decide in place. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { type ComponentType, lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { noteSpace } from "../../feed/events/apply.ts"
import { house } from "../../feed/house.ts"
import { useStart } from "../../feed/start.ts"
import { useStore } from "../../feed/store.ts"
import type { Decision, Message, Space } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { rememberSpace } from "../../layout/navigation/lastSpace.ts"
import { spaceIcon } from "../../layout/navigation/sidebar.logic.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { words as common } from "../../words/en.ts"
import { Composer } from "./composer/Composer.tsx"
import { CannotWrite } from "./CannotWrite.tsx"
import { ActivityLine } from "./ActivityLine.tsx"
import { outbox, post } from "./composer/outbox.ts"
import { noRights, rightsIn } from "./rights.logic.ts"
import type { RowContext } from "./timeline/Article.tsx"
import { Timeline } from "./timeline/Timeline.tsx"
import { rowsOf } from "./timeline/timeline.logic.ts"
import { useMessages } from "./timeline/useMessages.ts"
import { words } from "./words/en.ts"

const SpacePanel = lazy(() => import("./panels/SpacePanel.tsx").then(({ SpacePanel }) => ({ default: SpacePanel })))
const ThreadPanel = lazy(() => import("./panels/ThreadPanel.tsx").then(({ ThreadPanel }) => ({ default: ThreadPanel })))
const SearchPanel = lazy(() => import("./panels/SearchPanel.tsx").then(({ SearchPanel }) => ({ default: SearchPanel })))

const HouseDecision = lazy(() =>
  import("../../cards/decision/HouseDecision.tsx").then(({ HouseDecision }) => ({ default: HouseDecision })),
)

/** Loaded with the first question: a space without questions does not need it. */
const DecisionInPlace = ({ decision }: { readonly decision: Decision }) => (
  <Suspense fallback={<div className="decision waiting" />}>
    <HouseDecision decision={decision} />
  </Suspense>
)

/** The space of the address, even after the user was removed from it: what was seen stays. */
const useSpace = (
  ref: string,
): { readonly space: Space | undefined; readonly isGone: boolean; readonly isPending: boolean } => {
  const { spaces } = useStart()
  const found = spaces.find(({ id, name }) => name === ref || id === ref)
  const [seen, see] = useState(found)
  if (found !== undefined && found !== seen) see(found)
  const kept = seen?.name === ref || seen?.id === ref ? seen : undefined
  // Lists leave archived spaces out: one that is opened by its address is read by itself.
  const isUnknown = found === undefined && kept === undefined
  const { isFetching } = useQuery({
    queryKey: ["space", ref],
    queryFn: async () => {
      const space = await house.spaces.get(ref)
      noteSpace(space)
      return space
    },
    enabled: isUnknown,
    retry: false,
  })
  return { space: found ?? kept, isGone: found === undefined, isPending: isUnknown && isFetching }
}

export interface SpaceScreenProps {
  /** Shown above the messages of the demo's first space. */
  readonly Head: ComponentType
  /** Shown first in its panel. */
  readonly About: ComponentType<{ readonly space: string }>
}

export const SpaceScreen = ({ About, Head }: SpaceScreenProps) => {
  const { message, space: ref } = useParams({ strict: false }) as { readonly space: string; readonly message?: string }
  const { isGone, isPending, space } = useSpace(ref)
  if (space === undefined)
    return (
      <>
        <Header title={ref} up="/spaces" />
        {isPending ? null : <EmptyPane>{common.nothingHere}</EmptyPane>}
      </>
    )
  return <OpenSpace key={space.id} space={space} isGone={isGone} thread={message} Head={Head} About={About} />
}

interface OpenSpaceProps extends SpaceScreenProps {
  readonly space: Space
  readonly isGone: boolean
  readonly thread: string | undefined
}

const titleOf = (space: Space, me: string): string =>
  space.kind === "dm" ? (space.members.find(({ id }) => id !== me)?.name ?? space.name) : space.name

const OpenSpace = ({ About, Head, isGone, space, thread }: OpenSpaceProps) => {
  const { decisions, house: facts, me } = useStart()
  const navigate = useNavigate()
  const { at, q } = useSearch({ strict: false }) as { readonly at?: number; readonly q?: string }
  const { data, error, isPending, jumpTo, more, refetch } = useMessages(space.id, at)
  const pending = useStore(outbox).get(space.id)
  const [panel, showPanel] = useState<boolean | "asked">(() => matchMedia("(min-width: 70rem)").matches)
  const atEnd = useRef(true)
  const title = titleOf(space, me.id)
  // Computed once, on arrival; the line of new messages stays until the user leaves.
  const [newFrom] = useState(() => (space.unread > 0 ? space.lastSeq - space.unread + 1 : undefined))

  useEffect(() => rememberSpace(space.name), [space.name])
  useEffect(() => {
    if (at !== undefined) void jumpTo(at)
    // oxlint-disable-next-line react/exhaustive-deps
  }, [at, space.id, data === undefined])

  const read = useCallback(() => {
    if (space.unread === 0 || !atEnd.current || document.visibilityState !== "visible") return
    void house.spaces.read(space.id, { seq: space.lastSeq }).catch(() => undefined)
  }, [space.id, space.lastSeq, space.unread])
  useEffect(() => {
    read()
    document.addEventListener("visibilitychange", read)
    return () => document.removeEventListener("visibilitychange", read)
  }, [read])

  const may = useMemo(
    () => (isGone ? noRights : rightsIn(space, me)),
    // oxlint-disable-next-line react/exhaustive-deps
    [isGone, space.kind, space.members, space.archivedAt, me],
  )
  const openThread = useCallback(
    (root: Message) =>
      void navigate({ to: "/s/$space/t/$message", params: { space: space.name, message: root.id }, search: {} }),
    [navigate, space.name],
  )
  const context = useMemo<RowContext>(
    () => ({
      space,
      me,
      names: space.members.map(({ name }) => name),
      may,
      openThread,
      decision: DecisionInPlace,
    }),
    // Not the space itself: it counts its messages, and rows would be drawn anew with each of them.
    // oxlint-disable-next-line react/exhaustive-deps
    [space.id, space.name, space.kind, space.members, me, may, openThread],
  )
  const here = useMemo(() => decisions.filter((one) => one.space === space.id), [decisions, space.id])
  const rows = useMemo(
    () =>
      rowsOf({
        messages: data?.items ?? [],
        decisions: data?.newer === true ? [] : here,
        pending: pending ?? [],
        newFrom,
        me: me.id,
      }),
    [data, here, pending, newFrom, me.id],
  )
  const agents = space.members.filter(({ kind }) => kind === "agent")
  const editLast = () => {
    const mine = rows.findLast(
      (row) => row.kind === "message" && row.message.author.id === me.id && row.message.deletedAt === null,
    )
    const row = document.querySelector<HTMLElement>(`[data-message="${mine?.key ?? ""}"]`)
    const edited = row?.querySelector<HTMLElement>("textarea")
    if (edited !== null && edited !== undefined) return edited.focus()
    row?.focus()
    // Its buttons exist only once it has the focus.
    requestAnimationFrame(() => row?.querySelector<HTMLElement>("[data-act=edit]")?.click())
  }
  const side = thread !== undefined ? "thread" : q !== undefined ? "search" : panel !== false ? "panel" : "none"
  const closeSide = () => void navigate({ to: "/s/$space", params: { space: space.name }, search: {} })
  return (
    <>
      <Header title={title} icon={spaceIcon(space.kind)} sub={space.topic} up="/spaces">
        <span className="faces wide-only" role="img" aria-label={words.membersCount(space.members.length)}>
          {space.members.slice(0, 5).map(({ id, kind, name }) => (
            <Avatar key={id} name={name} kind={kind} size="s" />
          ))}
        </span>
        <button
          type="button"
          className="button plain icon"
          aria-label={words.search}
          aria-pressed={side === "search"}
          onClick={() =>
            side === "search"
              ? closeSide()
              : void navigate({ to: "/s/$space", params: { space: space.name }, search: { q: " " } })
          }
        >
          <Icon name="search" small />
        </button>
        <button
          type="button"
          className="button plain icon"
          aria-label={words.about}
          aria-pressed={side === "panel"}
          onClick={() => {
            if (side === "thread" || side === "search") closeSide()
            showPanel(side === "panel" ? false : "asked")
          }}
        >
          <Icon name="panel-right" small />
        </button>
      </Header>
      <div className="split" data-side={side}>
        <div className="main">
          {facts.demo === space.id && !isGone ? (
            <Suspense fallback={null}>
              <Head />
            </Suspense>
          ) : null}
          {isPending ? (
            <LoadingPane lines={6} />
          ) : error !== null && data === undefined ? (
            <FaultPane error={error} again={() => void refetch()} />
          ) : rows.length === 0 ? (
            <EmptyPane>
              {words.empty} {agents[0] === undefined ? null : words.listens(agents[0].name)}
            </EmptyPane>
          ) : (
            <Timeline
              rows={rows}
              label={words.messagesIn(title)}
              context={context}
              more={more}
              at={at}
              isGone={isGone}
              onEnd={(end) => {
                atEnd.current = end
                if (end) read()
              }}
              toNewest={() => jumpTo(undefined)}
            />
          )}
          {!may.speak ? (
            <CannotWrite space={space} me={me.id} may={may} isGone={isGone} />
          ) : (
            <>
              <ActivityLine space={space} me={me.id} />
              <Composer
                key={space.id}
                space={space}
                draft={space.id}
                placeholder={words.writeTo(title)}
                submitLabel={words.send}
                onSubmit={(text) => post(space.id, text, null)}
                onUp={editLast}
                callsTools
                extra={
                  <Link
                    className="button plain icon"
                    to="/tools"
                    search={{ in: space.name }}
                    aria-label={words.callTool}
                    title={words.callTool}
                  >
                    <Icon name="wrench" small />
                  </Link>
                }
              />
            </>
          )}
        </div>
        <Suspense fallback={side === "none" ? null : <aside className="panel" />}>
          {side === "thread" ? <ThreadPanel root={thread!} space={space} context={context} close={closeSide} /> : null}
          {side === "search" ? <SearchPanel space={space} asked={q ?? ""} close={closeSide} /> : null}
          {side === "panel" ? (
            <SpacePanel
              asked={panel === "asked"}
              space={space}
              may={may}
              messages={data?.items ?? []}
              close={() => showPanel(false)}
            >
              {facts.demo === space.id ? <About space={space.name} /> : null}
            </SpacePanel>
          ) : null}
        </Suspense>
      </div>
    </>
  )
}
