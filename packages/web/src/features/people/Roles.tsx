/** A principal's roles, which can be changed here unless the configuration file owns it. */
import { agentRoles, personRoles, type Role } from "@stoa/contract"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { cache, keys } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import type { Principal } from "../../feed/types.ts"
import { FaultPane } from "../../parts/panes/Pane.tsx"
import { isWaiting } from "./RevocableList.tsx"
import { words } from "./words/en.ts"

export const Roles = ({ who }: { readonly who: Principal }) => {
  const [chosen, choose] = useState<ReadonlyArray<Role>>(who.roles)
  const saved = useMutation({
    mutationFn: () => house.principals.change(who.id, { roles: chosen }),
    onSuccess: () => cache.invalidateQueries({ queryKey: keys.people }),
  })
  if (who.source === "file") return <p className="faint small">{words.fromFile}</p>
  const all: ReadonlyArray<Role> = who.kind === "agent" ? agentRoles : personRoles
  const same = chosen.length === who.roles.length && chosen.every((one) => who.roles.includes(one))
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault()
        saved.mutate()
      }}
    >
      <header>
        <h3 id="people-roles">{words.roles}</h3>
      </header>
      <div className="in stack">
        <fieldset className="field" aria-labelledby="people-roles">
          <span className="line wrap people-roles">
            {[...all, ...who.roles.filter((one) => !all.includes(one))].map((one) => (
              <label key={one} className="line">
                <input
                  type="checkbox"
                  checked={chosen.includes(one)}
                  onChange={({ target }) =>
                    choose(target.checked ? [...chosen, one] : chosen.filter((other) => other !== one))
                  }
                />
                {one}
              </label>
            ))}
          </span>
        </fieldset>
        {same ? null : (
          <p>
            <button type="submit" className="button main-act tiny" disabled={saved.isPending || chosen.length === 0}>
              {words.saveRoles}
            </button>
          </p>
        )}
        {saved.error === null ? null : <FaultPane error={saved.error} />}
        {isWaiting(saved.data) ? <p role="status">{words.second}</p> : null}
      </div>
    </form>
  )
}
