import type { DiffTextLine } from "@stoa/contract"

/** A diff that somebody else made, line by line; plus and minus are text, not colour alone. */
export const DiffText = ({ label, lines }: { readonly lines: ReadonlyArray<DiffTextLine>; readonly label: string }) => (
  // A person scrolls it with the keyboard, too.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div className="diff exact" role="group" aria-label={label} tabIndex={0}>
    {lines.map(({ kind, text }, at) => (
      <div key={at} className={kind === "same" ? undefined : kind}>
        <span>{kind === "head" ? text : text.slice(1)}</span>
      </div>
    ))}
  </div>
)
