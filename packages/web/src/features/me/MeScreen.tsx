/** The user's own principal, how the page looks, and signing out. */
import { type ComponentType, Suspense } from "react"
import { tellSignedOut } from "../../feed/events/Feed.ts"
import { house } from "../../feed/house.ts"
import { forget, useStart } from "../../feed/start.ts"
import { useStore } from "../../feed/store.ts"
import type { Principal } from "../../feed/types.ts"
import { Header } from "../../layout/Header.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { LoadingPane } from "../../parts/panes/Pane.tsx"
import { choose, settings, type Theme } from "../../parts/settings.ts"
import { words } from "./words/en.ts"

const themes: ReadonlyArray<readonly [Theme, string]> = [
  ["system", words.system],
  ["light", words.light],
  ["dark", words.dark],
]

const leave = async () => {
  await house.session.close()
  tellSignedOut()
  await forget()
}

export interface MeScreenProps {
  /** Features do not import each other: tokens come from People. */
  readonly Tokens: ComponentType<{ readonly who: Principal }>
}

export const MeScreen = ({ Tokens }: MeScreenProps) => {
  const { me } = useStart()
  const chosen = useStore(settings)
  return (
    <>
      <Header title={words.me} up="/house" />
      <div className="scroll grow">
        <div className="page narrow stack wide-gap">
          <section className="line">
            <Avatar name={me.name} kind={me.kind} size="l" />
            <div>
              <p className="strong">{me.name}</p>
              <p className="faint small">{me.roles.join(", ") || words.none}</p>
            </div>
            <button type="button" className="button push" onClick={() => void leave()}>
              {words.signOut}
            </button>
          </section>
          <fieldset className="stack">
            <legend className="label me-legend">{words.theme}</legend>
            {themes.map(([theme, name]) => (
              <label key={theme} className="line">
                <input type="radio" name="theme" checked={chosen.theme === theme} onChange={() => choose({ theme })} />
                {name}
              </label>
            ))}
          </fieldset>
          <fieldset className="stack">
            <legend className="label me-legend">{words.keys}</legend>
            <label className="line">
              <input
                type="checkbox"
                checked={chosen.letters}
                onChange={(event) => choose({ letters: event.target.checked })}
              />
              {words.letters}
            </label>
            <label className="line">
              <input
                type="checkbox"
                checked={chosen.enterSends}
                onChange={(event) => choose({ enterSends: event.target.checked })}
              />
              {words.enterSends}
            </label>
          </fieldset>
          <section className="stack">
            <h2 className="label">{words.signingIn}</h2>
            <Suspense fallback={<LoadingPane />}>
              <Tokens who={me} />
            </Suspense>
          </section>
          <dl className="kv">
            <dt>{words.kind}</dt>
            <dd>{me.kind}</dd>
            <dt>{words.id}</dt>
            <dd className="mono">{me.id}</dd>
          </dl>
          <p>
            <a href="/docs">{words.docs}</a>
          </p>
        </div>
      </div>
    </>
  )
}
