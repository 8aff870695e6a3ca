import { type DiffLine, diffOf, sideBySide } from "./diff.logic.ts"

const Line = ({ line }: { readonly line: DiffLine | undefined }) => (
  <div className={line === undefined || line.kind === "same" ? undefined : line.kind}>
    <span>
      {line?.parts.map((part, place) =>
        !part.marked ? (
          part.text
        ) : line.kind === "del" ? (
          <del key={place}>{part.text}</del>
        ) : (
          <ins key={place}>{part.text}</ins>
        ),
      )}
    </span>
  </div>
)

export interface DiffProps {
  readonly before: string
  readonly after: string
  readonly label: string
  /** In two columns, if requested and there is room. */
  readonly side?: boolean
}

/** What changed, line by line; plus and minus are text, not colour alone. */
export const Diff = ({ after, before, label, side = false }: DiffProps) => {
  const lines = diffOf(before, after)
  return (
    <div className={side ? "diff side" : "diff"} role="group" aria-label={label}>
      {side
        ? sideBySide(lines).flatMap(({ left, right }, at) => [
            <Line key={`${at}-left`} line={left} />,
            <Line key={`${at}-right`} line={right} />,
          ])
        : lines.map((line, at) => <Line key={at} line={line} />)}
    </div>
  )
}
