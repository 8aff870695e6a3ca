import type { Token, Tokens } from "marked"
import { Fragment, memo, type ReactNode } from "react"
import { Copy } from "./Copy.tsx"
import { safeHref } from "./address.logic.ts"
import { splitAtMentions, tokensOf } from "./markdown.logic.ts"

export interface TextProps {
  readonly text: string
  /** The names a mention may mean. */
  readonly names: ReadonlyArray<string>
  readonly me: string
  readonly isWhole?: boolean
}

type MentionContext = Pick<TextProps, "me" | "names">

const withMentions = (text: string, { me, names }: MentionContext): ReactNode =>
  splitAtMentions(text, names).map((piece, at) =>
    piece.mention === undefined ? (
      <Fragment key={at}>{piece.text}</Fragment>
    ) : (
      <span key={at} className={piece.mention === me ? "mention you" : "mention"}>
        {piece.text}
      </span>
    ),
  )

const anchor = (href: string, content: ReactNode): ReactNode => {
  const safe = safeHref(href)
  return safe === undefined ? (
    content
  ) : (
    <a href={safe} target={safe.startsWith("/") ? undefined : "_blank"} rel="noopener noreferrer">
      {content}
    </a>
  )
}

const inline = (tokens: ReadonlyArray<Token> | undefined, context: MentionContext): ReactNode =>
  tokens?.map((token, at) => <Fragment key={at}>{one(token, context)}</Fragment>)

const one = (token: Token, context: MentionContext): ReactNode => {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, context)}</strong>
    case "em":
      return <em>{inline(token.tokens, context)}</em>
    case "del":
      return <del>{inline(token.tokens, context)}</del>
    case "codespan":
      return <code>{token["text"]}</code>
    case "br":
      return <br />
    case "link":
      return anchor(token["href"], inline(token.tokens, context))
    // Nothing is fetched unrequested: an image is a link until it is clicked.
    case "image":
      return anchor(token["href"], token["text"] || token["href"])
    case "text":
      return token.tokens === undefined ? withMentions(token["text"], context) : inline(token.tokens, context)
    case "escape":
      return token["text"]
    default:
      return withMentions(token.raw, context)
  }
}

const table = (token: Tokens.Table, context: MentionContext): ReactNode => (
  <div className="scroll-x" tabIndex={0} role="group" aria-label="Table">
    <table>
      <thead>
        <tr>
          {token.header.map((cell, at) => (
            <th key={at}>{inline(cell.tokens, context)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, place) => (
              <td key={place} className={token.align[place] === "right" ? "r" : undefined}>
                {inline(cell.tokens, context)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const list = (token: Tokens.List, context: MentionContext): ReactNode => {
  const items = token.items.map((item, at) => <li key={at}>{blocks(item.tokens, context)}</li>)
  return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
}

const block = (token: Token, context: MentionContext): ReactNode => {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      return (
        <p>
          <strong>{inline(token.tokens, context)}</strong>
        </p>
      )
    case "code":
      return (
        <div className="code-block">
          <pre className="code" tabIndex={0}>
            {token["text"]}
          </pre>
          <Copy text={token["text"]} />
        </div>
      )
    case "blockquote":
      return <blockquote>{blocks(token.tokens, context)}</blockquote>
    case "list":
      return list(token as Tokens.List, context)
    case "table":
      return table(token as Tokens.Table, context)
    case "hr":
      return <hr />
    case "text":
      return token.tokens === undefined ? withMentions(token["text"], context) : inline(token.tokens, context)
    case "paragraph":
      return <p>{inline(token.tokens, context)}</p>
    default:
      return <p>{withMentions(token.raw, context)}</p>
  }
}

const blocks = (tokens: ReadonlyArray<Token> | undefined, context: MentionContext): ReactNode =>
  tokens?.map((token, at) => <Fragment key={at}>{block(token, context)}</Fragment>)

export const Text = memo(({ isWhole = true, me, names, text }: TextProps) => (
  <div className="say" dir="auto">
    {blocks(tokensOf(text, isWhole), { me, names })}
  </div>
))
