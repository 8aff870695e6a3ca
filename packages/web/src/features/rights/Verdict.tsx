/** What a rule says, as an icon and a word. */
import { Icon } from "../../parts/icons/Icon.tsx"
import { words } from "./words/en.ts"

const looks = {
  allow: ["good", "check"],
  ask: ["warn", "circle-help"],
  deny: ["bad", "octagon-x"],
} as const

export const Verdict = ({ verdict }: { readonly verdict: keyof typeof looks }) => {
  const [tone, icon] = looks[verdict]
  return (
    <span className="pill" data-tone={tone}>
      <Icon name={icon} />
      {words.effect[verdict]}
    </span>
  )
}
