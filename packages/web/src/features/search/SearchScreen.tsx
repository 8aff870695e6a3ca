/** A search over everything the user may see: messages, memory, tools, people and spaces in one list. */
import "../../parts/panes/Pick.css"
import { Link, useNavigate, useSearch as useAddress } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { useNames, useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane, LoadingPane } from "../../parts/panes/Pane.tsx"
import { AgoTime } from "../../parts/figures/Time.tsx"
import { plainOf } from "./search.logic.ts"
import { useSearch } from "./useSearch.ts"
import { words } from "./words/en.ts"

const Part = ({ children, title }: { readonly title: string; readonly children: ReadonlyArray<ReactNode> }) =>
  children.length === 0 ? null : (
    <section className="stack">
      <h2 className="label">{title}</h2>
      <ul className="rows finds">{children}</ul>
    </section>
  )

const Finds = ({ q }: { readonly q: string }) => {
  const { spaces } = useStart()
  const nameOf = useNames()
  const found = useSearch(q)
  const count =
    found.messages.length + found.memory.length + found.tools.length + found.people.length + found.spaces.length
  const nameOfSpace = (id: string) => spaces.find((one) => one.id === id)?.name ?? id
  return (
    <>
      {found.error === null ? null : <FaultPane error={found.error} again={found.again} />}
      {found.pending ? <LoadingPane /> : null}
      {count > 0 || found.pending || found.error !== null ? null : <EmptyPane>{words.nothing(q)}</EmptyPane>}
      <Part title={words.spaces}>
        {found.spaces.map(({ more, name }) => (
          <li key={name}>
            <Link className="pick" to="/s/$space" params={{ space: name }}>
              <Icon name="hash" />
              <b className="cut">{name}</b>
              <span />
              <span className="sub cut">{more}</span>
            </Link>
          </li>
        ))}
      </Part>
      <Part title={words.messages}>
        {found.messages.map(({ author, call, createdAt, id, seq, space, text }) => (
          <li key={id}>
            <Link className="pick" to="/s/$space" params={{ space: nameOfSpace(space) }} search={{ at: seq }}>
              <Avatar name={author.name} kind={author.kind} size="s" />
              <b className="cut">
                {author.name} <span className="faint">{words.inSpace(nameOfSpace(space))}</span>
              </b>
              <AgoTime at={createdAt} />
              <span className="sub clamp">
                {text === "" && call !== null ? words.called(call.tool) : plainOf(text)}
              </span>
            </Link>
          </li>
        ))}
      </Part>
      <Part title={words.memory}>
        {found.memory.map(({ content, id, key, owner, updatedAt }) => (
          <li key={id}>
            <Link className="pick" to="/memory/$id" params={{ id }}>
              <Icon name="book-open" />
              <b className="cut">
                {key} <span className="faint">{words.from(nameOf(owner))}</span>
              </b>
              <AgoTime at={updatedAt} />
              <span className="sub clamp">{content}</span>
            </Link>
          </li>
        ))}
      </Part>
      <Part title={words.tools}>
        {found.tools.map(({ more, name }) => (
          <li key={name}>
            <Link className="pick" to="/tools/$tool" params={{ tool: name }}>
              <Icon name="wrench" />
              <b className="mono cut">{name}</b>
              <span />
              <span className="sub cut">{more}</span>
            </Link>
          </li>
        ))}
      </Part>
      <Part title={words.people}>
        {found.people.map(({ id, kind, name, roles }) => (
          <li key={id}>
            <Link className="pick" to="/people" search={{ who: name }}>
              <Avatar name={name} kind={kind} size="s" />
              <b className="cut">{name}</b>
              <span />
              <span className="sub cut">{roles.join(", ")}</span>
            </Link>
          </li>
        ))}
      </Part>
    </>
  )
}

export const SearchScreen = () => {
  const { q = "" } = useAddress({ from: "/house/search" })
  const navigate = useNavigate()
  const [text, write] = useState(q)
  return (
    <>
      <Header title={words.title} up="/house" />
      <div className="scroll grow">
        <div className="page narrow stack wide-gap">
          <form
            role="search"
            onSubmit={(event) => {
              event.preventDefault()
              void navigate({ to: "/search", search: text.trim() === "" ? {} : { q: text.trim() } })
            }}
          >
            <span className="search">
              <Icon name="search" small />
              <input
                type="search"
                aria-label={words.ask}
                placeholder={words.ask}
                maxLength={500}
                value={text}
                onChange={({ target }) => write(target.value)}
                // Whoever comes here types next.
                // oxlint-disable-next-line jsx-a11y/no-autofocus
                autoFocus
              />
            </span>
          </form>
          {q === "" ? <EmptyPane>{words.begin}</EmptyPane> : <Finds q={q} />}
        </div>
      </div>
    </>
  )
}
