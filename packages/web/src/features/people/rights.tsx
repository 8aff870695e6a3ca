/** A principal's grants, and its delegations in both directions. */
import { useQuery } from "@tanstack/react-query"
import { cache } from "../../feed/cache.ts"
import { house } from "../../feed/house.ts"
import { useNames, useStart } from "../../feed/start.ts"
import type { Principal } from "../../feed/types.ts"
import { AgoTime, SoonTime } from "../../parts/figures/Time.tsx"
import { RevocableList } from "./RevocableList.tsx"
import { type RuleDraft, RuleForm } from "./RuleForm.tsx"
import { words } from "./words/en.ts"

const changed = () => cache.invalidateQueries({ queryKey: ["grants"] })

export const Grants = ({ who }: { readonly who: Principal }) => {
  const found = useQuery({
    queryKey: ["grants", "of", who.id],
    queryFn: async () => (await house.grants.list({ principal: who.id, limit: 100 })).items,
  })
  const add = async ({ reason: _none, ...rule }: RuleDraft) => {
    const made = await house.grants.add({ principal: who.id, ...rule })
    await changed()
    return made
  }
  return (
    <RevocableList
      title={words.grants}
      none={words.noGrants}
      found={found}
      revoke={(id) => house.grants.revoke(id).then((it) => changed().then(() => it))}
      items={found.data?.map(({ actions, effect, expiresAt, id, resource, source }) => ({
        id,
        name: resource,
        fixed: source === "file" ? words.fileOwned : undefined,
        line: (
          <span>
            {words.effects[effect]}: {actions.join(", ")} <code>{resource}</code>
            {expiresAt === null ? null : (
              <span className="faint small">
                {" "}
                {words.ends} <SoonTime at={expiresAt} />
              </span>
            )}
          </span>
        ),
      }))}
    >
      <RuleForm act={words.addGrant} lends={false} send={add} />
    </RevocableList>
  )
}

export const Delegations = ({ who }: { readonly who: Principal }) => {
  const { me } = useStart()
  const nameOf = useNames()
  const found = useQuery({
    queryKey: ["grants", "lent"],
    queryFn: async () => (await house.delegations.list({ limit: 100 })).items,
    select: (items) =>
      items.filter(({ from, revokedAt, to }) => revokedAt === null && (from === who.id || to === who.id)),
  })
  const lend = async ({ actions, expiresAt, reason, resource }: RuleDraft) => {
    await house.delegations.add({
      to: who.id,
      actions,
      resource,
      reason,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    await changed()
  }
  return (
    <RevocableList
      title={words.delegations}
      none={words.nothingLent}
      found={found}
      revoke={(id) => house.delegations.revoke(id).then(changed)}
      items={found.data?.map(({ actions, createdAt, expiresAt, from, id, reason, resource, to }) => ({
        id,
        name: resource,
        line: (
          <span>
            {from === who.id ? words.lentTo(nameOf(to)) : words.lentBy(nameOf(from))} {actions.join(", ")}{" "}
            <code>{resource}</code>{" "}
            <span className="faint small">
              {reason}, <AgoTime at={createdAt} />, {words.ends} <SoonTime at={expiresAt} />
            </span>
          </span>
        ),
      }))}
    >
      {who.id === me.id ? null : <RuleForm act={words.lend(who.name)} lends send={lend} />}
    </RevocableList>
  )
}
