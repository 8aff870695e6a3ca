/** One principal: its roles, its tokens, its grants, and its delegations in both directions. */
import { Link } from "@tanstack/react-router"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Principal } from "../../feed/types.ts"
import { ConfirmButton } from "../../parts/panes/ConfirmButton.tsx"
import { Avatar } from "../../parts/icons/Avatar.tsx"
import { Delegations, Grants } from "./rights.tsx"
import { Roles } from "./Roles.tsx"
import { Tokens } from "./Tokens.tsx"
import { words } from "./words/en.ts"

const retire = async (who: Principal) => {
  await house.principals.retire(who.id)
  await cache.invalidateQueries({ queryKey: keys.people })
}

export interface PrincipalDetailProps {
  readonly who: Principal
  readonly admin: boolean
  readonly onGone: () => void
}

export const PrincipalDetail = ({ admin, onGone, who }: PrincipalDetailProps) => (
  <div className="page narrow stack people-one">
    <div className="line">
      <Avatar name={who.name} kind={who.kind} size="l" />
      <div className="stack tight">
        <h2 className="lead">{who.name}</h2>
        <p className="small faint">
          {words.kinds[who.kind]} · {who.roles.join(", ")} · {words.toolsets} {who.toolsets.join(", ")}
        </p>
      </div>
      {admin ? (
        <Link
          className="button push"
          to="/why"
          search={{ principal: who.name, action: "execute", resource: "tools/*" }}
        >
          {words.why}
        </Link>
      ) : null}
    </div>
    {admin ? (
      <>
        <Roles key={who.roles.join(" ")} who={who} />
        <Tokens who={who} />
        <Grants who={who} />
      </>
    ) : null}
    <Delegations who={who} />
    {admin ? (
      <ConfirmButton
        act={words.retire}
        question={words.retireAsk(who.name)}
        yes={words.yes}
        no={words.no}
        onYes={() => retire(who).then(onGone)}
      />
    ) : null}
  </div>
)
