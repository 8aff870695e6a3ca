/** A message and its replies. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { keys } from "../../../feed/cache.ts"
import { house } from "../../../feed/house.ts"
import { useStore } from "../../../feed/store.ts"
import type { Message, Space } from "../../../feed/types.ts"
import { Icon } from "../../../parts/icons/Icon.tsx"
import { FaultPane, LoadingPane } from "../../../parts/panes/Pane.tsx"
import { useOverlay } from "../../../parts/press/overlays.ts"
import { Composer } from "../composer/Composer.tsx"
import { MessageView } from "../timeline/MessageView.tsx"
import { outbox, post } from "../composer/outbox.ts"
import type { RowContext } from "../timeline/Article.tsx"
import { RowView } from "../timeline/RowView.tsx"
import { rootsOf } from "../timeline/timeline.logic.ts"
import { words } from "../words/en.ts"

export interface ThreadPanelProps {
  readonly root: string
  readonly space: Space
  readonly context: RowContext
  readonly close: () => void
}

const limit = 100
const maxPages = 10

const load = async (root: string): Promise<ReadonlyArray<Message>> => {
  const head = await house.messages.get(root)
  const all: Array<Message> = [head]
  for (let page = 0; page < maxPages; page++) {
    const { items, next } = await house.spaces.messages(head.space, { limit, after: head.seq + page * limit })
    all.push(...items.filter(({ seq }) => seq > all.at(-1)!.seq))
    if (next === null) break
  }
  const roots = rootsOf(all)
  return all.filter(({ id }) => id === root || roots.get(id) === root)
}

export const ThreadPanel = ({ close, context, root, space }: ThreadPanelProps) => {
  const overlay = useOverlay<HTMLElement>("thread-panel", close)
  const { data, error, isPending, refetch } = useQuery({ queryKey: keys.thread(root), queryFn: () => load(root) })
  const box = useStore(outbox).get(space.id)
  const pending = (box ?? []).filter(({ replyTo }) => replyTo === root)
  const inThread = useMemo<RowContext>(() => ({ ...context, openThread: () => undefined }), [context])
  return (
    <aside {...overlay} tabIndex={-1} className="panel scroll sheet thread" aria-label={words.thread}>
      <header className="line">
        <h2 className="label">{words.thread}</h2>
        <button type="button" className="button plain icon tiny push" aria-label={words.closeThread} onClick={close}>
          <Icon name="x" small />
        </button>
      </header>
      {isPending ? <LoadingPane /> : null}
      {error === null ? null : <FaultPane error={error} again={() => void refetch()} />}
      <div>
        {data?.map((message, at) => (
          <MessageView
            key={message.id}
            message={message}
            head={at === 0 || data[at - 1]!.author.id !== message.author.id}
            replies={0}
            context={inThread}
          />
        ))}
        {pending.map((one) => (
          <RowView key={one.key} row={{ kind: "pending", key: one.key, pending: one, head: true }} context={inThread} />
        ))}
      </div>
      {context.may.speak ? (
        <Composer
          key={root}
          space={space}
          draft={root}
          placeholder={words.replyHere}
          submitLabel={words.send}
          onSubmit={(text) => post(space.id, text, root)}
        />
      ) : null}
    </aside>
  )
}
