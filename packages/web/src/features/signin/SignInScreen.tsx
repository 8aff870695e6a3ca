/** Signing in: with the printed link, or with a pasted token. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { type FormEvent, useEffect, useEffectEvent, useState } from "react"
import { cache } from "../../feed/cache.ts"
import { bearerOf, house, isRefusal } from "../../feed/house.ts"
import { Copy } from "../../parts/text/Copy.tsx"
import { Logo } from "../../parts/icons/Logo.tsx"
import { words as common } from "../../words/en.ts"
import { linkAsks, safeNext } from "./signInLink.logic.ts"
import { offeredToken } from "./signInLink.ts"
import { words } from "./words/en.ts"

interface Choice {
  readonly here: string
  readonly there: string
  readonly token: string
}

const said = (error: unknown): string =>
  isRefusal(error, 401) ? words.wrong : error instanceof Error ? error.message : String(error)

export const SignInScreen = () => {
  const navigate = useNavigate()
  const { next } = useSearch({ from: "/door" })
  const [trouble, tell] = useState("")
  const [busy, work] = useState(false)
  const [choice, offer] = useState<Choice>()

  const enter = async (token: string) => {
    work(true)
    tell("")
    try {
      await house.session.open({ token })
      cache.clear()
      await navigate({ to: safeNext(next), replace: true })
    } catch (error) {
      tell(said(error))
      work(false)
    }
  }

  const byLink = useEffectEvent(async (token: string) => {
    const [here, there] = await Promise.all([
      house.session.look().then(
        ({ principal }) => principal ?? undefined,
        () => undefined,
      ),
      bearerOf(token).catch(() => undefined),
    ])
    if (there === undefined) return tell(words.wrong)
    if (linkAsks(here?.id, there.id) === "choose") return offer({ here: here!.name, there: there.name, token })
    return enter(token)
  })

  useEffect(() => {
    document.title = `${words.title} · ${common.product}`
    const token = offeredToken()
    // Nothing is set before the house has answered.
    // oxlint-disable-next-line react/set-state-in-effect
    if (token !== undefined) void byLink(token)
  }, [])

  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = new FormData(event.currentTarget).get("token")
    if (typeof token === "string" && token.trim() !== "") void enter(token.trim())
  }

  return (
    <main className="signin" id="main">
      <div className="wordmark">
        <Logo />
        <b>{common.product}</b>
      </div>
      {choice === undefined ? (
        <section className="card" aria-labelledby="signin-title">
          <div className="in stack">
            <h1 id="signin-title">{words.title}</h1>
            {trouble === "" ? null : (
              <p className="note" data-tone="bad" role="alert">
                {trouble}
              </p>
            )}
            <p className="soft">{words.how}</p>
            <div className="code-block">
              <pre className="code">{words.command}</pre>
              <Copy text={words.command} />
            </div>
            <form className="stack" onSubmit={onSubmit}>
              <div className="field">
                <label htmlFor="token">{words.paste}</label>
                <input
                  className="input"
                  id="token"
                  name="token"
                  type="password"
                  autoComplete="off"
                  spellCheck={false}
                  required
                  aria-describedby="token-hint"
                />
                <span className="hint" id="token-hint">
                  {words.hint}
                </span>
              </div>
              <button type="submit" className="button main-act" disabled={busy}>
                {busy ? words.entering : words.enter}
              </button>
            </form>
          </div>
        </section>
      ) : (
        <section className="card" role="alertdialog" aria-labelledby="which-title" aria-describedby="which-words">
          <div className="in stack">
            <h1 id="which-title">{words.otherTitle}</h1>
            <p id="which-words">{words.other(choice.here, choice.there)}</p>
            <div className="line wrap">
              <button type="button" className="button main-act" onClick={() => void navigate({ to: "/" })}>
                {words.stay(choice.here)}
              </button>
              <button type="button" className="button" onClick={() => void enter(choice.token)}>
                {words.become(choice.there)}
              </button>
            </div>
          </div>
        </section>
      )}
    </main>
  )
}
