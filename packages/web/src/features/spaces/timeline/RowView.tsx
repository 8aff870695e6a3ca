import { memo } from "react"
import { CallLines } from "../../../cards/CallLines.tsx"
import { now } from "../../../feed/clock.ts"
import { Text } from "../../../parts/text/Text.tsx"
import { dayOf } from "../../../parts/figures/time.logic.ts"
import { Article, type RowContext } from "./Article.tsx"
import { MessageView } from "./MessageView.tsx"
import { giveUp, postAgain } from "../composer/outbox.ts"
import { type Row, sameRow } from "./timeline.logic.ts"
import { words } from "../words/en.ts"

const PendingMessage = ({
  context,
  row,
}: {
  readonly row: Extract<Row, { readonly kind: "pending" }>
  readonly context: RowContext
}) => {
  const { pending } = row
  const { me, names, space } = context
  return (
    <Article author={me} at={pending.at} head={row.head}>
      <div className="unsent">
        <Text text={pending.text} names={names} me={me.name} />
      </div>
      {pending.error === undefined ? (
        <span className="vh">{words.sending}</span>
      ) : (
        <p className="small line wrap unsent-note" role="alert">
          <span className="bad">
            {words.notSent} {pending.error.message}
          </span>
          <button type="button" className="button tiny" onClick={() => void postAgain(space.id, pending)}>
            {words.tryAgain}
          </button>
          <button type="button" className="button tiny plain" onClick={() => giveUp(space.id, pending.key)}>
            {words.drop}
          </button>
        </p>
      )}
    </Article>
  )
}

interface RowProps {
  readonly row: Row
  readonly context: RowContext
}

const isSame = (one: RowProps, other: RowProps) => one.context === other.context && sameRow(one.row, other.row)

export const RowView = memo(({ context, row }: RowProps) => {
  switch (row.kind) {
    case "day":
      return <div className="day">{dayOf(row.at, now(), words)}</div>
    case "new":
      return <div className="day new">{words.newLine}</div>
    case "message":
      return <MessageView message={row.message} head={row.head} replies={row.replies} context={context} />
    case "calls":
      return (
        <Article author={row.messages[0]!.author} at={row.messages[0]!.createdAt} head={row.head}>
          <CallLines messages={row.messages} />
        </Article>
      )
    case "decision": {
      const author = row.message?.author ?? { name: row.decision.asker.name, kind: row.decision.asker.kind }
      return (
        <Article author={author} at={row.message?.createdAt ?? row.decision.createdAt} head={row.head}>
          <context.decision decision={row.decision} />
        </Article>
      )
    }
    case "pending":
      return <PendingMessage row={row} context={context} />
  }
}, isSame)
