import { Link, useLocation, useRouter } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { isMine } from "../feed/myDecisions.logic.ts"
import { useStart } from "../feed/start.ts"
import { Icon } from "../parts/icons/Icon.tsx"
import { words } from "../words/en.ts"
import { helpPageOf } from "./helpPage.logic.ts"

export interface HeaderProps {
  readonly title: string
  readonly icon?: string
  readonly sub?: ReactNode
  readonly children?: ReactNode
  /** Where the back arrow of a phone leads. */
  readonly up?: string
}

let came = false

/** The head of a screen. After navigation, the focus starts at its title. */
export const Header = ({ children, icon, sub, title, up }: HeaderProps) => {
  const head = useRef<HTMLHeadingElement>(null)
  const router = useRouter()
  const guide = helpPageOf(useLocation().pathname)
  const { decisions, me } = useStart()
  const mine = decisions.filter((one) => isMine(one, me.id)).length
  useEffect(() => {
    if (came) head.current?.focus({ preventScroll: true })
    came = true
  }, [title])
  useEffect(() => {
    document.title = words.title(mine, title)
  }, [mine, title])
  return (
    <header className="bar">
      {up === undefined ? null : (
        <button
          type="button"
          className="button plain icon phone-only"
          aria-label={words.back}
          onClick={() => void router.navigate({ to: up })}
        >
          <Icon name="chevron-left" />
        </button>
      )}
      <h1 ref={head} tabIndex={-1}>
        {icon === undefined ? null : <Icon name={icon} />}
        {title}
      </h1>
      {sub === undefined || sub === null ? null : <span className="faint small cut wide-only">{sub}</span>}
      <span className="push line">
        {children}
        {guide === undefined ? null : (
          <Link
            className="button plain icon wide-only"
            to="/help/$page"
            params={{ page: guide }}
            aria-label={words.help}
            title={words.help}
          >
            <Icon name="circle-help" />
          </Link>
        )}
      </span>
    </header>
  )
}
