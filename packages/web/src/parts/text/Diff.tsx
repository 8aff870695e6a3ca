import { diffOf } from "./diff.logic.ts"

/** What changed, line by line; plus and minus stand there as text, not as colour alone. */
export const Diff = ({
  after,
  before,
  label,
}: {
  readonly before: string
  readonly after: string
  readonly label: string
}) => (
  <div className="diff" role="group" aria-label={label}>
    {diffOf(before, after).map((line, at) => (
      <div key={at} className={line.kind === "same" ? undefined : line.kind}>
        <span>
          {line.parts.map((part, place) =>
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
    ))}
  </div>
)
