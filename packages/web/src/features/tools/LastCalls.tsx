/** The last calls of a tool, by everybody whose calls the user may see; each can be opened, and has an address. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CallDetail } from "../../cards/CallDetail.tsx"
import { endOf } from "../../cards/call.logic.ts"
import { house } from "../../feed/house.ts"
import { useNames, useStart } from "../../feed/start.ts"
import type { MessageCall } from "../../feed/types.ts"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { durationOf } from "../../parts/figures/time.logic.ts"
import { FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { HorizontalScroll } from "../../parts/panes/HorizontalScroll.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { messageCallOf, type Call } from "./lastCalls.logic.ts"
import { words } from "./words/en.ts"

const atOnce = 10

const useCallsOf = (tool: string) =>
  useInfiniteQuery({
    queryKey: ["calls", "of", tool],
    queryFn: ({ pageParam }) =>
      house.calls.list({
        tool,
        order: "newest",
        limit: atOnce,
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  })

const Place = ({ call }: { readonly call: Call }) => {
  const { spaces } = useStart()
  const place = spaces.find(({ id }) => id === call.space)
  return place === undefined ? null : (
    <p className="small">
      <Link to="/s/$space" params={{ space: place.name }}>
        {words.inSpace(place.name)}
      </Link>
    </p>
  )
}

interface RowProps {
  readonly call: Call
  readonly open: boolean
}

const Row = ({ call, open }: RowProps) => {
  const nameOf = useNames()
  const { decisions } = useStart()
  const shown: MessageCall = messageCallOf(call)
  const { durationMs, ...untimed } = shown
  const end = endOf(
    untimed,
    decisions.some((one) => one.call?.id === call.id),
  )
  const who = nameOf(call.principal)
  return (
    <>
      <tr aria-selected={open || undefined}>
        <td>
          <Link
            to="."
            search={((old: Record<string, unknown>) => ({ ...old, call: open ? undefined : call.id })) as never}
            replace
            className="line call-end"
            aria-expanded={open}
            aria-label={words.openCall(end.words, who)}
          >
            {end.icon === undefined ? <span className="ring" /> : <Icon name={end.icon} small />}
            <span className="cut">{end.words}</span>
          </Link>
        </td>
        <td>{who}</td>
        <td className="r num">{durationMs === undefined ? "" : durationOf(durationMs)}</td>
        <td className="r num">
          <AgoTime at={call.createdAt} />
        </td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={4} className="call">
            <CallDetail call={shown} by={who} space={call.space ?? ""} />
            <Place call={call} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

export interface LastCallsProps {
  readonly tool: string
  /** The id of the opened one. */
  readonly opened: string | undefined
}

export const LastCalls = ({ opened, tool }: LastCallsProps) => {
  const { me } = useStart()
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, isPending, refetch } = useCallsOf(tool)
  const calls = data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <section className="stack" aria-label={words.lastCalls}>
      <h3 className="label">{words.lastCalls}</h3>
      {me.roles.includes("admin") ? null : <p className="faint small">{words.onlyYours}</p>}
      {isPending ? <LoadingPane lines={3} /> : null}
      {error === null ? null : <FaultPane error={error} again={() => void refetch()} />}
      {data !== undefined && calls.length === 0 ? <p className="faint">{words.noCalls}</p> : null}
      {calls.length === 0 ? null : (
        <HorizontalScroll label={words.callRows}>
          <table className="table">
            <thead>
              <tr>
                <th>{words.ended}</th>
                <th>{words.by}</th>
                <th className="r">{words.took}</th>
                <th className="r">{words.made}</th>
              </tr>
            </thead>
            <tbody>
              {calls.map((one) => (
                <Row key={one.id} call={one} open={one.id === opened} />
              ))}
            </tbody>
          </table>
        </HorizontalScroll>
      )}
      {hasNextPage ? (
        <p>
          <button
            type="button"
            className="button tiny"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {words.olderCalls}
          </button>
        </p>
      ) : null}
    </section>
  )
}
