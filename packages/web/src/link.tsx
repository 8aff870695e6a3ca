/** The page behind a signed link: one decision, one answer. The house's version without a script is there already. */
// edge: asks the house by the address it was opened with, and by nothing else.
import "./tokens.css"
import "./parts.css"
import "./page.css"
import { StoaError } from "@stoa/sdk"
import { createRoot } from "react-dom/client"
import { LinkScreen, type LinkAnswer } from "./features/link/LinkScreen.tsx"
import { guardPresses } from "./parts/press/press.ts"

const asked = async (init: RequestInit): Promise<LinkAnswer> => {
  const answer = await fetch(location.pathname, {
    ...init,
    headers: { accept: "application/json", "content-type": "application/json" },
  })
  const body = (await answer.json()) as LinkAnswer & Readonly<Record<string, unknown>>
  if (!answer.ok) throw new StoaError(answer.status, body)
  return body
}

guardPresses()

const begin = async () => {
  const found = await asked({})
  createRoot(document.getElementById("root")!).render(
    <LinkScreen {...found} answer={(given) => asked({ method: "POST", body: JSON.stringify(given) })} />,
  )
}

// If loading fails, the house's text and its two buttons stay.
void begin().catch(() => undefined)
