/** All spaces, and a form to open one. The start screen on a phone. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { noteSpace } from "../../feed/events/apply.ts"
import { house } from "../../feed/house.ts"
import { usePeople, useStart } from "../../feed/start.ts"
import { Header } from "../../layout/Header.tsx"
import { sidebarLists, spaceIcon } from "../../layout/navigation/sidebar.logic.ts"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { InputField, SelectField } from "../../parts/form/Field.tsx"
import { Icon } from "../../parts/icons/Icon.tsx"
import { EmptyPane, FaultPane } from "../../parts/panes/Pane.tsx"
import { words as common } from "../../words/en.ts"
import { words } from "./words/en.ts"

const kinds = ["public", "private", "dm"] as const

const NewSpace = () => {
  const navigate = useNavigate()
  const people = usePeople()
  const { me } = useStart()
  const [fault, fail] = useState<unknown>()
  const [kind, choose] = useState<(typeof kinds)[number]>("public")
  const open = async (form: FormData) => {
    const given = (value: FormDataEntryValue | null) => (typeof value === "string" ? value.trim() : "")
    const text = (name: string) => given(form.get(name))
    const members = form.getAll("member").map(given)
    const name = kind === "dm" ? dmName(me.name, people.find(({ id }) => id === members[0])?.name ?? "") : text("name")
    try {
      const made = await house.spaces.add({
        name,
        kind,
        ...(members.length === 0 ? {} : { members }),
        ...(text("topic") === "" ? {} : { topic: text("topic") }),
      })
      noteSpace(made)
      await navigate({ to: "/s/$space", params: { space: made.name } })
    } catch (error) {
      fail(error)
    }
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void open(new FormData(event.currentTarget))
  }
  return (
    <form className="card" onSubmit={onSubmit}>
      <header>
        <h2>{words.newSpace}</h2>
      </header>
      <div className="in stack">
        {fault === undefined ? null : <FaultPane error={fault} />}
        <fieldset className="field">
          <legend className="name">{words.kind}</legend>
          {kinds.map((one) => (
            <label key={one} className="line">
              <input type="radio" name="kind" checked={kind === one} onChange={() => choose(one)} />
              {words.kinds[one]}
            </label>
          ))}
        </fieldset>
        {kind === "dm" ? null : (
          <>
            <InputField id="space-name" label={words.name} hint={words.nameHint} name="name" required maxLength={63} />
            <InputField id="space-topic" label={words.topic} hint={words.optional} name="topic" maxLength={1000} />
          </>
        )}
        <SelectField
          id="space-members"
          label={words.withWhom}
          hint={kind === "dm" ? undefined : words.optional}
          name="member"
          multiple={kind !== "dm"}
          size={kind === "dm" ? 1 : Math.min(6, Math.max(2, people.length - 1))}
          required={kind === "dm"}
        >
          {people
            .filter(({ id, retiredAt }) => id !== me.id && retiredAt === null)
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </SelectField>
      </div>
      <footer>
        <button type="submit" className="button main-act">
          {words.open}
        </button>
      </footer>
    </form>
  )
}

/** Names of spaces are plain: other characters of a person's name are left out. */
const dmName = (a: string, b: string): string =>
  [a, b]
    .map((name) => name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-"))
    .toSorted()
    .join("-")
    .slice(0, 63)

export const SpacesScreen = () => {
  const { me, spaces } = useStart()
  const { open } = useSearch({ from: "/house/spaces" })
  const navigate = useNavigate()
  const lists = sidebarLists(spaces, me.id)
  const all = [...lists.spaces.map((space) => ({ space, other: undefined })), ...lists.pairs]
  return (
    <>
      <Header title={words.spaces}>
        <button
          type="button"
          className="button"
          aria-expanded={open === true}
          onClick={() => void navigate({ to: "/spaces", search: open === true ? {} : { open: true } })}
        >
          <Icon name="plus" small />
          {words.newSpace}
        </button>
      </Header>
      <div className="scroll grow">
        <div className="page narrow stack wide-gap">
          {open === true ? <NewSpace /> : null}
          {all.length === 0 ? <EmptyPane>{words.noSpaces}</EmptyPane> : null}
          <ul className="rows">
            {all.map(({ other, space }) => (
              <li key={space.id}>
                <Link className="pick" to="/s/$space" params={{ space: space.name }}>
                  {other === undefined ? (
                    <Icon name={spaceIcon(space.kind)} />
                  ) : (
                    <Avatar name={other.name} kind={other.kind} size="s" />
                  )}
                  <b>{other?.name ?? space.name}</b>
                  {space.unread === 0 ? (
                    <span />
                  ) : (
                    <span className="count">
                      <span aria-hidden="true">{space.unread}</span>
                      <span className="vh">{common.unread(space.unread)}</span>
                    </span>
                  )}
                  <span className="sub cut">
                    {space.topic ??
                      (space.kind === "dm" ? words.kinds["dm"] : words.membersCount(space.members.length))}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </>
  )
}
