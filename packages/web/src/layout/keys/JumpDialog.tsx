/** Ctrl K: go anywhere by typing a part of its name. */
import { useRouter } from "@tanstack/react-router"
import { type KeyboardEvent, useState } from "react"
import { useStart } from "../../feed/start.ts"
import { Icon } from "../../parts/icons/Icon.tsx"
import { closeModal, ModalBox } from "../../parts/press/ModalBox.tsx"
import { words } from "../../words/en.ts"
import { menuFor } from "../navigation/menu.ts"
import { spaceIcon } from "../navigation/sidebar.logic.ts"

interface Goal {
  readonly key: string
  readonly icon: string
  readonly name: string
  readonly go: () => void
}

const most = 12

export const JumpDialog = () => {
  const router = useRouter()
  const { me, spaces } = useStart()
  const [asked, ask] = useState("")
  const [at, point] = useState(0)
  const all: ReadonlyArray<Goal> = [
    ...spaces.map((space) => ({
      key: space.id,
      icon: spaceIcon(space.kind),
      name: space.kind === "dm" ? (space.members.find(({ id }) => id !== me.id)?.name ?? space.name) : space.name,
      go: () => void router.navigate({ to: "/s/$space", params: { space: space.name } }),
    })),
    { key: "decisions", icon: "inbox", name: words.decisions, go: () => void router.navigate({ to: "/decisions" }) },
    ...menuFor(me).map(({ icon, name, to }) => ({ key: to, icon, name, go: () => void router.navigate({ to }) })),
  ]
  const named = all.filter(({ name }) => name.toLowerCase().includes(asked.trim().toLowerCase())).slice(0, most)
  const everywhere: Goal = {
    key: "everywhere",
    icon: "search",
    name: words.searchFor(asked.trim()),
    go: () => void router.navigate({ to: "/search", search: { q: asked.trim() } }),
  }
  const found = asked.trim() === "" ? named : [...named, everywhere]
  const choose = (goal: Goal | undefined) => {
    if (goal === undefined) return
    closeModal()
    goal.go()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      point((old) => (old + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(1, found.length))
    }
    if (event.key === "Enter" && !event.nativeEvent.isComposing) choose(found[at])
  }
  return (
    <ModalBox name="jump" title={words.jump} className="jump-box" isTitleHidden>
      <div className="search">
        <Icon name="search" small />
        <input
          role="combobox"
          // The first key after Ctrl K is written here.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          aria-expanded="true"
          aria-controls="jump-list"
          aria-activedescendant={found[at] === undefined ? undefined : `jump-${found[at].key}`}
          aria-label={words.jump}
          placeholder={words.jump}
          value={asked}
          onChange={(event) => {
            ask(event.target.value)
            point(0)
          }}
          onKeyDown={onKey}
        />
      </div>
      <ul id="jump-list" role="listbox" aria-label={words.goTo}>
        {found.map((goal, place) => (
          <li
            key={goal.key}
            id={`jump-${goal.key}`}
            role="option"
            aria-selected={place === at}
            onPointerMove={() => point(place)}
            onClick={() => choose(goal)}
            onKeyDown={onKey}
          >
            <Icon name={goal.icon} />
            <span className="cut">{goal.name}</span>
          </li>
        ))}
      </ul>
    </ModalBox>
  )
}
